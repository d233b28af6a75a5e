// The numbers that a failed quota check gives, and that what it calls enough is enough.
#include <catch2/catch.hpp>

#include "unit/sched/bed.h"

using namespace artel;
using namespace artel::sched;
using namespace artel::sched::bed;

namespace {

/// Job 1 holds 2 nodes, job 2 asks for 2 more.
Scheduler two_and_two(const Setup& setup, QuotaId queue) {
  Scheduler scheduler(setup, at_minute(0));
  REQUIRE(scheduler.submit(at_minute(0), job(1, queue, 2, 8)));
  REQUIRE(scheduler.submit(at_minute(0), job(2, queue, 2, 8)));
  rest(scheduler, at_minute(0));
  return scheduler;
}

Shortage gpus(std::int64_t asked, std::int64_t have, std::int64_t bound, std::int64_t enough) {
  return {.counted = Counted::kGpus,
          .flavor = kFlavor,
          .licence = {},
          .asked = asked * kGpu,
          .have = have * kGpu,
          .bound = bound * kGpu,
          .enough = enough * kGpu};
}

}  // namespace

TEST_CASE("a limit tells what is asked, what is left and which limit would do", "[checks]") {
  Setup setup = cluster(4);
  const QuotaId team = add_team(setup, "a", 0);
  setup.tree[team.value].limit = {24 * kGpu, std::nullopt};
  Scheduler scheduler = two_and_two(setup, team);
  const Wait wait = scheduler.wait(JobId{2});
  CHECK(wait.reason == Reason::kQuotaLimit);
  CHECK(wait.quota == team);
  CHECK(wait.shortage == gpus(16, 8, 24, 32));

  scheduler.change(at_minute(1), team, {.limit = Bounds{wait.shortage.enough - 1, std::nullopt}});
  rest(scheduler, at_minute(1));
  CHECK(!runs(scheduler, 2));
  scheduler.change(at_minute(1), team, {.limit = Bounds{wait.shortage.enough, std::nullopt}});
  rest(scheduler, at_minute(1));
  CHECK(runs(scheduler, 2));
}

TEST_CASE("a borrowing limit counts above the guarantee", "[checks]") {
  Setup setup = cluster(4);
  const QuotaId team = add_team(setup, "a", 8);
  setup.tree[team.value].borrow = {8 * kGpu, std::nullopt};
  const Scheduler scheduler = two_and_two(setup, team);
  const Wait wait = scheduler.wait(JobId{2});
  CHECK(wait.reason == Reason::kBorrowLimit);
  CHECK(wait.quota == team);
  CHECK(wait.shortage == gpus(16, 0, 16, 32));
}

TEST_CASE("what may not be evicted is told how much of the guarantee is left", "[checks]") {
  Setup setup = cluster(4);
  const QuotaId team = add_team(setup, "a", 24);
  Scheduler scheduler(setup, at_minute(0));
  for (const std::uint64_t id : {1, 2}) {
    JobFacts fixed = job(id, team, 2, 8);
    fixed.preemptible = false;
    REQUIRE(scheduler.submit(at_minute(0), fixed));
  }
  rest(scheduler, at_minute(0));
  const Wait wait = scheduler.wait(JobId{2});
  CHECK(wait.reason == Reason::kGuaranteeOnly);
  CHECK(wait.shortage == gpus(16, 8, 24, 32));
}

TEST_CASE("limits of a user count jobs or GPUs", "[checks]") {
  Setup setup = cluster(4);
  const QuotaId team = add_team(setup, "a", 0);
  setup.tree[team.value].max_gpus_per_user = 31 * kGpu;
  CHECK(two_and_two(setup, team).wait(JobId{2}).shortage == gpus(16, 15, 31, 32));
  setup.tree[team.value].max_jobs_per_user = 1;
  const Wait wait = two_and_two(setup, team).wait(JobId{2});
  CHECK(wait.reason == Reason::kUserLimit);
  CHECK(wait.shortage.counted == Counted::kJobs);
  CHECK(wait.shortage.asked == 1);
  CHECK(wait.shortage.have == 0);
  CHECK(wait.shortage.bound == 1);
  CHECK(wait.shortage.enough == 2);
}

TEST_CASE("a budget tells hours", "[checks]") {
  Setup setup = cluster(4);
  const QuotaId team = add_team(setup, "a", 0);
  setup.tree[team.value].budget = 20;
  const Wait wait = two_and_two(setup, team).wait(JobId{2});
  CHECK(wait.reason == Reason::kBudget);
  CHECK(wait.shortage.counted == Counted::kGpuHours);
  CHECK(wait.shortage.asked == 16'000);
  CHECK(wait.shortage.have == 4'000);
  CHECK(wait.shortage.bound == 20'000);
  CHECK(wait.shortage.enough == 32'000);
}

TEST_CASE("a licence tells which and how many are left", "[checks]") {
  Setup setup = cluster(4);
  const QuotaId team = add_team(setup, "a", 0);
  setup.licences = {5, 3};
  Scheduler scheduler(setup, at_minute(0));
  for (const std::uint64_t id : {1, 2}) {
    JobFacts facts = job(id, team, 1, 8);
    facts.request.licences = {{LicenceId{0}, 1}, {LicenceId{1}, 2}};
    REQUIRE(scheduler.submit(at_minute(0), facts));
  }
  rest(scheduler, at_minute(0));
  const Wait wait = scheduler.wait(JobId{2});
  CHECK(wait.reason == Reason::kLicence);
  CHECK(wait.shortage.licence == LicenceId{1});
  CHECK(wait.shortage.asked == 2);
  CHECK(wait.shortage.have == 1);
  CHECK(wait.shortage.bound == 3);
  CHECK(wait.shortage.enough == 4);
}

TEST_CASE("what others keep at home is told with the name of the one that keeps most", "[checks]") {
  Setup setup = cluster(4);
  const QuotaId team = add_team(setup, "a", 0);
  const QuotaId keeper = add_team(setup, "b", 16);
  add_team(setup, "c", 8);
  setup.tree[2].lend = {0, 0};
  setup.tree[3].lend = {0, 0};
  const Wait wait = [&] {
    Scheduler scheduler(setup, at_minute(0));
    REQUIRE(scheduler.submit(at_minute(0), job(1, team, 1, 8)));
    REQUIRE(scheduler.submit(at_minute(0), job(2, team, 1, 8)));
    rest(scheduler, at_minute(0));
    return scheduler.wait(JobId{2});
  }();
  CHECK(wait.reason == Reason::kLendLimit);
  CHECK(wait.quota == keeper);
  CHECK(wait.shortage == gpus(8, 0, 32, 40));
}

TEST_CASE("a strict queue names the job before", "[checks]") {
  Setup setup = cluster(4);
  const QuotaId team = add_team(setup, "a", 0);
  setup.tree[team.value].strict_fifo = true;
  Scheduler scheduler(setup, at_minute(0));
  REQUIRE(scheduler.submit(at_minute(0), job(1, team, 3, 8)));
  REQUIRE(scheduler.submit(at_minute(0), job(2, team, 2, 8)));
  REQUIRE(scheduler.submit(at_minute(0), job(3, team, 1, 8)));
  rest(scheduler, at_minute(0));
  const Wait wait = scheduler.wait(JobId{3});
  CHECK(wait.reason == Reason::kStrictOrder);
  CHECK(wait.behind == JobId{2});
}
