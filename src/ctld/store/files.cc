#include "ctld/store/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace artel::ctld {
namespace {

Result<> sync(const std::filesystem::path& path, int flags) {
  const int descriptor = open(path.c_str(), flags | O_CLOEXEC);
  if (descriptor < 0) return file_failed(path, "cannot open it to sync it");
  const int code = fsync(descriptor);
  close(descriptor);
  if (code != 0) return file_failed(path, "cannot sync it");
  return {};
}

}  // namespace

std::unexpected<Error> file_failed(const std::filesystem::path& path, std::string_view what) {
  const int error = errno;
  return fail(ErrorCode::kStorage, fmt::format("store {}: {}: {}", path.string(), what,
                                               std::generic_category().message(error)));
}

std::filesystem::path folder_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}

Result<> create_private_file(const std::filesystem::path& path) {
  constexpr mode_t kOwnerOnly = 0600;
  const int descriptor = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, kOwnerOnly);
  if (descriptor < 0) return file_failed(path, "cannot make the file");
  close(descriptor);
  return sync_folder(folder_of(path));
}

Result<> sync_file(const std::filesystem::path& path) { return sync(path, O_RDONLY); }

Result<> sync_folder(const std::filesystem::path& folder) {
  return sync(folder, O_RDONLY | O_DIRECTORY);
}

Result<> give_to_owner_of_folder(const std::filesystem::path& path) {
  if (geteuid() != 0) return {};
  struct stat folder{};
  if (stat(folder_of(path).c_str(), &folder) != 0) return file_failed(path, "no folder");
  if (lchown(path.c_str(), folder.st_uid, folder.st_gid) != 0)
    return file_failed(path, "cannot give it to the owner of its folder");
  return {};
}

Result<> move_into_place(const std::filesystem::path& from, const std::filesystem::path& to) {
  if (rename(from.c_str(), to.c_str()) != 0) return file_failed(to, "cannot put it in its place");
  return sync_folder(folder_of(to));
}

}  // namespace artel::ctld
