// Virtual time: actions happen in order of time, then in the order in which they were planned.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <utility>

#include "base/units.h"

namespace artel::sim {

class Events {
 public:
  [[nodiscard]] Time now() const { return now_; }
  void after(Duration delay, std::function<void()> action) {
    queue_.emplace(std::pair(now_ + delay, next_++), std::move(action));
  }
  /// Runs the next action; false: there is none before `end`.
  bool step(Time end) {
    if (queue_.empty() || queue_.begin()->first.first > end) return false;
    auto action = std::move(queue_.begin()->second);
    now_ = queue_.begin()->first.first;
    queue_.erase(queue_.begin());
    action();
    return true;
  }

 private:
  Time now_{std::chrono::hours{
      24 * 365 * 50}};  // some day in 2019; not the epoch, which means "never" in places
  std::uint64_t next_ = 0;
  std::map<std::pair<Time, std::uint64_t>, std::function<void()>> queue_;
};

}  // namespace artel::sim
