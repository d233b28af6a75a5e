// The scheduling pass: a pure function from the view of the cluster to a plan.
//
// Policy: jobs in order of priority, then submission. A gang starts on all its nodes or holds
// nothing (G1). The first job that lacks only room gets a planned start, the earliest time at which
// it can be placed when running work ends at its limits (B1, B2); a job after it starts only where
// it does not delay that (B3). Nodes with the fewest free GPUs are filled first (P3).
#pragma once

#include <vector>

#include "base/ids.h"
#include "model/job.h"
#include "model/resources.h"
#include "sched/cluster_view.h"

namespace artel::sched {

/// Start this job now on these shares, in gang order (ascending node id).
struct Start {
  JobId job;
  std::vector<NodeShare> shares;
};

/// Why this job does not start now.
struct Waiting {
  JobId job;
  WaitReason reason;
};

struct Plan {
  std::vector<Start> starts;
  std::vector<Waiting> waiting;
};

/// Every pending job is in `starts` or in `waiting`, in the order of the pass. The same view gives
/// the same plan (S10), in whatever order the pending jobs are listed.
Plan make_plan(const ClusterView& view);

}  // namespace artel::sched
