// How long and how often a call is tried again: growing pauses with jitter up to a limit of time.
//
// Jitter keeps hundreds of waiting commands from arriving together at a controller that has just
// come back. Thread: one owner.
#pragma once

#include <cstdint>
#include <optional>
#include <random>

#include "base/units.h"

namespace artel::rpc {

/// The pauses of one outage.
class Retry {
 public:
  static constexpr Duration kFirstPause{50};
  static constexpr Duration kLongestPause{2000};

  Retry(Duration limit, std::uint32_t seed) : limit_(limit), random_(seed) {}

  /// The pause before the next try when the outage has lasted for `elapsed`; nullopt: give up.
  /// Never reaches beyond the limit.
  std::optional<Duration> next_pause(Duration elapsed);

 private:
  Duration limit_;
  Duration step_ = kFirstPause;
  std::minstd_rand random_;
};

}  // namespace artel::rpc
