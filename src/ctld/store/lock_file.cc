#include "ctld/store/lock_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>

#include "base/text.h"
#include "base/units.h"

namespace artel::ctld {
namespace {

std::unexpected<Error> failed(const std::filesystem::path& path, std::string_view what) {
  const int error = errno;
  return fail(ErrorCode::kStorage, fmt::format("{} lock file {}: {}", what, path.string(),
                                               std::generic_category().message(error)));
}

constexpr std::size_t kMostText = 512;

std::string host_name() {
  utsname name{};
  return uname(&name) == 0 ? std::string(&name.nodename[0]) : std::string("?");
}

/// "123 ctl1 2026-11-30T12:00:00Z": process, host, since when.
std::string own_text() {
  const auto now = std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
  return fmt::format("{} {} {}\n", getpid(), host_name(), format_time(now));
}

/// " by process 123 on host ctl1 since 2026-11-30T12:00:00Z" as the holder wrote it, or nothing.
std::string holder(int descriptor) {
  std::array<char, kMostText> text{};
  const ssize_t size = pread(descriptor, text.data(), text.size(), 0);
  if (size <= 0) return {};
  std::istringstream in(std::string(text.data(), static_cast<std::size_t>(size)));
  std::string pid;
  std::string host;
  std::string since;
  in >> pid >> host >> since;
  if (pid.empty() || pid.find_first_not_of("0123456789") != std::string::npos) return {};
  std::string who = fmt::format(" by process {}", pid);
  if (!host.empty()) who += fmt::format(" on host {}", host);
  if (!since.empty()) who += fmt::format(" since {}", since);
  return who;
}

}  // namespace

Result<LockFile> LockFile::take(const std::filesystem::path& path) {
  constexpr mode_t kOwnerOnly = 0600;
  const int descriptor = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, kOwnerOnly);
  if (descriptor < 0) return failed(path, "cannot open");
  LockFile lock(descriptor);
  if (flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return failed(path, "cannot lock");
    return fail(
        ErrorCode::kStorage,
        fmt::format(
            "the store is in use{} (lock file {}); stop that artel-ctld first, or let it serve",
            holder(descriptor), path.string()));
  }
  const std::string text = own_text();
  if (ftruncate(descriptor, 0) != 0 ||
      pwrite(descriptor, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size()))
    return failed(path, "cannot write");
  return lock;
}

LockFile::LockFile(LockFile&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

LockFile::~LockFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

}  // namespace artel::ctld
