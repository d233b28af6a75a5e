// Passes in parts: others are heard in between.
#include <catch2/catch.hpp>

#include "ctld/core/scheduling_snapshot.h"
#include "harness.h"

namespace artel::ctld::test {
namespace {

/// A part of a pass: so many jobs.
void tick_part(Cluster& cluster, int jobs) {
  cluster.core().tick(cluster.now, [&] { return jobs-- > 0; });
  (void)cluster.core().take_effects();
}

struct Begun {
  Begun() {
    cluster.connect_all();
    for (JobId& id : jobs) id = cluster.submit(spec());
    tick_part(cluster, 1);
    REQUIRE(cluster.core().in_pass());
    REQUIRE(cluster.core().next_tick().value() <= cluster.now);
    REQUIRE(cluster.job(jobs[0])->state == JobState::kPreparing);
    REQUIRE(cluster.job(jobs[1])->state == JobState::kPending);
    cluster.now += std::chrono::seconds{1};
  }

  void finish() {
    (void)cluster.tick();
    REQUIRE_FALSE(cluster.core().in_pass());
    REQUIRE(cluster.core().check() == std::nullopt);
    (void)cluster.tick(std::chrono::seconds{1});
    REQUIRE(cluster.core().check() == std::nullopt);
  }

  JobState state(std::size_t job) { return cluster.job(jobs[job])->state; }

