#include <catch2/catch.hpp>

#include "harness.h"

using namespace artel;
using namespace artel::ctld;
using namespace artel::ctld::test;
using std::chrono::seconds;

TEST_CASE("no node is told to start before every node is ready") {
  Cluster cluster;
  cluster.connect_all();
  const JobId id = cluster.submit(spec(4));
  const Effects placed = cluster.tick();
  CHECK(sent<Prepare>(placed).size() == 4);
  const AttemptKey key = cluster.job(id)->attempt->key;
  for (std::uint32_t node = 0; node < 3; ++node) cluster.from(node, AttemptReady{key, 0});
  CHECK(sent<StartAttempt>(cluster.tick()).empty());
  cluster.from(3, AttemptReady{key, 0});
  const auto starts = sent<StartAttempt>(cluster.tick());
  REQUIRE(starts.size() == 4);
  CHECK(starts[0].second.peers.size() == 4);
  CHECK(starts[0].second.peers[2].address == "hgx03.ib");
}

TEST_CASE("a node is told all that its part of the gang needs") {
  Cluster cluster;
  cluster.connect_all();
  JobSpec job = spec(2);
  job.components[0].ranks_per_node = 2;
  cluster.submit(job);
  const auto prepares = sent<Prepare>(cluster.tick());
  REQUIRE(prepares.size() == 2);
  const LaunchSpec& second = prepares[1].second.spec;
  CHECK(second.node_index == 1);
  CHECK(second.nodes == std::vector<std::string>{"hgx01", "hgx02"});
  CHECK(second.launch == LaunchKind::kPmix);
  CHECK(second.output == "/home/alice/out-1");
  CHECK(second.gpus.size() == 8);
  CHECK(second.master_port == 29400);
  CHECK(second.step_key.size() == 32);
  CHECK(second.owner == kAlice.owner);
}

TEST_CASE("a gang that ends well on all nodes is completed and frees them") {
  Cluster cluster;
  cluster.connect_all();
  const AttemptKey key = cluster.run(spec(4));
  CHECK(cluster.job(key.job)->state == JobState::kRunning);
  for (std::uint32_t node = 0; node < 4; ++node) {
    CHECK_FALSE(is_final(cluster.job(key.job)->state));
    cluster.from(node, AttemptEnded{key, ended(cluster.now, well())});
  }
  const Effects effects = cluster.tick();
  CHECK(sent<ForgetAttempt>(effects).size() == 4);
  CHECK(cluster.job(key.job)->state == JobState::kCompleted);
  CHECK(cluster.core().snapshot(cluster.now)->nodes[0].used.gpus == 0);
}

TEST_CASE("the first failing rank ends the gang and is the cause") {
  Cluster cluster;
  cluster.connect_all();
  const AttemptKey key = cluster.run(spec(4));
  const Cause killed{.actor = Actor::kApplication,
                     .code = CauseCode::kSignal,
                     .node = "hgx02",
                     .rank = 3,
                     .signal = 9};
  cluster.from(1, AttemptEnded{key, ended(cluster.now, killed)});
  const Effects effects = cluster.tick();
  CHECK(sent<EndAttempt>(effects).size() == 3);
  CHECK(cluster.job(key.job)->state == JobState::kCompleting);
  for (const std::uint32_t node : {0U, 2U, 3U})
    cluster.from(node, AttemptEnded{key, ended(cluster.now, killed)});
  const auto job = cluster.job(key.job);
  CHECK(job->state == JobState::kFailed);
  CHECK(job->cause == killed);
  CHECK(describe(job->cause) == "rank 3 on hgx02 was killed by signal 9 (KILL)");
}

TEST_CASE("a rank that was killed is the cause, although ranks that lost it were heard first") {
  Cluster cluster;
  cluster.connect_all();
  const AttemptKey key = cluster.run(spec(2));
  const Cause left{.actor = Actor::kApplication,
                   .code = CauseCode::kAbort,
                   .node = "hgx01",
                   .rank = 0,
                   .exit_code = 1};
  const Cause killed{.actor = Actor::kApplication,
                     .code = CauseCode::kSignal,
                     .node = "hgx02",
                     .rank = 1,
                     .signal = 9};
  cluster.from(0, AttemptEnded{key, ended(cluster.now, left)});
  cluster.from(1, AttemptEnded{key, ended(cluster.now, killed)});
  CHECK(cluster.job(key.job)->cause == killed);
}

TEST_CASE("a cancelled run names who cancelled it") {
  Cluster cluster;
  cluster.connect_all();
  const AttemptKey key = cluster.run(spec(2));
  REQUIRE(cluster.cancel(kAlice, key.job));
  CHECK(sent<EndAttempt>(cluster.pending()).size() == 2);
  const Cause cause = sent<EndAttempt>(cluster.pending())[0].second.cause;
  for (std::uint32_t node = 0; node < 2; ++node)
    cluster.from(node, AttemptEnded{key, ended(cluster.now, cause)});
  CHECK(cluster.job(key.job)->state == JobState::kCancelled);
  CHECK(cluster.job(key.job)->cause.actor_name == "alice");
}

