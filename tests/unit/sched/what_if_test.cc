// Questions "what if" over a small cluster.
#include "sched/what_if.h"

#include <catch2/catch.hpp>

#include "unit/sched/bed.h"

using namespace artel;
using namespace artel::sched;
using namespace artel::sched::bed;

namespace {

/// Team a (guarantee 16) and team b (16) on 4 nodes; job 1 of a holds three of them, job 2 one, of
/// b, each for an hour; job 3 of a waits for one.
struct Full {
  Setup setup = cluster(4);
  QuotaId a = add_team(setup, "a", 16);
  QuotaId b = add_team(setup, "b", 16);
  Scheduler scheduler{setup, at_minute(0)};

  Full() {
    for (const JobFacts& facts : {job(1, a, 3, 8), job(2, b, 1, 8)}) {
      REQUIRE(scheduler.submit(at_minute(0), facts));
    }
    rest(scheduler, at_minute(0));
    REQUIRE(scheduler.submit(at_minute(1), job(3, a, 1, 8)));
    rest(scheduler, at_minute(1));
  }

  [[nodiscard]] Consequences ask(const Edit& edit) const {
    auto told = what_if(scheduler, at_minute(2), edit);
    REQUIRE(told);
    return *told;
  }
};

}  // namespace

TEST_CASE("a change that touches nothing moves nothing", "[what-if]") {
  const Full full;
  const Consequences told = full.ask(PriorityEdit{JobId{2}, 5});
  CHECK(told.starts.empty());
  CHECK(told.evictions.empty());
  CHECK(told.moved.empty());
  CHECK(told.is_whole);
}

TEST_CASE("a submitted job shows whom it evicts and when it starts", "[what-if]") {
  const Full full;
  const Consequences told = full.ask(SubmitEdit{job(9, full.b, 1, 8)});
  CHECK(told.evictions == std::vector{JobId{1}});
  REQUIRE(told.moved.size() == 2);
  CHECK(told.moved[0].job == JobId{3});
  CHECK(told.moved[0].before == at_minute(60));
  CHECK(told.moved[0].after == at_minute(4));
  CHECK((told.moved[1] == Moved{JobId{9}, std::nullopt, at_minute(4)}));
  CHECK(full.scheduler.stage(JobId{9}) == std::nullopt);
  CHECK(runs(full.scheduler, 1));
}

TEST_CASE("a cancelled job shows who starts at once", "[what-if]") {
  const Full full;
  const Consequences told = full.ask(CancelEdit{JobId{2}});
  REQUIRE(told.starts.size() == 1);
  CHECK(told.starts.front().job == JobId{3});
  CHECK((told.moved == std::vector{Moved{JobId{3}, at_minute(60), at_minute(2)}}));
}

TEST_CASE("a lost node shows the work that it throws back", "[what-if]") {
  const Full full;
  const Consequences told = full.ask(NodeEdit{NodeId{3}, NodeEdit::Fate::kLost});
  CHECK(told.moved.empty() == false);
  CHECK(runs(full.scheduler, 2));
}

TEST_CASE("a drained node keeps what runs and takes nothing new", "[what-if]") {
  Setup setup = cluster(1);
  const QuotaId team = add_team(setup, "a", 8);
  Scheduler scheduler(setup, at_minute(0));
  REQUIRE(scheduler.submit(at_minute(0), job(1, team, 1, 8)));
  REQUIRE(scheduler.submit(at_minute(0), job(2, team, 1, 8)));
  rest(scheduler, at_minute(0));
  const auto told = what_if(scheduler, at_minute(1), NodeEdit{NodeId{0}});
  REQUIRE(told);
  CHECK((told->moved == std::vector{Moved{JobId{2}, at_minute(60), std::nullopt}}));
  CHECK(told->evictions.empty());
}

TEST_CASE("a held job starts never, its place goes to the next", "[what-if]") {
  const Full full;
  const Consequences told = full.ask(HoldEdit{JobId{3}, true});
  CHECK((told.moved == std::vector{Moved{JobId{3}, at_minute(60), std::nullopt}}));
}

TEST_CASE("a raised limit shows the start that it allows", "[what-if]") {
  Setup setup = cluster(2);
  const QuotaId team = add_team(setup, "a", 0);
  setup.tree[team.value].limit = {8 * kGpu, std::nullopt};
  Scheduler scheduler(setup, at_minute(0));
  REQUIRE(scheduler.submit(at_minute(0), job(1, team, 1, 8)));
  REQUIRE(scheduler.submit(at_minute(0), job(2, team, 1, 8)));
  rest(scheduler, at_minute(0));
  const auto told =
      what_if(scheduler, at_minute(1), QuotaEdit{team, {.limit = Bounds{16 * kGpu, std::nullopt}}});
  REQUIRE(told);
  REQUIRE(told->starts.size() == 1);
  CHECK((told->moved == std::vector{Moved{JobId{2}, at_minute(60), at_minute(1)}}));
}

TEST_CASE("a change of what is not there is refused", "[what-if]") {
  const Full full;
  for (const Edit& edit : {Edit{CancelEdit{JobId{77}}}, Edit{NodeEdit{NodeId{77}}},
                           Edit{QuotaEdit{QuotaId{77}, {}}}, Edit{PriorityEdit{JobId{77}, 1}}}) {
    const auto told = what_if(full.scheduler, at_minute(2), edit);
    REQUIRE(!told);
    CHECK(told.error().code == ErrorCode::kNotFound);
    CHECK(told.error().text.find("77") != std::string::npos);
  }
  const auto never = what_if(full.scheduler, at_minute(2), SubmitEdit{job(9, full.a, 5, 8)});
  REQUIRE(!never);
  CHECK(never.error().code == ErrorCode::kNeverFits);
}
