// The scheduling core on generated workloads: what it promises, and ranges around what it reaches.
#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

#include "sim/trace/artel_policy.h"
#include "sim/trace/lublin.h"
#include "sim/trace/metrics.h"
#include "sim/trace/policy.h"
#include "sim/trace/replay.h"

namespace artel::trace {
namespace {

constexpr Milli kCapacity = 128 * kMilli;

Team team(const std::string& name, std::uint64_t guarantee) {
  Team one;
  one.name = name;
  one.guarantee = {{"", guarantee}};
  return one;
}

/// One replay; the workload stays where it is.
struct Run {
  Run(const LublinOptions& options, const std::string& name, const Site& site) {
    auto generated = generate_lublin(options);
    REQUIRE(generated);
    workload = std::move(*generated);
    auto made = make_problem(workload, {{}, kCapacity, {}});
    REQUIRE(made);
    problem = std::move(*made);
    const auto policy = make_policy(name, problem, site);
    if (!policy) FAIL(policy.error().text);
    auto replayed = replay(problem, **policy, {site.checkpoint_every, {}, {}});
    if (!replayed) FAIL(replayed.error().text);
    outcome = std::move(*replayed);
    metrics = measure(problem, outcome, site.teams);
  }

  Workload workload;
  Problem problem;
  Outcome outcome;
  Metrics metrics;
};

LublinOptions load(double of_capacity) {
  LublinOptions options;
  options.jobs = 1500;
  options.units = 128;
  options.load = of_capacity;
  options.limits = GeneratedLimits::kRound;
  return options;
}

/// Jobs of at most 16 GPUs: each fits into any guarantee of the tests.
LublinOptions narrow_jobs(double of_capacity) {
  LublinOptions options = load(of_capacity * 8);
  options.units = 16;
  return options;
}

Site eight_gpu_nodes() {
  Site site;
  site.node_size = 8;
  return site;
}

TEST_CASE("one team under the core waits about as long as under easy") {
  const Run easy(load(0.8), "easy", {});
  const Run core(load(0.8), "artel", eight_gpu_nodes());
  CHECK(core.metrics.summary.jobs == 1500);
  CHECK(core.metrics.summary.evictions == 0);
  // It places on nodes and plans for four jobs, easy does neither and plans for one.
  CHECK(core.metrics.summary.wait_s.mean < 1.6 * easy.metrics.summary.wait_s.mean);
  CHECK(core.metrics.summary.utilisation_arrivals >
        0.97 * easy.metrics.summary.utilisation_arrivals);
}

TEST_CASE("a team gets what it is guaranteed, whatever the others borrow") {
  LublinOptions options = narrow_jobs(1.2);
  options.teams = {"big", "small"};
  Site site;  // each unit is a node: a guarantee is a shape, too
  site.teams.teams = {team("big", 64), team("small", 64)};
  const Run core(options, "artel", site);
  const Run easy(options, "easy", site);
  CHECK(core.metrics.summary.evictions > 0);
  for (const TeamSummary& row : core.metrics.teams) {
    CAPTURE(row.name, row.short_hours, row.used_hours);
    // What is left is the rest of a guarantee that is smaller than the next job, and graces.
    CHECK(row.short_hours < 0.1 * row.used_hours);
  }
  const TeamSummary& small = core.metrics.teams.back();
  REQUIRE(small.name == "small");
  CHECK(small.short_hours < 0.5 * easy.metrics.teams.back().short_hours);
  CHECK(small.mean_wait_s < 0.5 * easy.metrics.teams.back().mean_wait_s);
}

TEST_CASE("preempted jobs lose less where they save their work") {
  LublinOptions options = narrow_jobs(1.2);
  options.teams = {"big", "small"};
  Site site = eight_gpu_nodes();
  site.teams.teams = {team("big", 32), team("small", 96)};
  const Run never(options, "artel", site);
  site.checkpoint_every = 600;
  const Run often(options, "artel", site);
  CHECK(never.metrics.summary.lost_hours > 0);
  CHECK(often.metrics.summary.lost_hours < 0.5 * never.metrics.summary.lost_hours);
}

TEST_CASE("the same workload gives the same schedule twice") {
  LublinOptions options = load(1.0);
  options.jobs = 500;
  options.teams = {"a", "b"};
  Site site = eight_gpu_nodes();
  site.teams.teams = {team("a", 64), team("b", 64)};
  const Run first(options, "artel", site);
  const Run second(options, "artel", site);
  REQUIRE(first.outcome.stays.size() == second.outcome.stays.size());
  CHECK(std::ranges::equal(first.outcome.stays, second.outcome.stays,
                           [](const Stay& a, const Stay& b) {
                             return a.task == b.task && a.from == b.from && a.to == b.to;
                           }));
}

TEST_CASE("jobs wider than the nodes of the cluster are spread over more of them") {
  LublinOptions options = load(0.8);
  options.jobs = 300;
  Site site;
  NodeConfig node;
  node.resources.cpus = 32;
  node.resources.gpus = 4;
  node.resources.gpu_type = "a100";
  for (int i = 0; i < 32; ++i) {
    node.name = "n" + std::to_string(i);
    site.nodes.push_back(node);
  }
  const Run core(options, "artel", site);
  CHECK(core.metrics.summary.refused == 0);
  REQUIRE(core.metrics.summary.fragmentation);
  CHECK(*core.metrics.summary.fragmentation < 0.5);
}

TEST_CASE("a guarantee of GPUs that the cluster lacks is refused") {
  LublinOptions options = load(0.8);
  options.jobs = 10;
  const auto workload = generate_lublin(options);
  REQUIRE(workload);
  const auto problem = make_problem(*workload, {});
  REQUIRE(problem);
  Site site;
  NodeConfig node;
  node.name = "n1";
  node.resources.cpus = 32;
  node.resources.gpus = 8;
  node.resources.gpu_type = "a100";
  site.nodes = {node};
  Team one = team("a", 8);
  one.guarantee = {{"h100", 8}};
  site.teams.teams = {one};
  const auto policy = make_policy("artel", *problem, site);
  REQUIRE_FALSE(policy);
  CHECK(policy.error().code == ErrorCode::kConfig);
  CHECK_THAT(policy.error().text, Catch::Contains("no GPU of type 'h100'; the cluster has a100"));
}

}  // namespace
}  // namespace artel::trace
