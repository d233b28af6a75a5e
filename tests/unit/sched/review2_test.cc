#include <catch2/catch.hpp>

#include "sched/evict.h"
#include "sched/evictable.h"
#include "sched/rooms.h"
#include "unit/sched/running.h"

using namespace artel;
using namespace artel::sched;
using namespace artel::sched::bed;

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
  CHECK_FALSE(make_eviction(state, job9, kFlavor, none, Protection::kCounts));
  CHECK(state.openings.of(state, job9, kFlavor, facts.request.parts.front()).count == 1);
}
