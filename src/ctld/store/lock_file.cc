#include "ctld/store/lock_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

#include "base/text.h"

namespace artel::ctld {
namespace {

std::unexpected<Error> failed(const std::filesystem::path& path, std::string_view what) {
  const int error = errno;
  return fail(ErrorCode::kStorage, fmt::format("{} lock file {}: {}", what, path.string(),
                                               std::generic_category().message(error)));
}

/// " by process 123" as the holder wrote it, or nothing.
std::string holder(int descriptor) {
  std::array<char, 32> text{};
  const ssize_t size = pread(descriptor, text.data(), text.size(), 0);
  if (size <= 0) return {};
  const std::string_view pid = trim({text.data(), static_cast<std::size_t>(size)});
  if (pid.empty() || pid.find_first_not_of("0123456789") != std::string_view::npos) return {};
  return fmt::format(" by process {}", pid);
}

}  // namespace

Result<LockFile> LockFile::take(const std::filesystem::path& path) {
  constexpr mode_t kOwnerOnly = 0600;
  const int descriptor = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, kOwnerOnly);
  if (descriptor < 0) return failed(path, "cannot open");
  LockFile lock(descriptor);
  if (flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return failed(path, "cannot lock");
    return fail(ErrorCode::kStorage,
                fmt::format("the store is in use{} (lock file {}); stop that artel-ctld first",
                            holder(descriptor), path.string()));
  }
  const std::string pid = fmt::format("{}\n", getpid());
  if (ftruncate(descriptor, 0) != 0 ||
      pwrite(descriptor, pid.data(), pid.size(), 0) != static_cast<ssize_t>(pid.size()))
    return failed(path, "cannot write");
  return lock;
}

LockFile::LockFile(LockFile&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

LockFile::~LockFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

}  // namespace artel::ctld
