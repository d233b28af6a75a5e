#include "cli/program.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>

namespace artel::cli {
namespace {

bool is_executable_file(const std::string& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
         ::access(path.c_str(), X_OK) == 0;
}

std::string join(const std::string& directory, const std::string& name) {
  return directory + (directory.ends_with('/') ? "" : "/") + name;
}

Result<std::string> check_path(const std::string& name, const std::string& directory) {
  const std::string path = name.starts_with('/') ? name : join(directory, name);
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) {
    const ErrorCode code = errno == ENOENT ? ErrorCode::kNotFound : ErrorCode::kInvalidArgument;
    return fail(code, fmt::format("program '{}': {}", name, std::strerror(errno)));
  }
  if (S_ISDIR(status.st_mode)) {
    return fail(ErrorCode::kInvalidArgument, fmt::format("program '{}' is a directory", name));
  }
  if (!is_executable_file(path)) {
    return fail(
        ErrorCode::kInvalidArgument,
        fmt::format("program '{}' is not executable; if it should be: chmod +x '{}'", name, name));
  }
  return path;
}

}  // namespace

Result<std::string> present_directory() {
  std::error_code error;
  const std::filesystem::path path = std::filesystem::current_path(error);
  if (error) return fail(ErrorCode::kIo, "cannot tell the present directory: " + error.message());
  return path.string();
}

Result<std::string> find_program(const std::string& name, const std::string& directory,
                                 const std::string& search_path) {
  if (name.empty()) return fail(ErrorCode::kInvalidArgument, "the program's name is empty");
  if (name.find('/') != std::string::npos) return check_path(name, directory);
  std::string_view rest = search_path;
  while (!search_path.empty()) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    // An empty part means the present directory.
    const std::string part = end == 0 ? directory : std::string(rest.substr(0, end));
    const std::string folder = part.starts_with('/') ? part : join(directory, part);
    if (std::string path = join(folder, name); is_executable_file(path)) return path;
    if (end == rest.size()) break;
    rest.remove_prefix(end + 1);
  }
  const bool is_here = is_executable_file(join(directory, name));
  return fail(
      ErrorCode::kNotFound,
      fmt::format("program '{}' is not in PATH{}", name,
                  is_here ? fmt::format("; to run the one in this directory write ./{}", name)
                          : std::string{}));
}

std::string base_name(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == std::string::npos || slash + 1 == path.size() ? path : path.substr(slash + 1);
}

}  // namespace artel::cli
