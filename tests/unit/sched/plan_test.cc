#include "sched/plan.h"

#include <catch2/catch.hpp>

#include "sched/fit.h"

using namespace artel;
using namespace artel::sched;
using std::chrono::hours;
using std::chrono::minutes;

namespace {

constexpr Time kNow{hours{1'000'000}};

NodeView node(std::uint32_t id) {
  return NodeView{
      .id = NodeId{id},
      .usable = true,
      .empty = true,
      .total = {.cpus = 64, .memory = Bytes{1ULL << 40U}, .gpu_type = "h100", .gpus = 8},
      .free_gpus = 0xff,
      .free_cpus = 64,
      .free_memory = Bytes{1ULL << 40U}};
}

PendingView whole(std::uint64_t id, std::uint32_t nodes, std::int32_t priority = 0) {
  return PendingView{.id = JobId{id},
                     .priority = priority,
                     .order = static_cast<std::int64_t>(id),
                     .nodes = nodes};
}

PendingView gpus(std::uint64_t id, std::uint64_t count) {
  PendingView job = whole(id, 1);
  job.per_node = {.whole_node = false, .gpus = GpuMilli{count * 1000}};
  return job;
}

ClusterView cluster(std::uint32_t nodes, std::vector<PendingView> pending) {
  ClusterView view{.now = kNow, .pending = std::move(pending)};
  for (std::uint32_t i = 0; i < nodes; ++i) view.nodes.push_back(node(i));
  return view;
}

/// A job that runs on these whole nodes.
void run(ClusterView& view, std::uint64_t id, std::vector<std::uint32_t> nodes,
         std::optional<Duration> left) {
  RunningView running{.id = JobId{id}};
  if (left) running.limit_end = kNow + *left;
  for (const std::uint32_t index : nodes) {
    running.shares.push_back(take(view.nodes[index], NodeRequest{}, 1));
  }
  view.running.push_back(running);
}

const Waiting& waiting(const Plan& plan, std::uint64_t id) {
  for (const Waiting& w : plan.waiting) {
    if (w.job == JobId{id}) return w;
  }
  FAIL("job does not wait");
  throw 0;
}

bool starts(const Plan& plan, std::uint64_t id) {
  for (const Start& start : plan.starts) {
    if (start.job == JobId{id}) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("a gang starts on all its nodes or holds nothing") {
  const Plan plan = make_plan(cluster(3, {whole(1, 4), whole(2, 3)}));
  REQUIRE(plan.starts.size() == 1);
  CHECK(plan.starts[0].job == JobId{2});
  CHECK(plan.starts[0].shares.size() == 3);
  CHECK(waiting(plan, 1).reason.code == WaitCode::kNodesDown);
  CHECK(waiting(plan, 1).reason.nodes_free == 3);
}

TEST_CASE("two gangs of the whole cluster run one after the other") {
  const Plan plan = make_plan(cluster(4, {whole(2, 4), whole(1, 4)}));
  REQUIRE(plan.starts.size() == 1);
  CHECK(plan.starts[0].job == JobId{1});
  CHECK(waiting(plan, 2).reason.code == WaitCode::kResources);
}

TEST_CASE("a higher priority goes before an earlier submission") {
  const Plan plan = make_plan(cluster(1, {whole(1, 1), whole(2, 1, 5)}));
  REQUIRE(plan.starts.size() == 1);
  CHECK(plan.starts[0].job == JobId{2});
}

TEST_CASE("a whole node is given with all its devices, CPUs and memory") {
  const Plan plan = make_plan(cluster(1, {whole(1, 1)}));
  REQUIRE(plan.starts.size() == 1);
  const NodeShare& share = plan.starts[0].shares[0];
  CHECK(share.gpus == std::vector<std::uint16_t>{0, 1, 2, 3, 4, 5, 6, 7});
  CHECK(share.cpus == 64);
  CHECK(share.memory == Bytes{1ULL << 40U});
}

TEST_CASE("jobs of single GPUs share a node and fill the fullest one first") {
  const Plan plan = make_plan(cluster(2, {gpus(1, 2), gpus(2, 4), gpus(3, 2), gpus(4, 1)}));
  REQUIRE(plan.starts.size() == 4);
  CHECK(plan.starts[0].shares[0].node == NodeId{0});
  CHECK(plan.starts[1].shares[0].node == NodeId{0});
  CHECK(plan.starts[2].shares[0].node == NodeId{0});
  CHECK(plan.starts[2].shares[0].gpus == std::vector<std::uint16_t>{6, 7});
  CHECK(plan.starts[3].shares[0].node == NodeId{1});
}

TEST_CASE("a gang of whole nodes does not take a node that is in use") {
  ClusterView view = cluster(2, {whole(2, 2)});
  view.running.push_back({.id = JobId{1}, .shares = {take(view.nodes[0], gpus(1, 1).per_node, 1)}});
  CHECK(make_plan(view).starts.empty());
}

TEST_CASE("the first job that lacks room gets its earliest start") {
  ClusterView view = cluster(4, {whole(10, 3)});
  run(view, 1, {0}, minutes{30});
  run(view, 2, {1}, minutes{10});
  run(view, 3, {2, 3}, minutes{20});
  const Plan plan = make_plan(view);
  CHECK(waiting(plan, 10).reason.planned_start == kNow + minutes{20});
}

TEST_CASE("a job that would delay the planned start waits for it and says for whom") {
  ClusterView view = cluster(2, {whole(10, 2), whole(11, 1)});
  view.pending[1].limit = hours{2};
  run(view, 1, {0}, minutes{30});
  const Plan plan = make_plan(view);
  CHECK(plan.starts.empty());
  CHECK(waiting(plan, 11).reason.code == WaitCode::kBackfill);
  CHECK(waiting(plan, 11).reason.behind == JobId{10});
}

TEST_CASE("a job that ends before the planned start fills the gap") {
  ClusterView view = cluster(2, {whole(10, 2), whole(11, 1)});
  view.pending[1].limit = minutes{30};
  run(view, 1, {0}, minutes{30});
  CHECK(starts(make_plan(view), 11));
}

TEST_CASE("a job without a limit uses only nodes that the plan does not need") {
  ClusterView view = cluster(3, {whole(10, 2), whole(11, 1)});
  run(view, 1, {0, 1}, minutes{30});
  // Planned: nodes 0 and 1 at their end, or 0 and 2; by name 0 and 1. Node 2 stays free for others.
  const Plan plan = make_plan(view);
  CHECK(starts(plan, 11));
}

TEST_CASE("work without an end gives no planned start and holds nothing back") {
  ClusterView view = cluster(2, {whole(10, 2), whole(11, 1)});
  run(view, 1, {0}, std::nullopt);
  const Plan plan = make_plan(view);
  CHECK_FALSE(waiting(plan, 10).reason.planned_start);
  CHECK(starts(plan, 11));
}

TEST_CASE("work over its limit is expected to leave now, never in the past") {
  ClusterView view = cluster(1, {whole(10, 1)});
  run(view, 1, {0}, -minutes{5});
  CHECK(waiting(make_plan(view), 10).reason.planned_start == kNow);
}

TEST_CASE("nodes that are down count as down, not as busy") {
  ClusterView view = cluster(2, {whole(1, 2)});
  view.nodes[1].usable = false;
  const WaitReason reason = waiting(make_plan(view), 1).reason;
  CHECK(reason.code == WaitCode::kNodesDown);
  CHECK(reason.nodes_wanted == 2);
  CHECK(reason.nodes_free == 1);
}

TEST_CASE("named and avoided nodes are kept") {
  ClusterView view = cluster(3, {whole(1, 1), whole(2, 1)});
  view.pending[0].only = std::vector{NodeId{2}};
  view.pending[1].avoid = {NodeId{0}};
  const Plan plan = make_plan(view);
  REQUIRE(plan.starts.size() == 2);
  CHECK(plan.starts[0].shares[0].node == NodeId{2});
  CHECK(plan.starts[1].shares[0].node == NodeId{1});
}

TEST_CASE("a GPU type that no node has never fits") {
  ClusterView view = cluster(1, {gpus(1, 1)});
  view.pending[0].per_node.gpu_type = "b200";
  CHECK(make_plan(view).starts.empty());
}
