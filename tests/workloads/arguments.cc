// Command line splitting; see arguments.h.

#include "arguments.h"

#include <charconv>
#include <cstdio>
#include <cstdlib>

namespace artel::workload {

Result<std::vector<Argument>> split_arguments(std::span<char* const> words) {
  std::vector<Argument> arguments;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string word = words[i];
    if (word == "--help" || word == "-h") {
      arguments.push_back({"--help", ""});
      continue;
    }
    if (!word.starts_with("--")) return Failure("unexpected argument '" + word + "'");
    if (const auto equals = word.find('='); equals != std::string::npos) {
      arguments.push_back({word.substr(0, equals), word.substr(equals + 1)});
    } else if (i + 1 < words.size()) {
      arguments.push_back({word, words[++i]});
    } else {
      return Failure("option '" + word + "' is unknown or lacks its value");
    }
  }
  return arguments;
}

Result<std::uint64_t> whole_number(std::string_view option, std::string_view text,
                                   std::uint64_t low, std::uint64_t high) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_number = error == std::errc{} && end == text.data() + text.size();
  if (is_number && low <= number && number <= high) return number;
  return Failure(std::string(option) + ": '" + std::string(text) + "' is not a whole number from " +
                 std::to_string(low) + " to " + std::to_string(high));
}

Result<std::vector<std::string>> colon_parts(std::string_view option, std::string_view text,
                                             std::size_t count) {
  std::vector<std::string> parts;
  std::string_view rest = text;
  while (parts.size() + 1 < count) {
    const auto colon = rest.find(':');
    if (colon == std::string_view::npos) break;
    parts.emplace_back(rest.substr(0, colon));
    rest.remove_prefix(colon + 1);
  }
  parts.emplace_back(rest);
  if (parts.size() == count) return parts;
  return Failure(std::string(option) + ": '" + std::string(text) + "' needs " +
                 std::to_string(count) + " parts separated by colons");
}

int refuse_usage(std::string_view program, std::string_view message) {
  const char* rank = std::getenv("PMIX_RANK");
  if (rank == nullptr || std::string_view(rank) == "0") {
    const std::string line = std::string(program) + ": " + std::string(message) + " (see --help)\n";
    std::fputs(line.c_str(), stderr);
  }
  return kUsage;
}

}  // namespace artel::workload
