// Who may be looked at, and when: rules W, D, J, T1.
#include <catch2/catch.hpp>

#include "unit/sched/bed.h"

using namespace artel;
using namespace artel::sched;
using namespace artel::sched::bed;

namespace {

struct Bed {
  Setup setup;
  QuotaId queue;
  Scheduler scheduler;

  explicit Bed(std::uint32_t nodes)
      : setup(cluster(nodes)),
        queue(add_team(setup, "A", std::int64_t{8} * nodes)),
        scheduler(setup, at_minute(0)) {}

  JobFacts ask(std::uint64_t id) const { return job(id, queue, 1, 8); }
  void submit(const JobFacts& facts, int minute = 0) {
    REQUIRE(scheduler.submit(at_minute(minute), facts));
  }
  std::vector<Decision> pass(int minute) { return rest(scheduler, at_minute(minute)); }
  Reason reason(std::uint64_t id) const { return scheduler.wait(JobId{id}).reason; }
  bool is_gone(std::uint64_t id) const { return !scheduler.stage(JobId{id}); }
};

JobFacts after(JobFacts facts, DependencyKind kind, std::uint64_t on) {
  facts.after.list.push_back({.kind = kind, .on = JobId{on}, .was = {}});
  return facts;
}

std::vector<GivenUp> given_up(const std::vector<Decision>& decisions) {
  std::vector<GivenUp> found;
  for (const Decision& one : decisions) {
    if (const auto* end = std::get_if<GivenUp>(&one)) found.push_back(*end);
  }
  return found;
}

}  // namespace

TEST_CASE("a held job waits until it is released, then starts in its old place") {
  Bed bed(1);
  JobFacts held = bed.ask(1);
  held.held = true;
  bed.submit(held);
  bed.pass(0);
  CHECK(bed.reason(1) == Reason::kHeld);
  bed.submit(bed.ask(2), 1);
  bed.scheduler.set_held(at_minute(1), JobId{1}, false);
  bed.pass(1);
  CHECK(runs(bed.scheduler, 1));
  CHECK_FALSE(runs(bed.scheduler, 2));
}

TEST_CASE("a job starts at its begin time, and that is when the core wants to be woken") {
  Bed bed(1);
  JobFacts later = bed.ask(1);
  later.begin = at_minute(10);
  bed.submit(later);
  bed.pass(0);
  CHECK(bed.reason(1) == Reason::kBeginTime);
  CHECK(bed.scheduler.wait(JobId{1}).until == at_minute(10));
  CHECK(bed.scheduler.next_wake(at_minute(0)) == at_minute(10));
  bed.pass(10);
  CHECK(runs(bed.scheduler, 1));
}

TEST_CASE("after a failure a job waits for its next try as Requeued") {
  Bed bed(1);
  bed.submit(bed.ask(1));
  bed.pass(0);
  bed.scheduler.requeue(at_minute(1), JobId{1}, at_minute(5));
  bed.pass(1);
  CHECK(bed.reason(1) == Reason::kRequeued);
  CHECK(bed.scheduler.next_wake(at_minute(1)) == at_minute(5));
  bed.pass(5);
  CHECK(runs(bed.scheduler, 1));
}

TEST_CASE("a dependency that cannot be met ends the job, and those behind it, in one pass") {
  Bed bed(2);
  bed.submit(bed.ask(1));
  bed.submit(after(bed.ask(2), DependencyKind::kAfterOk, 1));
  bed.submit(after(bed.ask(3), DependencyKind::kAfterOk, 2));
  bed.submit(after(bed.ask(4), DependencyKind::kAfterAny, 3));
  bed.pass(0);
  CHECK(bed.reason(2) == Reason::kDependency);
  REQUIRE(bed.scheduler.missing(JobId{2}).size() == 1);
  bed.scheduler.end(at_minute(1), JobId{1}, Ended::kOtherwise);
  const auto ends = given_up(bed.pass(1));
  REQUIRE(ends.size() == 2);
  CHECK(ends[0].job == JobId{2});
  CHECK(ends[0].cause == GiveUp::kDependencyNeverMet);
  CHECK(std::get<JobId>(ends[0].decided_by->on) == JobId{1});
  CHECK(ends[1].job == JobId{3});
  CHECK(runs(bed.scheduler, 4));
}

TEST_CASE("of two dependencies on one job the second is not forgotten when the first is met") {
  Bed bed(2);
  bed.submit(bed.ask(1));
  bed.submit(after(after(bed.ask(2), DependencyKind::kAfter, 1), DependencyKind::kAfterOk, 1));
  bed.pass(0);
  CHECK(bed.scheduler.missing(JobId{2}).size() == 1);
  bed.scheduler.end(at_minute(1), JobId{1}, Ended::kCompleted);
  bed.pass(1);
  CHECK(runs(bed.scheduler, 2));
}

TEST_CASE("waiting time counts from the instant at which the dependency was met") {
  Bed bed(1);
  bed.submit(bed.ask(1));
  bed.submit(after(bed.ask(2), DependencyKind::kAfterAny, 1));
  bed.submit(bed.ask(3), 1);
  bed.pass(1);
  bed.scheduler.end(at_minute(5), JobId{1}, Ended::kCompleted);
  bed.pass(5);
  CHECK(runs(bed.scheduler, 3));
  CHECK_FALSE(runs(bed.scheduler, 2));
}