TEST_CASE("a node that refuses is blamed, the job is tried again elsewhere in its place") {
  Cluster cluster;
  cluster.connect_all();
  const JobId id = cluster.submit(spec(1));
  (void)cluster.tick();
  const AttemptKey key = cluster.job(id)->attempt->key;
  cluster.from(0, AttemptRefused{key,
                                 {.actor = Actor::kLaunch,
                                  .code = CauseCode::kPrepareRefused,
                                  .node = "hgx01",
                                  .text = "no space"}});
  auto job = cluster.job(id);
  CHECK(job->state == JobState::kPending);
  CHECK(job->wait.code == WaitCode::kRequeued);
  CHECK(job->retries.launch == 1);
  CHECK(job->retries.application == 0);
  CHECK(cluster.core().snapshot(cluster.now)->nodes[0].strikes.size() == 1);
  (void)cluster.tick(seconds{2});
  job = cluster.job(id);
  REQUIRE(job->state == JobState::kPreparing);
  CHECK(job->attempt->key.attempt == AttemptNo{2});
  CHECK(job->attempt->parts[0].share.node != NodeId{0});
}

void refuse(Cluster& cluster, JobId id) {
  cluster.from(0, AttemptRefused{cluster.job(id)->attempt->key,
                                 {.actor = Actor::kLaunch,
                                  .code = CauseCode::kPrepareRefused,
                                  .node = "hgx01",
                                  .text = "no space"}});
}

/// A new job is placed on the first node, which refuses it.
void strike(Cluster& cluster) {
  JobSpec job = spec(1);
  job.nodes_wanted = {"hgx01"};
  const JobId id = cluster.submit(job);
  (void)cluster.tick(seconds{1});
  refuse(cluster, id);
  REQUIRE(cluster.cancel(kAlice, id));
}

TEST_CASE("a node that fails the launches of three jobs is drained, and resume clears it") {
  Cluster cluster;
  cluster.connect_all();
  strike(cluster);
  strike(cluster);
  CHECK(cluster.core().snapshot(cluster.now)->nodes[0].drains.empty());
  strike(cluster);
  Node node = cluster.core().snapshot(cluster.now)->nodes[0];
  CHECK(node_state_name(node) == "drained");
  REQUIRE(node.drains.size() == 1);
  CHECK(describe(node.drains[0]) ==
        "node: launches of 3 jobs failed here, the last one: no space (artel-ctld)");
  cluster.core().resume(RequestId{6}, kOperator, {"hgx01"}, cluster.now);
  (void)cluster.core().take_effects();
  strike(cluster);
  node = cluster.core().snapshot(cluster.now)->nodes[0];
  CHECK(node_state_name(node) == "idle");
  CHECK(node.strikes.size() == 1);
}

TEST_CASE(
    "strikes that are long ago, or of one job that is refused again and again, do not drain") {
  Cluster cluster;
  cluster.connect_all();
  strike(cluster);
  strike(cluster);
  (void)cluster.tick(std::chrono::hours{24});
  strike(cluster);
  CHECK(cluster.core().snapshot(cluster.now)->nodes[0].strikes.size() == 1);
  JobSpec job = spec(1);
  job.nodes_wanted = {"hgx01"};
  job.retries.launch = 5;
  const JobId id = cluster.submit(job);
  for (int i = 0; i < 5; ++i) {
    (void)cluster.tick(seconds{100});
    refuse(cluster, id);
  }
  CHECK(cluster.core().snapshot(cluster.now)->nodes[0].strikes.size() == 2);
  CHECK(cluster.core().snapshot(cluster.now)->nodes[0].drains.empty());
}

TEST_CASE("a run that ends well ends the row of strikes of its nodes, in the store too") {
  Cluster cluster;
  cluster.connect_all();
  strike(cluster);
  (void)cluster.tick(seconds{1});
  const AttemptKey key = cluster.run(spec(4));
  CHECK(cluster.core().snapshot(cluster.now)->nodes[0].strikes.size() == 1);
  for (std::uint32_t node = 0; node < 4; ++node)
    cluster.from(node, AttemptEnded{key, ended(cluster.now, well())});
  CHECK(cluster.core().snapshot(cluster.now)->nodes[0].strikes.empty());
  std::vector<std::size_t> stored;
  for (const StoreWrite& write : cluster.core().take_effects().writes) {
    if (const auto* row = std::get_if<NodeRow>(&write); row != nullptr && row->name == "hgx01")
      stored.push_back(row->strikes.size());
  }
  CHECK(stored == std::vector<std::size_t>{0});
}

