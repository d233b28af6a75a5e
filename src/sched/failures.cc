// What follows where nodes fail or change: marks (N4), swaps (H2, H4), features (N1).
#include <algorithm>
#include <map>
#include <tuple>

#include "sched/books.h"
#include "sched/candidates.h"
#include "sched/scheduler.h"
#include "sched/shares.h"
#include "sched/spares.h"
#include "sched/state.h"

namespace artel::sched {

void Scheduler::set_features(Time now, NodeId id, const std::vector<std::string>& features) {
  go_to(now);
  Node& node = state_->nodes.at(id.value);
  if (node.features == features) return;
  node.features = features;
  relist_nodes(*state_);
}

std::vector<JobId> Scheduler::jobs_on(NodeId id) const {
  std::map<QuotaId, Covered> covers;
  const auto is_covered = [&](const Job& job) {
    const auto& path = state_->path(job.queue);
    const auto top = std::find_if(path.rbegin(), path.rend(),
                                  [&](QuotaId quota) { return state_->at(quota).states; });
    if (top == path.rend()) return false;
    const auto [known, is_new] = covers.try_emplace(*top);
    if (is_new) known->second = cover(*state_, *top);
    return known->second.contains(job.id.value);
  };
  std::vector<const Job*> jobs;
  for (const Holder& holder : state_->nodes.at(id.value).holders) {
    if (holder.job->stage == Stage::kRunning) jobs.push_back(holder.job);
  }
  std::ranges::sort(jobs, {}, [&](const Job* job) {  // C2
    return std::tuple(!is_covered(*job), job->preemptible, -std::int64_t{job->priority}, job->start,
                      job->ready, job->id);
  });
  std::vector<JobId> ids;
  ids.reserve(jobs.size());
  for (const Job* job : jobs) ids.push_back(job->id);
  return ids;
}

std::optional<std::vector<Share>> Scheduler::swap(Time now, JobId id,
                                                  const std::vector<NodeId>& lost) {
  go_to(now);
  Job& job = state_->jobs.at(id);
  std::vector<NodeIndex> nodes;
  nodes.reserve(lost.size());
  for (const NodeId node : lost) nodes.push_back(node.value);
  std::ranges::sort(nodes, {}, [&](NodeIndex node) { return state_->nodes[node].rank; });
  for (const NodeIndex node : nodes) mark_node(*state_, job, node);
  if (job.stage != Stage::kRunning) return std::nullopt;
  auto shares = take_spares(*state_, job, nodes);
  if (shares) exchange(*state_, job, *shares);
  return shares;
}

void Scheduler::mark(Time now, JobId job, NodeId node) {
  go_to(now);
  mark_node(*state_, state_->jobs.at(job), node.value);
}

}  // namespace artel::sched
