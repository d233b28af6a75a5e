// Claims: what they wait for, what ends them, and where they are made (A1, V3, R4).
#include <catch2/catch.hpp>

#include "unit/sched/bed.h"

using namespace artel;
using namespace artel::sched;
using namespace artel::sched::bed;
using std::chrono::minutes;

namespace {

std::vector<JobId> signalled(const std::vector<Decision>& decisions) {
  std::vector<JobId> found;
  for (const Decision& one : decisions) {
    if (const auto* told = std::get_if<Signalled>(&one)) found.push_back(told->job);
  }
  return found;
}

/// Teams A and C with a guarantee of so many GPUs, and B without any.
struct Teams {
  Setup setup;
  QuotaId a;
  QuotaId b;
  QuotaId c;

  Teams(std::uint32_t nodes, std::int64_t of_a, std::int64_t of_c)
      : setup(cluster(nodes)),
        a(add_team(setup, "A", of_a)),
        b(add_team(setup, "B", 0)),
        c(add_team(setup, "C", of_c)) {}
};

}  // namespace

TEST_CASE("a claim does not start while one in its grace still holds its licence") {
  Teams teams(2, 8, 0);
  teams.setup.licences = {1};
  Scheduler scheduler(teams.setup, at_minute(0));
  REQUIRE(scheduler.submit(at_minute(0), job(1, teams.b, 1, 8)));
  rest(scheduler, at_minute(0));  // on the first node, which is free again in a moment
  JobFacts holder = job(2, teams.b, 1, 8);
  holder.request.licences = {{LicenceId{0}, 1}};
  REQUIRE(scheduler.submit(at_minute(0), holder));
  rest(scheduler, at_minute(0));
  scheduler.end(at_minute(1), JobId{1}, Ended::kCompleted);
  JobFacts wanting = job(3, teams.a, 1, 8);
  wanting.request.licences = holder.request.licences;
  REQUIRE(scheduler.submit(at_minute(1), wanting));
  CHECK(signalled(rest(scheduler, at_minute(1))) == std::vector{JobId{2}});
  CHECK(scheduler.stage(JobId{3}) == Stage::kClaiming);
  scheduler.requeue(at_minute(3), JobId{2});
  rest(scheduler, at_minute(3));
  CHECK(runs(scheduler, 3));
}

TEST_CASE("the grace of a job elsewhere does not keep a claim off reserved nodes") {
  Teams teams(3, 8, 8);
  Scheduler scheduler(teams.setup, at_minute(0));
  JobFacts slow = job(1, teams.b, 1, 8);
  slow.grace = minutes{30};
  REQUIRE(scheduler.submit(at_minute(0), slow));
  for (std::uint64_t id = 2; id <= 3; ++id) {
    REQUIRE(scheduler.submit(at_minute(0), job(id, teams.b, 1, 8)));
  }
  rest(scheduler, at_minute(0));
  ReservationFacts reservation;
  reservation.maintenance = true;
  reservation.start = at_minute(80);
  reservation.end = at_minute(90);
  reservation.nodes = {NodeId{1}, NodeId{2}};
  REQUIRE(scheduler.reserve(at_minute(1), reservation));
  JobFacts first = job(4, teams.a, 1, 8);
  first.request.limit = minutes{120};  // only where nothing is reserved
  REQUIRE(scheduler.submit(at_minute(1), first));
  CHECK(signalled(rest(scheduler, at_minute(1))) == std::vector{JobId{1}});
  REQUIRE(scheduler.submit(at_minute(2), job(5, teams.c, 1, 8)));
  rest(scheduler, at_minute(2));
  CHECK(scheduler.stage(JobId{5}) == Stage::kClaiming);
}

TEST_CASE("a claim that would run into a reservation is void one grace before it") {
  Teams teams(1, 8, 0);
  Scheduler scheduler(teams.setup, at_minute(0));
  JobFacts slow = job(1, teams.b, 1, 8);
  slow.grace = minutes{30};
  REQUIRE(scheduler.submit(at_minute(0), slow));
  rest(scheduler, at_minute(0));
  REQUIRE(scheduler.submit(at_minute(1), job(2, teams.a, 1, 8)));
  rest(scheduler, at_minute(1));
  REQUIRE(scheduler.stage(JobId{2}) == Stage::kClaiming);
  ReservationFacts reservation;
  reservation.maintenance = true;
  reservation.start = at_minute(20);
  reservation.end = at_minute(40);
  reservation.nodes = {NodeId{0}};
  REQUIRE(scheduler.reserve(at_minute(2), reservation));
  (void)scheduler.begin_reservations(at_minute(17));
  CHECK(scheduler.stage(JobId{2}) == Stage::kClaiming);
  (void)scheduler.begin_reservations(at_minute(18));
  CHECK(scheduler.stage(JobId{2}) == Stage::kPending);
  rest(scheduler, at_minute(18));
  CHECK(scheduler.wait(JobId{2}).reason != Reason::kPreempting);
}

TEST_CASE("a hold gives a claim up") {
  Teams teams(1, 8, 0);
  Scheduler scheduler(teams.setup, at_minute(0));
  REQUIRE(scheduler.submit(at_minute(0), job(1, teams.b, 1, 8)));
  rest(scheduler, at_minute(0));
  REQUIRE(scheduler.submit(at_minute(1), job(2, teams.a, 1, 8)));
  rest(scheduler, at_minute(1));
  REQUIRE(scheduler.stage(JobId{2}) == Stage::kClaiming);
  scheduler.set_held(at_minute(2), JobId{2}, true);
  scheduler.requeue(at_minute(3), JobId{1});
  rest(scheduler, at_minute(7));  // after its back-off
  CHECK(runs(scheduler, 1));
  CHECK(scheduler.wait(JobId{2}).reason == Reason::kHeld);
}
