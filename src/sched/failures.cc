// What follows where nodes fail or change: marks (N4), swaps (H2, H4), features (N1).
#include <algorithm>

#include "sched/candidates.h"
#include "sched/scheduler.h"
#include "sched/state.h"

namespace artel::sched {

void Scheduler::set_features(Time now, NodeId id, const std::vector<std::string>& features) {
  advance(*state_, now);
  Node& node = state_->nodes.at(id.value);
  if (node.features == features) return;
  node.features = features;
  relist_nodes(*state_);
}

void Scheduler::mark(Time now, JobId job, NodeId node) {
  advance(*state_, now);
  mark_node(*state_, state_->jobs.at(job), node.value);
}

}  // namespace artel::sched
