// The one source of chance in a simulated world: the same seed gives the same world on every
// machine.
#pragma once

#include <cstdint>

#include "base/units.h"

namespace artel::sim {

/// splitmix64 (Steele, Lea, Flood 2014). Standard distributions differ between libraries, so none
/// are used.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111eb;
    return z ^ (z >> 31U);
  }
  /// In [low, high].
  std::uint64_t between(std::uint64_t low, std::uint64_t high) {
    return low + next() % (high - low + 1);
  }
  Duration delay(std::uint64_t low_ms, std::uint64_t high_ms) {
    return Duration{static_cast<std::int64_t>(between(low_ms, high_ms))};
  }
  bool chance(std::uint64_t per_mille) { return next() % 1000 < per_mille; }

 private:
  std::uint64_t state_;
};

}  // namespace artel::sim
