#include "noded/step/program.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/text.h"

namespace artel::step {
namespace {

std::unexpected<Error> refused(std::string text) {
  return fail(ErrorCode::kLaunch, std::move(text));
}

/// 0, or the errno of trying to execute `path`.
int executable_error(const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) return errno;
  if (S_ISDIR(status.st_mode)) return EISDIR;
  return ::access(path.c_str(), X_OK) == 0 ? 0 : errno;
}

}  // namespace

std::string search_path(const Environment& environment) {
  std::string path(kDefaultPath);
  for (const auto& [name, value] : environment) {
    if (name == "PATH" && !value.empty()) path = value;
  }
  return path;
}

std::vector<std::string> program_candidates(const std::string& name, std::string_view path) {
  if (name.find('/') != std::string::npos) return {name};
  std::vector<std::string> out;
  std::size_t begin = 0;
  while (begin <= path.size()) {
    const std::size_t end = std::min(path.find(':', begin), path.size());
    const std::string_view folder = path.substr(begin, end - begin);
    out.push_back(folder.empty() ? "./" + name : fmt::format("{}/{}", folder, name));
    begin = end + 1;
  }
  return out;
}

Result<> check_program(const std::string& name, std::string_view path, const std::string& node) {
  if (name.empty()) return refused("the name of the program is empty");
  const bool searched = name.find('/') == std::string::npos;
  int error = ENOENT;
  for (const std::string& candidate : program_candidates(name, path)) {
    const int tried = executable_error(candidate);
    if (tried == 0) return {};
    if (tried != ENOENT && tried != ENOTDIR && error == ENOENT) error = tried;
    if (!searched) error = tried;
  }
  if (searched && error == ENOENT) {
    return refused(fmt::format("program '{}' was not found on {} in PATH ({})", name, node, path));
  }
  if (error == EISDIR)
    return refused(fmt::format("'{}' on {} is a folder, not a program", name, node));
  return refused(
      fmt::format("program '{}' cannot be executed on {}: {}", name, node, std::strerror(error)));
}

Result<> check_script(std::string_view script, const std::string& node) {
  if (script.starts_with("\xef\xbb\xbf")) {
    return refused("the script starts with a byte order mark; save it as plain UTF-8 without one");
  }
  if (!script.starts_with("#!")) {
    return refused(
        "the script has no '#!' in its first line; start it with, for example, #!/bin/bash");
  }
  std::string_view line = script.substr(2, script.find('\n') - 2);
  if (line.ends_with('\r')) {
    return refused(
        "the script has Windows line ends (CR LF); convert it, for example with dos2unix");
  }
  line = trim(line);
  const std::string interpreter(line.substr(0, line.find_first_of(" \t")));
  if (interpreter.empty()) return refused("the script names no interpreter after '#!'");
  if (const int error = executable_error(interpreter); error != 0) {
    return refused(fmt::format("the script's interpreter '{}' cannot be executed on {}: {}",
                               interpreter, node, std::strerror(error)));
  }
  return {};
}

}  // namespace artel::step
