// Properties of the scheduling pass over random clusters. A failing case prints its seed.
#include "sched/plan.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "sched/fit.h"
#include "sched/timeline.h"
#include "sim/random.h"

using namespace artel;
using namespace artel::sched;
using artel::sim::Random;

namespace {

constexpr Time kNow{std::chrono::hours{1'000'000}};
constexpr std::uint64_t kSeeds = 1000;

NodeRequest random_request(Random& random) {
  if (random.chance(500)) return {};
  return {.whole_node = false, .gpus = GpuMilli{random.between(0, 8) * 1000}};
}

ClusterView random_view(std::uint64_t seed) {
  Random random(seed);
  ClusterView view{.now = kNow};
  const auto nodes = static_cast<std::uint32_t>(random.between(1, 8));
  for (std::uint32_t i = 0; i < nodes; ++i) {
    view.nodes.push_back(
        {.id = NodeId{i},
         .usable = !random.chance(100),
         .empty = true,
         .total = {.cpus = 64, .memory = Bytes{1U << 30U}, .gpu_type = "h100", .gpus = 8},
         .free_gpus = 0xff,
         .free_cpus = 64,
         .free_memory = Bytes{1U << 30U}});
  }
  std::uint64_t id = 0;
  for (NodeView& node : view.nodes) {
    while (random.chance(400)) {
      const NodeRequest request = random_request(random);
      if (!fits_now(node, request, 1)) break;
      RunningView run{.id = JobId{++id}, .shares = {take(node, request, 1)}};
      if (random.chance(800)) run.limit_end = kNow + random.delay(1, 100'000);
      view.running.push_back(run);
    }
  }
  const std::uint64_t pending = random.between(0, 20);
  for (std::uint64_t i = 0; i < pending; ++i) {
    PendingView job{.id = JobId{++id},
                    .priority = static_cast<std::int32_t>(random.between(0, 2)),
                    .order = static_cast<std::int64_t>(random.between(0, 5)),
                    .nodes = static_cast<std::uint32_t>(random.between(1, nodes)),
                    .per_node = random_request(random)};
    if (random.chance(600)) job.limit = random.delay(1, 100'000);
    view.pending.push_back(job);
  }
  return view;
}

const PendingView& job_of(const ClusterView& view, JobId id) {
  return *std::ranges::find(view.pending, id, &PendingView::id);
}

bool same(const Plan& a, const Plan& b) {
  const auto starts = [](const Start& x, const Start& y) {
    return x.job == y.job && x.shares == y.shares;
  };
  const auto waits = [](const Waiting& x, const Waiting& y) {
    return x.job == y.job && x.reason == y.reason;
  };
  return std::ranges::equal(a.starts, b.starts, starts) &&
         std::ranges::equal(a.waiting, b.waiting, waits);
}

}  // namespace

TEST_CASE("a plan starts whole gangs, overcommits nothing and answers for every job") {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    CAPTURE(seed);
    const ClusterView view = random_view(seed);
    const Plan plan = make_plan(view);
    std::set<JobId> seen;
    std::vector<NodeView> nodes = view.nodes;
    for (const Start& start : plan.starts) {
      const PendingView& job = job_of(view, start.job);
      REQUIRE(seen.insert(start.job).second);
      REQUIRE(start.shares.size() == job.nodes);
      std::set<NodeId> distinct;
      for (const NodeShare& share : start.shares) {
        NodeView& node = nodes[share.node.value];
        REQUIRE(distinct.insert(share.node).second);
        REQUIRE(node.usable);
        REQUIRE(fits_now(node, job.per_node, job.ranks_per_node));
        for (const std::uint16_t gpu : share.gpus) REQUIRE((node.free_gpus >> gpu & 1U) == 1);
        occupy(node, share);
      }
    }
    for (const Waiting& waiting : plan.waiting) {
      REQUIRE(seen.insert(waiting.job).second);
      REQUIRE(waiting.reason.code != WaitCode::kNone);
    }
    REQUIRE(seen.size() == view.pending.size());
  }
}

TEST_CASE("the order in which pending jobs are listed has no meaning") {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    CAPTURE(seed);
    ClusterView view = random_view(seed);
    const Plan plan = make_plan(view);
    std::ranges::reverse(view.pending);
    REQUIRE(same(plan, make_plan(view)));
    REQUIRE(same(plan, make_plan(view)));
  }
}

TEST_CASE("no job waits for resources that are free") {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    CAPTURE(seed);
    const ClusterView view = random_view(seed);
    const Plan plan = make_plan(view);
    std::vector<NodeView> nodes = view.nodes;
    for (const Start& start : plan.starts) {
      for (const NodeShare& share : start.shares) occupy(nodes[share.node.value], share);
    }
    for (const Waiting& waiting : plan.waiting) {
      if (waiting.reason.code == WaitCode::kBackfill) continue;
      const PendingView& job = job_of(view, waiting.job);
      const auto fitting = std::ranges::count_if(nodes, [&](const NodeView& node) {
        return node.usable && fits_now(node, job.per_node, job.ranks_per_node);
      });
      REQUIRE(static_cast<std::uint32_t>(fitting) < job.nodes);
    }
  }
}

TEST_CASE("what starts after the planned job does not move its planned start") {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    CAPTURE(seed);
    const ClusterView view = random_view(seed);
    const Plan plan = make_plan(view);
    const auto head = std::ranges::find_if(
        plan.waiting, [](const Waiting& w) { return w.reason.planned_start.has_value(); });
    if (head == plan.waiting.end()) continue;
    std::vector<NodeView> nodes = view.nodes;
    std::vector<RunningView> running = view.running;
    for (const Start& start : plan.starts) {
      const PendingView& job = job_of(view, start.job);
      RunningView run{.id = start.job, .shares = start.shares};
      if (job.limit) run.limit_end = kNow + *job.limit;
      running.push_back(run);
      for (const NodeShare& share : start.shares) occupy(nodes[share.node.value], share);
    }
    const auto after = earliest_start(kNow, nodes, running, job_of(view, head->job));
    REQUIRE(after);
    REQUIRE(after->at <= *head->reason.planned_start);
  }
}
