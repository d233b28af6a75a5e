// Plans of victims where several rules meet (V1 to V5).
#include "sched/evict.h"

#include <catch2/catch.hpp>

#include "sched/evictable.h"
#include "unit/sched/running.h"

using namespace artel;
using namespace artel::sched;
using namespace artel::sched::bed;

namespace {

JobFacts of(std::uint64_t id, QuotaId queue, std::uint32_t nodes, std::int32_t priority) {
  JobFacts facts = bed::job(id, queue, nodes, 8);
  facts.priority = priority;
  return facts;
}

std::vector<JobId> victims_for(State& state, const JobFacts& facts) {
  const PlanBook no_plans(state.nodes.size());
  const Job& asking = waiting_job(state, facts);
  const auto plan = make_eviction(state, asking, kFlavor, no_plans, Protection::kCounts).plan;
  return plan ? plan->victims : std::vector<JobId>{};
}

}  // namespace

TEST_CASE("where its own low priority has to go too, what is left of it counts as borrowed (V3)",
          "[evict]") {
  Setup setup = cluster(8);
  const QuotaId a = add_team(setup, "A", 32);
  const QuotaId b = add_team(setup, "B", 8);
  State state(setup, at_minute(0));
  running_job(state, of(1, a, 2, 0), {0, 1});
  running_job(state, of(2, a, 1, 0), {4});
  running_job(state, of(3, b, 1, 9), {2});  // covered: the first leaf cannot be emptied
  running_job(state, of(4, b, 3, 0), {5, 6, 7});
  JobFacts asking = of(9, a, 4, 9);
  asking.request.locality = Locality::kLeaf;
  CHECK(victims_for(state, asking) == std::vector{JobId{2}, JobId{4}});
}

TEST_CASE("what an eviction in the making assumes does not stay in the openings") {
  Setup setup = cluster(4);
  const QuotaId team = add_team(setup, "A", 20);
  setup.tree.back().limit = Bounds{20 * kGpu};
  setup.policy.protect_priority = Duration{};
  State state(setup, at_minute(0));
  running_job(state, job(1, team, 1, 8), {0});
  running_job(state, job(2, team, 1, 8), {1});
  running_job(state, job(3, QuotaId{0}, 1, 8), {2}).preemptible = false;
  JobFacts facts = job(9, team, 1, 8);
  facts.priority = 5;
  facts.request.parts = {Part{.nodes = 1, .gpus = 8 * kGpu}, Part{.nodes = 3, .gpus = 4 * kGpu}};
  Job& job9 = waiting_job(state, facts);
  for (int i = 1; i <= 255; ++i) {
    state.openings.of(state, job9, kFlavor, Part{.nodes = 1, .gpus = kGpu, .cores = i});
  }
  const Charge charge = charge_of(state, *job9.request, 4, kFlavor);
  const Evictable evictable(state);
  REQUIRE(evictable.may_evict(job9, charge));
  const PlanBook none(state.nodes.size());
  CHECK_FALSE(make_eviction(state, job9, kFlavor, none, Protection::kCounts).plan);
  CHECK(state.openings.of(state, job9, kFlavor, facts.request.parts.front()).count == 1);
}
