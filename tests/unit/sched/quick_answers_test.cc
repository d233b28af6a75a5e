// Room that is judged from what is kept of nodes, where that once was less than the truth.
#include <catch2/catch.hpp>

#include "sched/reason.h"
#include "unit/sched/bed.h"

using namespace artel;
using namespace artel::sched;
using namespace artel::sched::bed;
using std::chrono::minutes;

TEST_CASE("a block is found though a leaf of it has nodes in another block") {
  Setup setup = cluster(3);
  setup.nodes[0].leaf = "l";
  setup.nodes[0].block = "b1";
  setup.nodes[1].leaf = "l";
  setup.nodes[1].block = "b2";
  setup.nodes[2].leaf = "m";
  setup.nodes[2].block = "b2";
  const QuotaId team = add_team(setup, "A", 24);
  Scheduler scheduler(setup, at_minute(0));
  JobFacts busy = job(1, team, 1, 8);
  busy.request.nodes_wanted = {NodeId{0}};
  REQUIRE(scheduler.submit(at_minute(0), busy));
  rest(scheduler, at_minute(0));
  JobFacts facts = job(2, team, 2, 8);
  facts.request.locality = Locality::kBlock;
  REQUIRE(scheduler.submit(at_minute(0), facts));
  rest(scheduler, at_minute(0));
  CHECK(runs(scheduler, 2));
}

TEST_CASE("components are planned where what ends elsewhere changes who goes where") {
  Setup setup = cluster(3);
  setup.flavors = {"h100", "old"};
  setup.nodes[0].gpus = 16 * kGpu;
  setup.nodes[1].gpus = 16 * kGpu;
  setup.nodes[0].cores = 8;
  setup.nodes[2].flavor = FlavorId{1};
  QuotaId team = add_team(setup, "A", 32);
  setup.tree.back().guarantee = Amounts{32 * kGpu, 8 * kGpu, 0};
  Scheduler scheduler(setup, at_minute(0));
  const auto run = [&](std::uint64_t id, int node, int gpus, int limit, int flavor = 0) {
    JobFacts facts = job(id, team, 1, gpus);
    facts.request.parts.front().cores = 1;
    facts.request.limit = minutes{limit};
    facts.request.flavors = {FlavorId{static_cast<std::uint16_t>(flavor)}};
    facts.request.nodes_wanted = {NodeId{static_cast<std::uint32_t>(node)}};
    REQUIRE(scheduler.submit(at_minute(0), facts));
    rest(scheduler, at_minute(0));
    REQUIRE(runs(scheduler, id));
  };
  run(1, 1, 4, 30);
  run(2, 1, 4, 300);
  run(3, 0, 6, 300);
  run(4, 2, 8, 10, 1);
  JobFacts facts = job(9, team, 1, 2);
  facts.request.flavors = {kFlavor};
  facts.request.parts = {Part{.nodes = 1, .gpus = 2 * kGpu, .cores = 1},
                         Part{.nodes = 1, .gpus = 8 * kGpu, .cores = 32}};
  const auto told = scheduler.submit(at_minute(0), facts);
  INFO((told ? "" : told.error().text));
  REQUIRE(told);
  rest(scheduler, at_minute(0));
  REQUIRE_FALSE(runs(scheduler, 9));
  CHECK(scheduler.wait(JobId{9}).planned_start == at_minute(30));
}

TEST_CASE("a plan knows that a claim made in the same pass delays another claim") {
  Setup setup = cluster(4);
  setup.flavors = {"h100", "old"};
  setup.nodes[3].flavor = FlavorId{1};
  setup.policy.reservations_per_team = 9;
  QuotaId team = add_team(setup, "A", 32);
  setup.tree.back().guarantee = Amounts{32 * kGpu, 8 * kGpu, 0};
  Scheduler scheduler(setup, at_minute(0));
  const auto submit = [&](std::uint64_t id, std::uint32_t nodes, int gpus, std::int32_t priority,
                          std::optional<int> limit, std::vector<NodeId> wanted, int grace,
                          bool preemptible = true, int flavor = 0) {
    JobFacts facts = job(id, team, nodes, gpus);
    facts.request.limit.reset();
    if (limit) facts.request.limit = minutes{*limit};
    facts.request.flavors = {FlavorId{static_cast<std::uint16_t>(flavor)}};
    facts.request.nodes_wanted = wanted;
    facts.grace = minutes{grace};
    facts.priority = priority;
    facts.preemptible = preemptible;
    REQUIRE(scheduler.submit(at_minute(0), facts));
  };
  const auto run = [&](std::uint64_t id, int gpus, std::optional<int> limit, int node, int grace,
                       bool preemptible = true, int flavor = 0) {
    submit(id, 1, gpus, 0, limit, {NodeId{static_cast<std::uint32_t>(node)}}, grace, preemptible,
           flavor);
    rest(scheduler, at_minute(0));
    REQUIRE(runs(scheduler, id));
  };
  run(1, 4, 20, 0, 1, false);
  run(2, 4, 500, 0, 1);
  run(3, 4, std::nullopt, 1, 30);
  run(4, 4, 600, 1, 1);
  run(5, 8, 70, 3, 1, true, 1);
  submit(11, 2, 4, 9, 60, {NodeId{0}, NodeId{1}}, 1);  // claims n100, n101, evicts 2 and 3
  submit(12, 3, 8, 8, 60, {}, 1);                      // never
  submit(13, 1, 4, 7, 120, {NodeId{1}}, 1);            // claims n101, evicts 4
  submit(14, 2, 8, 6, 60, {}, 1);                      // n100 and n102 when 11 is over
  submit(15, 1, 8, 5, 300, {}, 1);                     // must not take n102
  scheduler.pass(at_minute(0));
  CHECK(scheduler.stage(JobId{11}) == Stage::kClaiming);
  CHECK(scheduler.stage(JobId{13}) == Stage::kClaiming);
  CHECK(scheduler.wait(JobId{14}).planned_start == at_minute(90));
  CHECK_FALSE(runs(scheduler, 15));
}
