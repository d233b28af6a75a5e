// Room on the disk of the store: what is free, when that is too little for anything new, and the
// file that keeps some of it for the ends of what runs.
//
// I1 The reserve is given up only when a write found no room, or a start less than it needs, and
// made again once there is more than `min_free` besides it. Thread: any.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <mutex>

#include "base/result.h"
#include "base/units.h"

namespace artel::ctld {

struct SpaceLimits {
  Bytes min_free;  // below it nothing new is taken
  Bytes reserve;   // size of the file
};

class DiskSpace {
 public:
  DiskSpace(std::filesystem::path folder, SpaceLimits limits)
      : folder_(std::move(folder)), limits_(limits) {}

  /// The first look. A start needs a little room: without it the reserve is given up.
  void begin();
  /// Looks at the disk; makes the reserve where there is room for it. False: it could not look, all
  /// is as it was.
  bool look();
  /// Whether there was too little at the latest look.
  [[nodiscard]] bool is_low() const { return is_low_.load(std::memory_order_relaxed); }
  /// Whether so much more leaves what new things need.
  [[nodiscard]] bool has_room(Bytes more) const {
    return free_.load(std::memory_order_relaxed) >= limits_.min_free.value + more.value;
  }
  /// Error: kTryAgain naming the folder, what is free and what is needed.
  [[nodiscard]] Result<> check() const;
  /// Makes room for a commit that found none. False: there was no reserve to give up.
  bool give_up_reserve();

  [[nodiscard]] std::filesystem::path reserve_file() const { return folder_ / "reserve"; }

 private:
  void make_reserve(std::uint64_t free);

  const std::filesystem::path folder_;
  const SpaceLimits limits_;
  std::atomic<bool> is_low_ = false;
  std::atomic<std::uint64_t> free_ = 0;
  std::mutex mutex_;  // of the file
};

}  // namespace artel::ctld
