// A Scheduler that is told what an earlier one did goes on as that one would have.
#include <catch2/catch.hpp>

#include "sched/memory.h"
#include "unit/sched/bed.h"

using namespace artel;
using namespace artel::sched;
using namespace artel::sched::bed;
using std::chrono::minutes;

namespace {

std::vector<Share> whole(std::initializer_list<std::uint32_t> nodes) {
  std::vector<Share> shares;
  for (const std::uint32_t node : nodes) {
    shares.push_back({.node = NodeId{node}, .gpus = 8 * kGpu, .cores = 64, .memory = 512});
  }
  return shares;
}

Remembered running(const JobFacts& facts, std::vector<Share> shares) {
  Remembered told;
  told.job = facts;
  told.job.has_started = true;
  told.stage = Stage::kRunning;
  told.shares = std::move(shares);
  told.limit_end = at_minute(60);
  return told;
}

Remembered pending(const JobFacts& facts) {
  Remembered told;
  told.job = facts;
  return told;
}

}  // namespace

TEST_CASE("a run that is told again holds its nodes, and its limit gives the planned start") {
  Setup setup = cluster(2);
  const QuotaId team = add_team(setup, "a", 16);
  Scheduler scheduler(setup, at_minute(10));
  scheduler.restore(at_minute(10), running(job(1, team, 2, 8), whole({0, 1})));
  scheduler.restore(at_minute(10), pending(job(2, team, 1, 8)));
  CHECK(rest(scheduler, at_minute(10)).empty());
  CHECK(scheduler.wait(JobId{2}).planned_start == at_minute(60));
  scheduler.end(at_minute(20), JobId{1}, Ended::kCompleted);
  rest(scheduler, at_minute(20));
  CHECK(runs(scheduler, 2));
}

TEST_CASE("a job that was evicted keeps its back-off over a restart") {
  Setup setup = cluster(1);
  const QuotaId team = add_team(setup, "a", 0);
  Scheduler scheduler(setup, at_minute(0));
  Remembered told = pending(job(1, team, 1, 8));
  told.evicted = {2, at_minute(10)};
  scheduler.restore(at_minute(0), told);
  rest(scheduler, at_minute(0));
  CHECK(scheduler.wait(JobId{1}).reason == Reason::kBackoff);
  CHECK(scheduler.evictions(JobId{1}) == told.evicted);
  rest(scheduler, at_minute(10));
  CHECK(runs(scheduler, 1));
}

TEST_CASE("a claim is kept over a restart: nobody else takes what was freed for it") {
  Setup setup = cluster(2);
  const QuotaId owner = add_team(setup, "owner", 16);
  const QuotaId other = add_team(setup, "other", 0);
  Scheduler before(setup, at_minute(0));
  REQUIRE(before.submit(at_minute(0), job(1, other, 2, 8)));
  rest(before, at_minute(0));
  REQUIRE(before.submit(at_minute(1), job(2, owner, 2, 8)));
  rest(before, at_minute(1));
  REQUIRE(before.claims().size() == 1);

  Scheduler after(setup, at_minute(2));
  Remembered leaving = running(job(1, other, 2, 8), whole({0, 1}));
  leaving.stage = Stage::kSignalled;
  leaving.grace_end = at_minute(3);
  leaving.evicted = before.evictions(JobId{1});
  after.restore(at_minute(2), leaving);
  Remembered claiming = pending(job(2, owner, 2, 8));
  claiming.stage = Stage::kClaiming;
  claiming.shares = before.claims().front().shares;
  claiming.claim = before.claims().front().number;
  after.restore(at_minute(2), claiming);
  after.restore(at_minute(2), pending(job(3, owner, 1, 8)));
  after.requeue(at_minute(3), JobId{1});
  const auto decided = rest(after, at_minute(3));
  REQUIRE(decided.size() == 1);
  CHECK(std::get<Started>(decided.front()).job == JobId{2});
}

TEST_CASE("what leaves by itself is no victim and gives its nodes back one by one") {
  Setup setup = cluster(2);
  const QuotaId owner = add_team(setup, "owner", 16);
  const QuotaId other = add_team(setup, "other", 0);
  Scheduler scheduler(setup, at_minute(0));
  REQUIRE(scheduler.submit(at_minute(0), job(1, other, 2, 8)));
  rest(scheduler, at_minute(0));
  scheduler.leave(at_minute(1), JobId{1}, at_minute(5));
  REQUIRE(scheduler.submit(at_minute(1), job(2, owner, 1, 8)));
  CHECK(rest(scheduler, at_minute(1)).empty());
  CHECK(scheduler.wait(JobId{2}).planned_start == at_minute(5));
  scheduler.give_back(at_minute(2), JobId{1}, NodeId{1});
  rest(scheduler, at_minute(2));
  CHECK(runs(scheduler, 2));
  CHECK(scheduler.stage(JobId{1}) == Stage::kSignalled);
  scheduler.requeue(at_minute(6), JobId{1});
  CHECK(scheduler.evictions(JobId{1}).evictions == 0);
  rest(scheduler, at_minute(6));
  CHECK(scheduler.stage(JobId{1}) == Stage::kPending);  // node 1 is in use
  scheduler.end(at_minute(7), JobId{2}, Ended::kCompleted);
  rest(scheduler, at_minute(7));
  CHECK(runs(scheduler, 1));
}

TEST_CASE("the limit counts from the first process") {
  Setup setup = cluster(1);
  const QuotaId team = add_team(setup, "a", 8);
  Scheduler scheduler(setup, at_minute(0));
  REQUIRE(scheduler.submit(at_minute(0), job(1, team, 1, 8)));
  rest(scheduler, at_minute(0));
  scheduler.begin_run(at_minute(4), JobId{1}, at_minute(64));
  REQUIRE(scheduler.submit(at_minute(4), job(2, team, 1, 8)));
  rest(scheduler, at_minute(4));
  CHECK(scheduler.wait(JobId{2}).planned_start == at_minute(64));
}
