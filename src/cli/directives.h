// Batch scripts: what is accepted as one, and the #ARTEL lines in its head.
//
//   #!/bin/bash
//   #ARTEL -N 4 --time 1h
//   #ARTEL --name "first try"   # a comment
//
// Directives stand before the first command line. Words are split as a shell does, without any
// expansion: blanks, '..', "..", backslash, and # for a comment. A mistake is an error with file
// and line; nothing is skipped silently.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/job_options.h"

namespace artel::cli {

/// Longest script that is accepted; data belongs into files.
inline constexpr std::size_t kMaxScriptBytes = std::size_t{1} << 20U;

/// The text of a script file. Error: kInvalidArgument or kIo with the exact reason.
Result<std::string> read_script(const std::string& path);

/// Whether the text can run as a script at all: "#!" first, no NUL, no byte order mark, no carriage
/// returns.
Result<> check_script(const std::string& path, std::string_view text);

struct Directives {
  GivenOptions options;
  std::vector<std::string> warnings;  // "job.sh:12: ..."
};

/// The directives in the head of a script.
Result<Directives> read_directives(const std::string& path, std::string_view text);

/// One line split into words. Error: kInvalidArgument for an open quote or a lone backslash.
Result<std::vector<std::string>> split_words(std::string_view line);

}  // namespace artel::cli
