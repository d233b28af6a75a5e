#include "rpc/retry.h"

#include <algorithm>

namespace artel::rpc {

std::optional<Duration> Retry::next_pause(Duration elapsed) {
  if (elapsed >= limit_) return std::nullopt;
  std::uniform_int_distribution<Duration::rep> jitter(step_.count() / 2, step_.count());
  const Duration pause{jitter(random_)};
  step_ = std::min(step_ * 2, kLongestPause);
  return std::min(pause, limit_ - elapsed);
}

}  // namespace artel::rpc
