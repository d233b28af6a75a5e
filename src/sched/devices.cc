#include "sched/devices.h"

#include <algorithm>
#include <bit>

#include "base/assert.h"

namespace artel::sched {
namespace {

template <typename Visit>
void for_each_bit(std::uint64_t bits, Visit visit) {
  for (; bits != 0; bits &= bits - 1) visit(static_cast<std::size_t>(std::countr_zero(bits)));
}

std::int64_t on_each(const Share& share) {
  return is_share(share.gpus) ? share.gpus : kWholeDevice;
}

std::size_t count_of(std::int64_t gpus) {
  return std::min(static_cast<std::size_t>(gpus / kWholeDevice), kMostDevices);
}

}  // namespace

Devices::Devices(std::int64_t gpus) : count_(count_of(gpus)) {}

void Devices::take(const Share& share, Sharer sharer) {
  for_each_bit(share.devices, [&](std::size_t i) {
    Device& device = devices_[i];
    device.free -= on_each(share);
    device.is_mixed = device.is_mixed || (device.is_used && device.sharer != sharer);
    device.is_used = true;
    device.sharer = sharer;
  });
}

void Devices::narrow(const Devices& other) {
  for (std::size_t i = 0; i < count_; ++i) {
    Device& device = devices_[i];
    const Device& with = other.devices_[i];
    device.free = std::min(device.free, with.free);
    if (!with.is_used) continue;
    device.is_mixed =
        device.is_mixed || with.is_mixed || (device.is_used && device.sharer != with.sharer);
    device.is_used = true;
    device.sharer = with.sharer;
  }
}

std::int64_t Devices::untouched() const {
  std::int64_t gpus = 0;
  for (std::size_t i = 0; i < count_; ++i) {
    if (!devices_[i].is_used) gpus += kWholeDevice;
  }
  return gpus;
}

bool Devices::is_open_to(const Device& device, Sharer sharer) const {
  return !device.is_used || (!device.is_mixed && device.sharer == sharer);
}

std::int64_t Devices::largest_share(Sharer sharer) const {
  std::int64_t most = 0;
  for (std::size_t i = 0; i < count_; ++i) {
    if (is_open_to(devices_[i], sharer)) most = std::max(most, devices_[i].free);
  }
  return most;
}

std::uint64_t Devices::choose(std::int64_t gpus, Sharer sharer) const {
  std::uint64_t chosen = 0;
  if (!is_share(gpus)) {
    for (std::size_t i = 0; i < count_ && gpus > 0; ++i) {
      if (devices_[i].is_used) continue;
      chosen |= std::uint64_t{1} << i;
      gpus -= kWholeDevice;
    }
    ARTEL_ASSERT(gpus <= 0);
    return chosen;
  }
  std::int64_t least = 0;
  for (std::size_t i = 0; i < count_; ++i) {
    const Device& device = devices_[i];
    if (device.free < gpus || !is_open_to(device, sharer)) continue;
    if (chosen != 0 && device.free >= least) continue;
    chosen = std::uint64_t{1} << i;
    least = device.free;
  }
  ARTEL_ASSERT(chosen != 0);
  return chosen;
}

bool Devices::can_take(const Share& share, Sharer sharer) const {
  bool free = true;
  for_each_bit(share.devices, [&](std::size_t i) {
    free = free && devices_[i].free >= on_each(share) && is_open_to(devices_[i], sharer);
  });
  return free;
}

std::uint64_t all_devices(std::int64_t gpus) {
  const std::size_t count = count_of(gpus);
  return count == kMostDevices ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
}

}  // namespace artel::sched
