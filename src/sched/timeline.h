// The future as far as it is known: running work ends at its limits.
#pragma once

#include <optional>
#include <vector>

#include "base/ids.h"
#include "base/units.h"
#include "sched/cluster_view.h"

namespace artel::sched {

/// When and where a job that does not fit now could start at the latest.
struct PlannedStart {
  JobId job;
  Time at;
  std::vector<NodeId> nodes;  // ascending
};

/// The earliest limit end at which `job` fits on enough usable nodes; nullopt if it waits for work
/// without an end. Cost: O(running shares + ends x nodes).
std::optional<PlannedStart> earliest_start(Time now, std::vector<NodeView> nodes,
                                           const std::vector<RunningView>& running,
                                           const PendingView& job);

/// Whether the job accepts this node at all.
bool may_use(const PendingView& job, NodeId node);

}  // namespace artel::sched
