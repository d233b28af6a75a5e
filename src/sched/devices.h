// The devices of one node that is open for shares: U2 to U4.
//
// Private to src/sched.
#pragma once

#include <array>
#include <span>

#include "sched/need.h"

namespace artel::sched {

/// Most devices a node may have: which ones is a bit mask.
inline constexpr std::size_t kMostDevices = 64;

/// What is free on the devices of a node, at a time or all through an interval.
class Devices {
 public:
  /// All untouched. At most kMostDevices are looked at.
  explicit Devices(std::int64_t gpus);

  /// A share that is held there for the sharer.
  void take(const Share& share, Sharer sharer);
  /// Keeps what both offer; who is on a device in either is on it.
  void narrow(const Devices& other);

  /// Thousandths on untouched devices.
  [[nodiscard]] std::int64_t untouched() const;
  /// The largest share that the sharer may get on one device.
  [[nodiscard]] std::int64_t largest_share(Sharer sharer) const;
  /// U3: the device for a share, else untouched ones by index. They must be there.
  [[nodiscard]] std::uint64_t choose(std::int64_t gpus, Sharer sharer) const;
  /// Whether all the devices of a share that was chosen before are free for it, and nobody else's
  /// (U4).
  [[nodiscard]] bool can_take(const Share& share, Sharer sharer) const;

 private:
  struct Device {
    std::int64_t free = kWholeDevice;
    bool is_used = false;
    bool is_mixed = false;  // of several sharers, one after the other
    Sharer sharer{};
  };
  [[nodiscard]] bool is_open_to(const Device& device, Sharer sharer) const;

  std::size_t count_;
  std::array<Device, kMostDevices> devices_;
};

/// The bits of all devices of a node.
[[nodiscard]] std::uint64_t all_devices(std::int64_t gpus);

}  // namespace artel::sched