  Cluster cluster;
  JobId jobs[3];
};

TEST_CASE("a submission in the middle of a pass is answered, and looked at by the next one") {
  Begun begun;
  const JobId late = begun.cluster.submit(spec());
  CHECK(begun.cluster.job(late)->wait.code == WaitCode::kNotConsidered);
  CHECK(begun.cluster.submit(kAlice, {spec(5)}).error().code == ErrorCode::kNeverFits);
  CHECK(begun.cluster.submit(kAlice, {spec(1), spec(5)}).error().code == ErrorCode::kNeverFits);
  const JobId later = begun.cluster.submit(spec());
  CHECK(later.value == late.value + 1);
  begun.finish();
  CHECK(begun.cluster.job(late)->state == JobState::kPreparing);
  CHECK(begun.cluster.job(later)->state == JobState::kPending);
  CHECK(begun.cluster.job(later)->wait.code == WaitCode::kResources);
}

TEST_CASE("who is cancelled in the middle of a pass does not start in it") {
  Begun begun;
  REQUIRE(begun.cluster.cancel(kAlice, begun.jobs[1]));
  const JobId late = begun.cluster.submit(spec());
  REQUIRE(begun.cluster.cancel(kAlice, late));
  begun.finish();
  CHECK(begun.state(1) == JobState::kCancelled);
  CHECK(begun.state(2) == JobState::kPreparing);
  CHECK(begun.cluster.job(late)->state == JobState::kCancelled);
}

TEST_CASE("who is held in the middle of a pass does not start in it") {
  Begun begun;
  begun.cluster.core().hold(RequestId{3}, kAlice, {begun.jobs[1]}, "", begun.cluster.now);
  begun.finish();
  CHECK(begun.state(1) == JobState::kHeld);
  CHECK(begun.cluster.job(begun.jobs[1])->wait.code == WaitCode::kHeld);
  const JobId others[] = {begun.cluster.submit(spec()), begun.cluster.submit(spec())};
  (void)begun.cluster.tick(std::chrono::seconds{1});
  for (const JobId other : others)
    CHECK(begun.cluster.job(other)->state == JobState::kPreparing);  // its node is free
  CHECK(begun.cluster.core().check() == std::nullopt);
}

TEST_CASE("who is updated in the middle of a pass starts as it asks now") {
  Begun begun;
  begun.cluster.core().update(RequestId{3}, kAlice, {begun.jobs[1]}, {.nodes = 2},
                              begun.cluster.now);
  begun.finish();
  REQUIRE(begun.state(1) == JobState::kPreparing);
  CHECK(begun.cluster.job(begun.jobs[1])->attempt->parts.size() == 2);
}

TEST_CASE("nobody is placed on a node that was lost in the middle of a pass") {
  Begun begun;
  begun.cluster.disconnect(1);
  begun.finish();
  for (const std::size_t job : {1, 2}) {
    REQUIRE(begun.state(job) == JobState::kPreparing);
    CHECK(begun.cluster.job(begun.jobs[job])->attempt->parts.at(0).share.node != NodeId{1});
  }
  CHECK(begun.cluster.job(begun.jobs[1])->last_attempt == AttemptNo{1});
}

TEST_CASE("an end in the middle of a pass frees its node for the next one") {
  Begun begun;
  const JobId waits = begun.cluster.submit(spec(2));
  const AttemptKey key = begun.cluster.job(begun.jobs[0])->attempt->key;
  begun.cluster.from(0, AttemptEnded{key, {ended(begun.cluster.now, well())}});
  begun.finish();
  CHECK(begun.state(0) == JobState::kCompleted);
  CHECK(begun.cluster.job(waits)->state == JobState::kPreparing);
}

TEST_CASE("a question in the middle of a pass sees what was told since it began") {
  Begun begun;
  REQUIRE(begun.cluster.cancel(kAlice, begun.jobs[2]));
  begun.cluster.core().scheduling_snapshot(RequestId{9}, kAlice, std::nullopt, begun.cluster.now);
  Effects effects = begun.cluster.core().take_effects();
  const auto snapshot =
      std::get<std::shared_ptr<const SchedulingSnapshot>>(effects.replies.at(0).body.value());
  CHECK(snapshot->explain(begun.jobs[1]));
  CHECK_FALSE(snapshot->explain(begun.jobs[2]));
  begun.finish();
}

TEST_CASE("a pass in parts that time alone made due is made once") {
  Cluster cluster;
  cluster.connect_all();
  (void)cluster.run(spec(4));
  (void)cluster.submit(spec(4));
  for (int i = 0; i < 3; ++i) (void)cluster.tick(std::chrono::seconds{1});
  cluster.now += sched::Policy{}.starve_after;
  tick_part(cluster, 0);
  REQUIRE(cluster.core().in_pass());
  for (int i = 0; i < 3; ++i) tick_part(cluster, 1);
  REQUIRE_FALSE(cluster.core().in_pass());
  CHECK(cluster.core().next_tick() > cluster.now);
}

/// One team is promised two nodes of four, the other one runs on all of them.
TEST_CASE("whose run is over in the middle of a pass is not evicted by it") {
  ControllerConfig config = Cluster::config();
  for (const auto& [name, guarantee] : {std::pair("search", 16), std::pair("guests", 0)}) {
    TeamConfig team{.name = name};
    team.terms.guarantee = QuotaAmounts{{"h100", guarantee}};
    config.teams.teams.push_back(std::move(team));
  }
  Cluster cluster({}, config);
  cluster.connect_all();
  JobSpec guest = spec(4);
  guest.team = "guests";
  const AttemptKey victim = cluster.run(guest);
  JobSpec owner = spec(1);
  owner.team = "search";
  const JobId waits = cluster.submit(owner);
  cluster.now += std::chrono::hours{1};
  tick_part(cluster, 0);
  REQUIRE(cluster.core().in_pass());
  const Cause failed{.actor = Actor::kNode, .code = CauseCode::kNodeLost};  // it is repeated
  for (std::uint32_t node = 0; node < 4; ++node)
    cluster.from(node, AttemptEnded{victim, ended(cluster.now, failed)});
  REQUIRE(cluster.job(victim.job)->state == JobState::kPending);
  (void)cluster.tick();
  REQUIRE_FALSE(cluster.core().in_pass());
  CHECK(cluster.core().check() == std::nullopt);
  CHECK(cluster.job(victim.job)->standing.evictions == 0);
  CHECK(cluster.job(victim.job)->state == JobState::kPending);
  for (int i = 0; i < 3; ++i) (void)cluster.tick(std::chrono::seconds{1});
  CHECK(cluster.core().check() == std::nullopt);
  CHECK(cluster.job(waits)->state == JobState::kPreparing);
}

}  // namespace
}  // namespace artel::ctld::test
