// Units as types. No clock is read here: `Time` is a value that callers pass in.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>

namespace artel {

/// A length of time in milliseconds.
using Duration = std::chrono::milliseconds;
/// A point of time: milliseconds since the Unix epoch, UTC.
using Time = std::chrono::time_point<std::chrono::system_clock, Duration>;

/// An amount of memory or data.
struct Bytes {
  std::uint64_t value{};
  auto operator<=>(const Bytes&) const = default;
  Bytes& operator+=(Bytes other) {
    value += other.value;
    return *this;
  }
  Bytes& operator-=(Bytes other) {
    value -= other.value;
    return *this;
  }
};

/// GPUs in thousandths of a device, so that shares of a GPU stay integers.
struct GpuMilli {
  std::uint64_t value{};
  auto operator<=>(const GpuMilli&) const = default;
  static constexpr std::uint64_t kPerDevice = 1000;
  /// Whole devices, rounded down.
  [[nodiscard]] constexpr std::uint64_t devices() const { return value / kPerDevice; }
};

/// Milliseconds since the epoch, for stores and messages.
constexpr std::int64_t to_ms(Time time) { return time.time_since_epoch().count(); }
constexpr Time time_from_ms(std::int64_t ms) { return Time{Duration{ms}}; }

}  // namespace artel
