// How many nodes could take a job while victims leave (V3 to V6).
#include "sched/vacancy.h"

#include <catch2/catch.hpp>

#include "unit/sched/running.h"

using namespace artel;
using namespace artel::sched;
using namespace artel::sched::bed;

namespace {

/// Eight nodes in two leaves, all but the first held: the first leaf by one gang, the second by
/// two.
struct Full {
  Setup setup = cluster(8);
  QuotaId team = add_team(setup, "A", 0);
  State state{setup, at_minute(0)};
  Job& first = running_job(state, bed::job(1, team, 3, 8), {1, 2, 3});
  Job& second = running_job(state, bed::job(2, team, 2, 8), {4, 5});
  Job& third = running_job(state, bed::job(3, team, 2, 8), {6, 7});
  PlanBook no_plans{setup.nodes.size()};
  Rooms rooms{state, {.from = state.now, .signalled_gone = true}, &no_plans};

  Job& asking(std::uint32_t nodes, Locality locality = Locality::kAny, std::uint32_t segment = 1) {
    JobFacts facts = bed::job(9, team, nodes, 8);
    facts.request.locality = locality;
    facts.request.segment = segment;
    return waiting_job(state, facts);
  }
  [[nodiscard]] Vacancy vacancy_for(const Job& asking) const {
    return {state, asking, {smallest_size(*asking.request), kFlavor}, rooms};
  }
};

Domain leaf(std::uint32_t index) { return {.level = Locality::kLeaf, .index = index}; }

void leave(Vacancy& vacancy, Job& job, bool gone = true) {
  job.assumed_gone = gone;
  vacancy.look_again(job);
}

}  // namespace

TEST_CASE("nodes count once their holders have left, and no more when they are back", "[vacancy]") {
  Full full;
  Vacancy vacancy = full.vacancy_for(full.asking(3));
  CHECK_FALSE(vacancy.suffices({}));
  leave(vacancy, full.second);
  CHECK(vacancy.suffices({}));
  leave(vacancy, full.second, false);
  CHECK_FALSE(vacancy.suffices({}));
}

TEST_CASE("only the nodes of the domain count", "[vacancy]") {
  Full full;
  Vacancy vacancy = full.vacancy_for(full.asking(4, Locality::kLeaf));
  leave(vacancy, full.first);
  CHECK(vacancy.suffices(leaf(0)));
  leave(vacancy, full.second);
  CHECK_FALSE(vacancy.suffices(leaf(1)));
}

TEST_CASE("only whole segments of a leaf count", "[vacancy]") {
  Full full;
  Vacancy vacancy = full.vacancy_for(full.asking(4, Locality::kAny, 2));
  leave(vacancy, full.second);  // one node in the first leaf, two in the second
  CHECK_FALSE(vacancy.suffices({}));
  leave(vacancy, full.third);  // two segments in the second
  CHECK(vacancy.suffices({}));
}

TEST_CASE("what could be is told by domain and changes nothing", "[vacancy]") {
  Full full;
  Vacancy vacancy = full.vacancy_for(full.asking(4, Locality::kLeaf));
  std::vector<Job*> leaving{&full.first, &full.second};
  CHECK(vacancy.suffices_without(leaving) == std::vector<bool>{true, false});
  CHECK_FALSE(vacancy.suffices(leaf(0)));
  CHECK_FALSE(full.first.assumed_gone);
}

TEST_CASE("nodes of those in their grace count as free", "[vacancy]") {
  Full full;
  full.third.grace = std::chrono::minutes{2};
  signal(full.state, full.third);
  const Vacancy vacancy = full.vacancy_for(full.asking(3));
  CHECK(vacancy.suffices({}));
  CHECK(vacancy.usable() == std::vector<NodeIndex>{0, 6, 7});
}
