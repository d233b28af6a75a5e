// Splits a command line into options and reads numbers, for both workload programs.
//
// getopt_long accepts abbreviations and prints once per rank; a test wants each unknown word
// refused, once. Nothing here needs MPI, so a wrong command line ends at once and without a
// launcher too.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "result.h"

namespace artel::workload {

struct Argument {
  std::string name;  ///< with its dashes: "--epochs"
  std::string value;
};

/// Reads `--name value` and `--name=value`. `--help` and `-h` stand alone and come back as
/// "--help".
Result<std::vector<Argument>> split_arguments(std::span<char* const> words);

/// A whole number in [low, high]; anything else is refused with the option's name and the range.
Result<std::uint64_t> whole_number(std::string_view option, std::string_view text,
                                   std::uint64_t low, std::uint64_t high);

/// Splits "a:b:c" into exactly `count` parts, the last one keeping further colons.
Result<std::vector<std::string>> colon_parts(std::string_view option, std::string_view text,
                                             std::size_t count);

/// Says on stderr what is wrong, once per launch (not on ranks other than 0 by $PMIX_RANK), and
/// returns kUsage.
int refuse_usage(std::string_view program, std::string_view message);

}  // namespace artel::workload