TEST_CASE("how long a job backs off after a failure is kept over a restart") {
  Cluster before;
  before.connect_all();
  const JobId id = before.submit(spec(1));
  (void)before.tick();
  refuse(before, id);
  StoredState stored;
  stored.last_job = id;
  Job job = *before.job(id);
  job.standing.retry_at = before.now + seconds{30};
  stored.jobs = {std::move(job)};
  Cluster after(std::move(stored), Cluster::config(), before.now);
  after.connect_all();
  (void)after.tick(seconds{29});
  CHECK(after.job(id)->state == JobState::kPending);
  CHECK(after.job(id)->wait.code == WaitCode::kRequeued);
  CHECK(after.job(id)->retries.launch == 1);
  (void)after.tick(seconds{1});
  CHECK(after.job(id)->state == JobState::kPreparing);
}

TEST_CASE("a launch that fails everywhere is held when its budget is spent") {
  Cluster cluster;
  cluster.connect_all();
  JobSpec job = spec(4);
  job.retries.launch = 1;
  const JobId id = cluster.submit(job);
  for (int i = 0; i < 2; ++i) {
    (void)cluster.tick(seconds{5});
    const AttemptKey key = cluster.job(id)->attempt->key;
    const Cause cause{.actor = Actor::kLaunch, .code = CauseCode::kPrepareRefused, .node = "hgx03"};
    for (std::uint32_t node = 0; node < 4; ++node) cluster.from(node, AttemptRefused{key, cause});
  }
  CHECK(cluster.job(id)->state == JobState::kHeld);
}

TEST_CASE("a missing program is the job's own failure and is not tried again") {
  Cluster cluster;
  cluster.connect_all();
  const JobId id = cluster.submit(spec(1));
  (void)cluster.tick();
  const AttemptKey key = cluster.job(id)->attempt->key;
  cluster.from(0, AttemptRefused{key,
                                 {.actor = Actor::kApplication,
                                  .code = CauseCode::kExecFailed,
                                  .node = "hgx01",
                                  .text = "no such program"}});
  CHECK(cluster.job(id)->state == JobState::kFailed);
  CHECK(cluster.core().snapshot(cluster.now)->nodes[0].strikes.empty());
}

TEST_CASE("a node that does not get ready in time is given up and not used for this job") {
  Cluster cluster;
  cluster.connect_all();
  const JobId id = cluster.submit(spec(2));
  (void)cluster.tick();
  const AttemptKey key = cluster.job(id)->attempt->key;
  cluster.from(0, AttemptReady{key, 1});
  const Effects late = cluster.tick(seconds{60});
  CHECK(sent<EndAttempt>(late).size() == 2);
  const Cause cause = sent<EndAttempt>(late)[0].second.cause;
  CHECK(cause.code == CauseCode::kPrepareTimeout);
  CHECK(cause.node == "hgx02");
  for (std::uint32_t node = 0; node < 2; ++node)
    cluster.from(node, AttemptEnded{key, {.ended = cluster.now, .cause = cause}});
  CHECK(cluster.job(id)->state == JobState::kPending);
  (void)cluster.tick(seconds{2});
  for (const NodePart& part : cluster.job(id)->attempt->parts) CHECK(part.share.node != NodeId{1});
}

TEST_CASE("a node that keeps a job over its limit is told the hard way") {
  Cluster cluster;
  cluster.connect_all();
  JobSpec job = spec(1);
  job.time_limit = seconds{100};
  cluster.run(job);
  CHECK(sent<EndAttempt>(cluster.tick(seconds{100})).empty());
  const auto ends = sent<EndAttempt>(cluster.tick(seconds{100}));
  REQUIRE(ends.size() == 1);
  CHECK(ends[0].second.immediately);
  CHECK(ends[0].second.cause.code == CauseCode::kTimeLimit);
}

TEST_CASE("while starts are paused nothing starts, and what runs ends and is final") {
  Cluster cluster;
  cluster.connect_all();
  const AttemptKey running = cluster.run(spec(4));
  const JobId waits = cluster.submit(spec(1));
  cluster.core().pause_starts(true);
  for (std::uint32_t node = 0; node < 4; ++node)
    cluster.from(node, AttemptEnded{running, ended(cluster.now, well())});
  cluster.tick();
  CHECK(cluster.job(running.job)->state == JobState::kCompleted);
  CHECK(cluster.job(waits)->state == JobState::kPending);
  cluster.core().pause_starts(false);
  REQUIRE(cluster.core().next_tick() == cluster.now);
  cluster.tick();
  CHECK(cluster.job(waits)->state == JobState::kPreparing);
}

TEST_CASE("clocks of nodes never make negative times") {
  Cluster cluster;
  cluster.connect_all();
  const JobId id = cluster.submit(spec(1));
  (void)cluster.tick(seconds{10});
  const AttemptKey key = cluster.job(id)->attempt->key;
  cluster.from(0, AttemptReady{key, 1});
  cluster.from(0, AttemptStarted{key, cluster.now - seconds{600}});
  CHECK(cluster.job(id)->attempt->started_at == cluster.job(id)->attempt->allocated_at);
  cluster.from(0, AttemptEnded{key, ended(cluster.now + seconds{600}, well())});
  CHECK(cluster.job(id)->attempt->parts[0].end->ended == cluster.now);
}
