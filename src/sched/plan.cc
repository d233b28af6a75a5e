#include "sched/plan.h"

#include <algorithm>
#include <bit>
#include <compare>
#include <map>
#include <optional>
#include <tuple>

#include "sched/fit.h"
#include "sched/timeline.h"

namespace artel::sched {
namespace {

// Jobs of one shape that names no nodes meet the same answer while nothing but starts happens in a
// pass.
using Shape = std::tuple<std::uint32_t, std::uint32_t, bool, std::uint64_t, std::string,
                         std::uint32_t, std::uint64_t>;

Shape shape_of(const PendingView& job) {
  const NodeRequest& r = job.per_node;
  return {job.nodes, job.ranks_per_node, r.whole_node, r.gpus.value, r.gpu_type,
          r.cpus,    r.memory.value};
}

bool goes_before(const PendingView* a, const PendingView* b) {
  return std::tuple(-std::int64_t{a->priority}, a->order, a->id) <
         std::tuple(-std::int64_t{b->priority}, b->order, b->id);
}

class Pass {
 public:
  explicit Pass(const ClusterView& view)
      : view_(view), nodes_(view.nodes), running_(view.running) {}

  Plan run() {
    std::vector<const PendingView*> line;
    line.reserve(view_.pending.size());
    for (const PendingView& job : view_.pending) line.push_back(&job);
    std::ranges::sort(line, goes_before);
    for (const PendingView* job : line) treat(*job);
    return std::move(plan_);
  }

 private:
  void treat(const PendingView& job) {
    const bool named = job.only || !job.avoid.empty();
    if (!named) {
      const auto it = lacking_.find(shape_of(job));
      if (it != lacking_.end()) return wait(job, it->second);
    }
    const std::vector<NodeId> free = candidates(job);
    if (free.size() >= job.nodes) {
      if (const auto chosen = choose(job, free); !chosen.empty()) return start(job, chosen);
      return wait(job, {.code = WaitCode::kBackfill,
                        .nodes_wanted = job.nodes,
                        .nodes_free = count(free),
                        .behind = head_->job});
    }
    WaitReason reason{.code = enough_usable(job) ? WaitCode::kResources : WaitCode::kNodesDown,
                      .nodes_wanted = job.nodes,
                      .nodes_free = count(free)};
    if (!head_ && reason.code == WaitCode::kResources) {
      head_ = earliest_start(view_.now, nodes_, running_, job);
      if (head_) {
        reason.planned_start = head_->at;
        return wait(job, reason);
      }
    }
    if (!named) lacking_.emplace(shape_of(job), reason);
    wait(job, reason);
  }

  // Nodes on which the job fits now, those with the fewest free GPUs first.
  std::vector<NodeId> candidates(const PendingView& job) const {
    std::vector<NodeId> out;
    for (const NodeView& node : nodes_) {
      if (node.usable && may_use(job, node.id) &&
          fits_now(node, job.per_node, job.ranks_per_node)) {
        out.push_back(node.id);
      }
    }
    std::ranges::stable_sort(out, {}, [&](NodeId id) {
      const NodeView& node = nodes_[id.value];
      return std::tuple(std::popcount(node.free_gpus), node.free_cpus);
    });
    return out;
  }

  // The job's nodes, or none where only nodes are left that the planned start needs.
  std::vector<NodeId> choose(const PendingView& job, const std::vector<NodeId>& free) const {
    const bool ends_in_time = !head_ || (job.limit && view_.now + *job.limit <= head_->at);
    std::vector<NodeId> chosen;
    for (const bool planned : {false, true}) {
      if (planned && !ends_in_time) break;
      for (const NodeId id : free) {
        if (chosen.size() == job.nodes) break;
        if ((head_ && std::ranges::binary_search(head_->nodes, id)) == planned)
          chosen.push_back(id);
      }
    }
    if (chosen.size() < job.nodes) return {};
    std::ranges::sort(chosen);
    return chosen;
  }

  void start(const PendingView& job, const std::vector<NodeId>& chosen) {
    Start start{.job = job.id, .shares = {}};
    for (const NodeId id : chosen) {
      start.shares.push_back(take(nodes_[id.value], job.per_node, job.ranks_per_node));
    }
    std::optional<Time> limit_end;
    if (job.limit) limit_end = view_.now + *job.limit;
    running_.push_back({.id = job.id, .limit_end = limit_end, .shares = start.shares});
    plan_.starts.push_back(std::move(start));
  }

  bool enough_usable(const PendingView& job) const {
    const auto able = std::ranges::count_if(nodes_, [&](const NodeView& node) {
      return node.usable && may_use(job, node.id) &&
             demand_on(node.total, job.per_node, job.ranks_per_node).has_value();
    });
    return static_cast<std::size_t>(able) >= job.nodes;
  }

  void wait(const PendingView& job, WaitReason reason) {
    plan_.waiting.push_back({job.id, std::move(reason)});
  }

  static std::uint32_t count(const std::vector<NodeId>& nodes) {
    return static_cast<std::uint32_t>(nodes.size());
  }

  const ClusterView& view_;
  std::vector<NodeView> nodes_;
  std::vector<RunningView> running_;
  std::optional<PlannedStart> head_;
  std::map<Shape, WaitReason> lacking_;
  Plan plan_;
};

}  // namespace

Plan make_plan(const ClusterView& view) { return Pass(view).run(); }

}  // namespace artel::sched