TEST_CASE("a dependency on what is over already counts with its end as it was told") {
  Bed bed(1);
  JobFacts facts = after(bed.ask(2), DependencyKind::kAfterOk, 1);
  const auto unknown = bed.scheduler.submit(at_minute(0), facts);
  REQUIRE_FALSE(unknown);
  CHECK(unknown.error().code == ErrorCode::kNotFound);
  CHECK_THAT(unknown.error().text, Catch::Contains("job 1"));
  facts.after.list.front().was = Outcome::kCompleted;
  bed.submit(facts);
  bed.pass(0);
  CHECK(runs(bed.scheduler, 2));
}

TEST_CASE("a task cannot wait for its own array") {
  Bed bed(1);
  bed.scheduler.set_array(at_minute(0), {.id = ArrayId{1}, .throttle = {}, .was = {}});
  JobFacts facts = bed.ask(1);
  facts.array = ArrayId{1};
  facts.after.list.push_back({.kind = DependencyKind::kAfterOk, .on = ArrayId{1}, .was = {}});
  const auto refused = bed.scheduler.submit(at_minute(0), facts);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::kInvalidArgument);
}

TEST_CASE("a throttle bounds the tasks that run, and 0 pauses the array") {
  Bed bed(4);
  bed.scheduler.set_array(at_minute(0), {.id = ArrayId{7}, .throttle = 2, .was = {}});
  for (std::uint64_t id = 1; id <= 4; ++id) {
    JobFacts task = bed.ask(id);
    task.array = ArrayId{7};
    bed.submit(task);
  }
  bed.pass(0);
  CHECK(runs(bed.scheduler, 2));
  CHECK(bed.reason(3) == Reason::kArrayThrottle);
  bed.scheduler.set_array(at_minute(1), {.id = ArrayId{7}, .throttle = 0, .was = {}});
  bed.scheduler.end(at_minute(1), JobId{1}, Ended::kCompleted);
  bed.pass(1);
  CHECK(bed.reason(3) == Reason::kArrayThrottle);
  bed.scheduler.set_array(at_minute(2), {.id = ArrayId{7}, .throttle = {}, .was = {}});
  bed.pass(2);
  CHECK(runs(bed.scheduler, 4));
}

TEST_CASE("an array is over when its last task is, and has failed if one has") {
  Bed bed(3);
  for (std::uint64_t id = 1; id <= 2; ++id) {
    JobFacts task = bed.ask(id);
    task.array = ArrayId{7};
    bed.submit(task);
  }
  JobFacts ok = bed.ask(3);
  ok.after.list.push_back({.kind = DependencyKind::kAfterOk, .on = ArrayId{7}, .was = {}});
  bed.submit(ok);
  JobFacts failed = bed.ask(4);
  failed.after.list.push_back({.kind = DependencyKind::kAfterNotOk, .on = ArrayId{7}, .was = {}});
  bed.submit(failed);
  bed.pass(0);
  bed.scheduler.end(at_minute(1), JobId{1}, Ended::kOtherwise);
  CHECK(given_up(bed.pass(1)).size() == 1);
  CHECK(bed.is_gone(3));
  CHECK(bed.reason(4) == Reason::kDependency);
  bed.scheduler.end(at_minute(2), JobId{2}, Ended::kCompleted);
  bed.pass(2);
  CHECK(runs(bed.scheduler, 4));
}

TEST_CASE("a deadline needs a limit and a start that can make it") {
  Bed bed(1);
  JobFacts facts = bed.ask(1);
  facts.deadline = at_minute(59);
  const auto late = bed.scheduler.submit(at_minute(0), facts);
  REQUIRE_FALSE(late);
  CHECK(late.error().code == ErrorCode::kNeverFits);
  facts.request.limit.reset();
  const auto endless = bed.scheduler.submit(at_minute(0), facts);
  REQUIRE_FALSE(endless);
  CHECK(endless.error().code == ErrorCode::kInvalidArgument);
}

TEST_CASE("who has not started when the passes of its latest start are over is given up") {
  Bed bed(1);
  bed.submit(bed.ask(1));
  JobFacts facts = bed.ask(2);
  facts.deadline = at_minute(70);
  bed.submit(facts);
  bed.pass(0);
  CHECK(bed.reason(2) == Reason::kDeadlineUnreachable);
  CHECK(bed.scheduler.next_wake(at_minute(0)) == at_minute(10));
  CHECK(bed.scheduler.end_waits(at_minute(9)).empty());
  const auto ends = given_up(bed.scheduler.end_waits(at_minute(10)));
  REQUIRE(ends.size() == 1);
  CHECK(ends[0].cause == GiveUp::kDeadline);
  CHECK(bed.is_gone(2));
}

TEST_CASE("a pass that comes late starts nobody past its latest start") {
  Bed bed(1);
  JobFacts facts = bed.ask(1);
  facts.deadline = at_minute(70);
  bed.submit(facts);
  CHECK(given_up(bed.pass(11)).size() == 1);
  CHECK(bed.is_gone(1));
}

TEST_CASE("a job with no maximum wait at all has one pass") {
  Bed bed(2);
  for (std::uint64_t id = 1; id <= 3; ++id) {
    JobFacts facts = bed.ask(id);
    facts.max_wait = Duration{};
    bed.submit(facts);
  }
  bed.pass(0);
  const auto ends = given_up(bed.scheduler.end_waits(at_minute(0)));
  REQUIRE(ends.size() == 1);
  CHECK(ends[0].job == JobId{3});
  CHECK(ends[0].cause == GiveUp::kMaxWait);
  CHECK(bed.scheduler.end_waits(at_minute(60)).empty());
}
