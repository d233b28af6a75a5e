// What the scheduling core sees: a compact picture of nodes, running and pending work at one
// instant.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/ids.h"
#include "base/units.h"
#include "model/resources.h"

namespace artel::sched {

/// Most GPUs a node may have: free devices are a bit mask.
inline constexpr std::uint32_t kMaxGpusPerNode = 64;

/// One node. `usable`: up, not drained. Free amounts are what no attempt holds.
struct NodeView {
  NodeId id;
  bool usable{};
  bool empty{};  // no attempt holds anything here
  NodeResources total;
  std::uint64_t free_gpus{};  // bit i: device i is free
  std::uint32_t free_cpus{};
  Bytes free_memory;
};

/// A job that waits. Pending jobs are looked at by higher priority, then lower `order`, then lower
/// id.
struct PendingView {
  JobId id;
  std::int32_t priority{};
  std::int64_t order{};  // submit time; kept over requeues
  std::uint32_t nodes = 1;
  std::uint32_t ranks_per_node = 1;
  NodeRequest per_node;
  std::optional<Duration> limit;  // run time limit with all that the job may spend before it
  std::optional<std::vector<NodeId>> only;  // ascending; nullopt: any node
  std::vector<NodeId> avoid;                // ascending
};

/// What an attempt holds and until when at the latest; nullopt: no end is known.
struct RunningView {
  JobId id;
  std::optional<Time> limit_end;
  std::vector<NodeShare> shares;
};

/// `nodes` is indexed by NodeId.
struct ClusterView {
  Time now;
  std::vector<NodeView> nodes;
  std::vector<PendingView> pending;
  std::vector<RunningView> running;
};

}  // namespace artel::sched
