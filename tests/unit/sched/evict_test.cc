// Plans of victims where several rules meet (V1 to V5).
#include "sched/evict.h"

#include <catch2/catch.hpp>

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
