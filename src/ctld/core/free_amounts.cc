#include "ctld/core/free_amounts.h"

#include <algorithm>

#include "base/assert.h"

namespace artel::ctld {
namespace {

std::uint64_t devices(std::uint32_t count) {
  return count >= kMaxGpusPerNode ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
}

}  // namespace

FreeAmounts all_free(const NodeResources& total) {
  return {devices(total.gpus), total.cpus, total.memory};
}

NodeShare take(FreeAmounts& free, const NodeResources& total, const sched::Share& share,
               bool whole) {
  NodeShare taken{.node = share.node,
                  .gpus = {},
                  .cpus = whole ? total.cpus : static_cast<std::uint32_t>(share.cores),
                  .memory = whole ? total.memory : Bytes{static_cast<std::uint64_t>(share.memory)},
                  .whole_node = whole};
  const auto wanted =
      whole ? total.gpus : static_cast<std::uint32_t>(share.gpus / sched::kWholeDevice);
  for (std::uint16_t device = 0; taken.gpus.size() < wanted; ++device) {
    ARTEL_ASSERT(device < kMaxGpusPerNode);
    if ((free.gpus >> device & 1U) != 0) taken.gpus.push_back(device);
  }
  occupy(free, taken);
  return taken;
}

void occupy(FreeAmounts& free, const NodeShare& share) {
  if (share.whole_node) {
    free = {};
    return;
  }
  for (const std::uint16_t device : share.gpus) free.gpus &= ~(std::uint64_t{1} << device);
  // A node may have come back smaller than it was when the share was given.
  free.cpus -= std::min(free.cpus, share.cpus);
  free.memory -= std::min(free.memory, share.memory);
}

void release(FreeAmounts& free, const NodeResources& total, const NodeShare& share) {
  if (share.whole_node) {
    free = all_free(total);
    return;
  }
  for (const std::uint16_t device : share.gpus) {
    free.gpus |= std::uint64_t{1} << device & devices(total.gpus);
  }
  free.cpus = std::min(total.cpus, free.cpus + share.cpus);
  free.memory.value = std::min(total.memory.value, free.memory.value + share.memory.value);
}

}  // namespace artel::ctld
