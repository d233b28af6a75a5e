// The entry: finds the command, parses its words, runs it.
#pragma once

#include <string>
#include <vector>

namespace artel::cli {

/// `words` without the program's own name. Gives the exit code. Nothing is read or connected before
/// the words are understood.
int run_cli(std::vector<std::string> words);

}  // namespace artel::cli
