#include "ctld/store/disk_space.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/text.h"

namespace artel::ctld {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20U;

/// How long a client waits before it asks again: about what it takes to make room by hand.
constexpr int kAgainSeconds = 30;

}  // namespace

void DiskSpace::begin() {
  constexpr std::uint64_t kForStart = kMiB;
  if (look() && free_.load(std::memory_order_relaxed) < kForStart) give_up_reserve();
}

bool DiskSpace::look() {
  struct statvfs status{};
  // A disk that cannot be asked is not known to be full; commits will tell.
  if (statvfs(folder_.c_str(), &status) != 0) return false;
  const std::uint64_t free = std::uint64_t{status.f_bavail} * status.f_frsize;
  make_reserve(free);
  free_.store(free, std::memory_order_relaxed);
  is_low_.store(free < limits_.min_free.value, std::memory_order_relaxed);
  return true;
}

Result<> DiskSpace::check() const {
  if (!is_low()) return {};
  return fail(ErrorCode::kTryAgain,
              fmt::format("the controller cannot store anything new: {} has {} MiB free, at least "
                          "{} are needed (ctld.min_free); jobs that run go on; free space there, "
                          "and try again in {} s",
                          folder_.string(), free_.load(std::memory_order_relaxed) / kMiB,
                          limits_.min_free.value / kMiB, kAgainSeconds));
}

void DiskSpace::make_reserve(std::uint64_t free) {
  const std::lock_guard lock(mutex_);
  const std::uint64_t size = limits_.reserve.value;
  struct stat status{};
  const bool is_there = stat(reserve_file().c_str(), &status) == 0;
  if (size == 0 || (is_there && static_cast<std::uint64_t>(status.st_size) == size)) return;
  if (is_there) unlink(reserve_file().c_str());
  if (free < limits_.min_free.value + size) return;
  constexpr mode_t kOwnerOnly = 0600;
  const int file =
      open(reserve_file().c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kOwnerOnly);
  if (file < 0) return;
  // Blocks, not a hole.
  const bool is_made = posix_fallocate(file, 0, static_cast<off_t>(size)) == 0;
  close(file);
  if (!is_made) unlink(reserve_file().c_str());
}

bool DiskSpace::give_up_reserve() {
  const std::lock_guard lock(mutex_);
  is_low_.store(true, std::memory_order_relaxed);
  return unlink(reserve_file().c_str()) == 0;
}

}  // namespace artel::ctld
