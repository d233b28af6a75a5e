// What no attempt holds on a node, device by device. The scheduling core counts amounts; which
// devices a job gets is given out here.
#pragma once

#include <cstdint>

#include "model/resources.h"
#include "sched/scheduler.h"

namespace artel::ctld {

/// Most GPUs a node may have: free devices are a bit mask.
inline constexpr std::uint32_t kMaxGpusPerNode = 64;

struct FreeAmounts {
  std::uint64_t gpus{};  // bit i: device i is free
  std::uint32_t cpus{};
  Bytes memory;
};

FreeAmounts all_free(const NodeResources& total);
/// Takes what the core has given. `whole`: all that the node has. Requires that it is free.
NodeShare take(FreeAmounts& free, const NodeResources& total, const sched::Share& share,
               bool whole);
/// Takes exactly this share, as an attempt already holds it.
void occupy(FreeAmounts& free, const NodeShare& share);
/// Gives the share back.
void release(FreeAmounts& free, const NodeResources& total, const NodeShare& share);

}  // namespace artel::ctld
