// Jobs that wait for a time, or that must have started or ended by one.
#include <catch2/catch.hpp>

#include "harness.h"

using namespace artel;
using namespace artel::ctld;
using namespace artel::ctld::test;
using std::chrono::minutes;
using std::chrono::seconds;

namespace {

JobSpec limited(Duration limit) {
  JobSpec out = spec(4);
  out.time_limit = limit;
  return out;
}

StoredState stored(const Job& job) {
  StoredState out;
  out.last_job = job.id;
  out.jobs.push_back(job);
  return out;
}

/// What the controller wakes up for by itself.
void pass_time(Cluster& cluster, Duration how_long) {
  const Time end = cluster.now + how_long;
  for (auto next = cluster.core().next_tick(); next && *next <= end;
       next = cluster.core().next_tick()) {
    cluster.now = std::max(cluster.now, *next);
    (void)cluster.tick();
  }
  cluster.now = end;
}

}  // namespace

TEST_CASE("a job starts at its begin time and not before") {
  Cluster cluster;
  cluster.connect_all();
  JobSpec later = spec(4);
  later.begin = kStart + minutes{10};
  const JobId id = cluster.submit(later);
  pass_time(cluster, minutes{10} - seconds{1});
  CHECK(cluster.job(id)->state == JobState::kPending);
  CHECK(cluster.job(id)->wait.code == WaitCode::kBeginTime);
  pass_time(cluster, seconds{1});
  CHECK(cluster.job(id)->state == JobState::kPreparing);
}

TEST_CASE("a begin time is kept over a restart") {
  JobSpec later = spec(4);
  later.begin = kStart + minutes{10};
  Cluster before;
  const JobId id = before.submit(later);
  Cluster after(stored(*before.job(id)), Cluster::config(), kStart + minutes{1});
  after.connect_all();
  pass_time(after, minutes{8});
  CHECK(after.job(id)->state == JobState::kPending);
  pass_time(after, minutes{1});
  CHECK(after.job(id)->state == JobState::kPreparing);
}

TEST_CASE("a job that cannot meet its deadline any more ends without having run") {
  Cluster cluster;
  cluster.connect_all();
  const AttemptKey first = cluster.run(limited(minutes{60}));
  JobSpec urgent = limited(minutes{5});
  urgent.deadline = kStart + minutes{20};
  const JobId id = cluster.submit(urgent);
  pass_time(cluster, minutes{14});
  CHECK(cluster.job(id)->state == JobState::kPending);
  CHECK(cluster.job(id)->wait.code == WaitCode::kDeadlineUnreachable);
  pass_time(cluster, minutes{1});
  CHECK(cluster.job(id)->state == JobState::kDeadline);
  CHECK(cluster.job(id)->cause.code == CauseCode::kDeadline);
  CHECK(cluster.job(first.job)->state == JobState::kRunning);
}

TEST_CASE("a run is ended at its deadline, gently, where that comes before its limit") {
  Cluster cluster;
  cluster.connect_all();
  JobSpec urgent = limited(minutes{20});
  urgent.deadline = kStart + minutes{20};
  const JobId id = cluster.submit(urgent);
  (void)cluster.tick();
  const AttemptKey key = cluster.job(id)->attempt->key;
  for (std::uint32_t node = 0; node < 4; ++node) cluster.from(node, AttemptReady{key, 4000});
  cluster.now += seconds{30};  // its first process runs this much later
  for (std::uint32_t node = 0; node < 4; ++node)
    cluster.from(node, AttemptStarted{key, cluster.now});
  CHECK(cluster.job(id)->attempt->limit_end == urgent.deadline);
  (void)cluster.tick();
  cluster.now = *urgent.deadline;
  const auto orders = sent<EndAttempt>(cluster.tick());
  REQUIRE(orders.size() == 4);
  CHECK(orders[0].second.cause.code == CauseCode::kDeadline);
  CHECK_FALSE(orders[0].second.immediately);
  for (std::uint32_t node = 0; node < 4; ++node)
    cluster.from(node, AttemptEnded{key, ended(cluster.now, orders[0].second.cause)});
  (void)cluster.tick();
  CHECK(cluster.job(id)->state == JobState::kDeadline);
}

TEST_CASE("a deadline without a time limit, or one that is too near, is refused") {
  Cluster cluster;
  cluster.connect_all();
  JobSpec endless = spec(1);
  endless.deadline = kStart + minutes{20};
  const auto no_limit = cluster.submit(kAlice, {endless});
  REQUIRE_FALSE(no_limit);
  CHECK_THAT(no_limit.error().text, Catch::Contains("time limit"));
  JobSpec late = limited(minutes{30});
  late.deadline = kStart + minutes{20};
  const auto too_near = cluster.submit(kAlice, {late});
  REQUIRE_FALSE(too_near);
  CHECK(too_near.error().code == ErrorCode::kNeverFits);
}

TEST_CASE("a job that did not start within its longest wait is cancelled") {
  Cluster cluster;
  cluster.connect_all();
  cluster.run(limited(minutes{60}));
  JobSpec impatient = spec(1);
  impatient.max_wait = minutes{10};
  const JobId id = cluster.submit(impatient);
  pass_time(cluster, minutes{9});
  CHECK(cluster.job(id)->state == JobState::kPending);
  pass_time(cluster, minutes{1});
  CHECK(cluster.job(id)->state == JobState::kCancelled);
  CHECK(cluster.job(id)->cause.code == CauseCode::kMaxWait);
}

TEST_CASE("a job that is submitted held waits for its release") {
  Cluster cluster;
  cluster.connect_all();
  JobSpec held = spec(1);
  held.held = true;
  const JobId id = cluster.submit(held);
  pass_time(cluster, minutes{1});
  CHECK(cluster.job(id)->state == JobState::kHeld);
  cluster.core().release(RequestId{3}, kAlice, {{id}}, cluster.now);
  pass_time(cluster, seconds{1});
  CHECK(cluster.job(id)->state == JobState::kPreparing);
}
