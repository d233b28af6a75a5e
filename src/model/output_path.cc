#include "model/output_path.h"

#include <algorithm>
#include <string_view>

namespace artel {
namespace {

constexpr std::string_view kLetters = "jAtaxu%";

// A job's name must not lead into another folder.
std::string as_file_name(std::string name) {
  std::ranges::replace(name, '/', '_');
  return name;
}

std::string value_of(char letter, const JobSpec& spec, const AttemptKey& key) {
  switch (letter) {
    case 'j':
      return std::to_string(key.job.value);
    case 'A':
      // A job that is no task is its own.
      return std::to_string(spec.array ? array_number(key.job, *spec.array, key.task).value
                                       : key.job.value);
    case 't':
      return std::to_string(key.task.value);
    case 'a':
      return std::to_string(key.attempt.value);
    case 'x':
      return as_file_name(spec.name);
    case 'u':
      return spec.owner.user;
    case '%':
      return "%";
    default:
      return std::string("%") + letter;
  }
}

}  // namespace

std::string expand_pattern(const std::string& pattern, const JobSpec& spec, const AttemptKey& key) {
  std::string out;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '%' && i + 1 < pattern.size()) {
      out += value_of(pattern[++i], spec, key);
    } else {
      out += pattern[i];
    }
  }
  if (out.starts_with('/')) return out;
  return spec.working_directory + (spec.working_directory.ends_with('/') ? "" : "/") + out;
}

bool tells_tasks_apart(const std::string& pattern) {
  if (pattern == "/dev/null") return true;
  for (std::size_t i = 0; i + 1 < pattern.size(); ++i) {
    if (pattern[i] != '%') continue;
    if (pattern[i + 1] == 'j' || pattern[i + 1] == 't') return true;
    ++i;
  }
  return false;
}

std::string unknown_placeholder(const std::string& pattern) {
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '%') continue;
    if (i + 1 == pattern.size()) return "%";
    if (!kLetters.contains(pattern[i + 1])) return pattern.substr(i, 2);
    ++i;
  }
  return "";
}

}  // namespace artel
