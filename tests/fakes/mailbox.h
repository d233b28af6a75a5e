// Values that arrive from other threads, in order.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <utility>
#include <vector>

namespace artel::fakes {

/// Far longer than anything takes; a test that waits so long has failed.
inline constexpr std::chrono::seconds kPatience{30};

template <typename T>
class Mailbox {
 public:
  void put(T value) {
    const std::lock_guard lock(mutex_);
    values_.push_back(std::move(value));
    news_.notify_all();
  }
  /// False where so many did not come in time.
  bool wait_for(std::size_t count) {
    std::unique_lock lock(mutex_);
    return news_.wait_for(lock, kPatience, [&] { return values_.size() >= count; });
  }
  std::vector<T> all() {
    const std::lock_guard lock(mutex_);
    return values_;
  }
  std::size_t size() {
    const std::lock_guard lock(mutex_);
    return values_.size();
  }

 private:
  std::mutex mutex_;
  std::condition_variable news_;
  std::vector<T> values_;
};

}  // namespace artel::fakes
