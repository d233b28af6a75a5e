#include "sched/timeline.h"

#include <algorithm>
#include <tuple>

#include "sched/fit.h"

namespace artel::sched {

bool may_use(const PendingView& job, NodeId node) {
  if (job.only && !std::ranges::binary_search(*job.only, node)) return false;
  return !std::ranges::binary_search(job.avoid, node);
}

std::optional<PlannedStart> earliest_start(Time now, std::vector<NodeView> nodes,
                                           const std::vector<RunningView>& running,
                                           const PendingView& job) {
  std::vector<const RunningView*> ends;
  for (const RunningView& run : running) {
    if (run.limit_end) ends.push_back(&run);
  }
  std::ranges::sort(ends, {},
                    [](const RunningView* run) { return std::tuple(*run->limit_end, run->id); });
  for (std::size_t i = 0; i < ends.size();) {
    // Work over its limit is being ended: it leaves soon, not in the past.
    const Time at = std::max(*ends[i]->limit_end, now);
    for (; i < ends.size() && std::max(*ends[i]->limit_end, now) == at; ++i) {
      for (const NodeShare& share : ends[i]->shares) release(nodes[share.node.value], share);
    }
    PlannedStart planned{.job = job.id, .at = at, .nodes = {}};
    for (const NodeView& node : nodes) {
      if (planned.nodes.size() == job.nodes) break;
      if (node.usable && may_use(job, node.id) &&
          fits_now(node, job.per_node, job.ranks_per_node)) {
        planned.nodes.push_back(node.id);
      }
    }
    if (planned.nodes.size() == job.nodes) return planned;
  }
  return std::nullopt;
}

}  // namespace artel::sched
