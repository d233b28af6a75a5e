#include <catch2/catch.hpp>

#include "harness.h"

using namespace artel;
using namespace artel::ctld;
using namespace artel::ctld::test;
using std::chrono::seconds;

namespace {

/// What a store gives back after a kill of the controller: the job as it was last written.
StoredState stored_of(Cluster& cluster, JobId id) {
  StoredState stored;
  stored.last_job = id;
  stored.jobs.push_back(*cluster.job(id));
  return stored;
}

}  // namespace

TEST_CASE("a running job is not disturbed by a restart of the controller") {
  Cluster before;
  before.connect_all();
  const AttemptKey key = before.run(spec(2));
  Cluster after(stored_of(before, key.job));
  CHECK(after.tick().sends.empty());
  for (std::uint32_t node = 0; node < 4; ++node) {
    std::vector<HeldAttempt> held;
    if (node < 2) held.push_back({.key = key, .phase = NodePhase::kRunning, .started = kStart});
    after.connect(node, held);
  }
  CHECK(after.tick().sends.empty());
  CHECK(after.job(key.job)->state == JobState::kRunning);
  CHECK(after.core().snapshot(after.now)->nodes[1].used.gpus == 8);
  CHECK_FALSE(after.core().check());
}

TEST_CASE("an end that was reported while the controller was away is recorded once") {
  Cluster before;
  before.connect_all();
  const AttemptKey key = before.run(spec(1));
  Cluster after(stored_of(before, key.job));
  const HeldAttempt held{.key = key, .phase = NodePhase::kEnded, .end = ended(kStart, well())};
  after.connect(0, {held});
  CHECK(after.job(key.job)->state == JobState::kCompleted);
  CHECK(sent<ForgetAttempt>(after.tick()).size() == 1);
  after.connect(0, {held});
  const Effects again = after.tick();
  CHECK(sent<ForgetAttempt>(again).size() == 1);
  for (const StoreWrite& write : again.writes)
    CHECK_FALSE(std::holds_alternative<AttemptRow>(write));
}

TEST_CASE("an end that a node kept has its real time") {
  Cluster cluster;
  cluster.connect_all();
  const AttemptKey key = cluster.run(spec(1));
  cluster.disconnect(0);
  const Time end = cluster.now + seconds{10};
  (void)cluster.tick(seconds{60});
  cluster.connect(0, {{.key = key, .phase = NodePhase::kEnded, .end = ended(end, well())}});
  CHECK(cluster.job(key.job)->attempt->ended_at == end);
}

TEST_CASE("an order to start that was lost is given again") {
  Cluster cluster;
  cluster.connect_all();
  const JobId id = cluster.submit(spec(1));
  (void)cluster.tick();
  const AttemptKey key = cluster.job(id)->attempt->key;
  cluster.from(0, AttemptReady{key, 1});
  (void)cluster.tick();
  cluster.connect(0, {{.key = key, .phase = NodePhase::kReady, .port = 1}});
  CHECK(sent<StartAttempt>(cluster.tick()).size() == 1);
}

TEST_CASE("an order to prepare that was lost is given again") {
  Cluster cluster;
  cluster.connect_all();
  cluster.submit(spec(1));
  (void)cluster.tick();
  cluster.connect(0);
  CHECK(sent<Prepare>(cluster.tick()).size() == 1);
}

TEST_CASE("a rebooted node ends its run everywhere, and the job runs again") {
  Cluster cluster;
  cluster.connect_all();
  const AttemptKey key = cluster.run(spec(2));
  cluster.connect(0, {}, "another boot");
  const auto ends = sent<EndAttempt>(cluster.tick());
  REQUIRE(ends.size() == 1);
  CHECK(ends[0].first == NodeId{1});
  CHECK(ends[0].second.cause.code == CauseCode::kNodeLost);
  CHECK(cluster.job(key.job)->state == JobState::kCompleting);
  cluster.from(1, AttemptEnded{key, ended(cluster.now, ends[0].second.cause)});
  CHECK(cluster.job(key.job)->state == JobState::kPending);
  CHECK(cluster.job(key.job)->retries.node == 1);
}

TEST_CASE("silence of a node ends nothing and starts nothing twice") {
  Cluster cluster;
  cluster.connect_all();
  const AttemptKey key = cluster.run(spec(2));
  cluster.disconnect(0);
  for (int i = 0; i < 100; ++i) CHECK(cluster.tick(seconds{60}).sends.empty());
  CHECK(cluster.job(key.job)->state == JobState::kRunning);
}

TEST_CASE("after a failure a silent node that may still run ranks holds up the next attempt") {
  Cluster cluster;
  cluster.connect_all();
  const AttemptKey key = cluster.run(spec(2));
  cluster.disconnect(0);
  const Cause lost{.actor = Actor::kNode, .code = CauseCode::kStepLost, .node = "hgx02"};
  cluster.from(1, AttemptEnded{key, ended(cluster.now, lost)});
  for (int i = 0; i < 10; ++i) (void)cluster.tick(seconds{60});
  CHECK(cluster.job(key.job)->state == JobState::kCompleting);
  cluster.connect(0, {{.key = key, .phase = NodePhase::kRunning, .started = kStart}});
  CHECK(sent<EndAttempt>(cluster.tick()).size() == 1);
  cluster.from(0, AttemptEnded{key, ended(cluster.now, lost)});
  CHECK(cluster.job(key.job)->state == JobState::kPending);
}

TEST_CASE("a node lost while it prepared does not hold up a cancel") {
  Cluster cluster;
  cluster.connect_all();
  const JobId id = cluster.submit(spec(2));
  (void)cluster.tick();
  const AttemptKey key = cluster.job(id)->attempt->key;
  cluster.disconnect(0);
  REQUIRE(cluster.cancel(kAlice, id));
  const Cause cause = sent<EndAttempt>(cluster.pending()).at(0).second.cause;
  cluster.from(1, AttemptEnded{key, {.ended = cluster.now, .cause = cause}});
  (void)cluster.tick(seconds{91});
  CHECK(cluster.job(id)->state == JobState::kCancelled);
}

TEST_CASE("a job whose node is lost for good can be cancelled") {
  Cluster cluster;
  cluster.connect_all();
  const AttemptKey key = cluster.run(spec(2));
  cluster.disconnect(0);
  const Cause lost{.actor = Actor::kNode, .code = CauseCode::kStepLost, .node = "hgx01"};
  cluster.from(1, AttemptEnded{key, ended(cluster.now, lost)});
  (void)cluster.tick(seconds{600});
  REQUIRE(cluster.job(key.job)->state == JobState::kCompleting);
  REQUIRE(cluster.cancel(kAlice, key.job));
  CHECK(cluster.job(key.job)->state == JobState::kCancelled);
}

TEST_CASE("a silent node holds up a repetition for the application's sake as well") {
  Cluster cluster;
  cluster.connect_all();
  JobSpec again = spec(2);
  again.retries.application = 1;
  const AttemptKey key = cluster.run(again);
  cluster.disconnect(0);
  cluster.from(1, AttemptEnded{key, ended(cluster.now, {.actor = Actor::kApplication,
                                                        .code = CauseCode::kExit,
                                                        .node = "hgx02",
                                                        .rank = 1,
                                                        .exit_code = 3})});
  for (int i = 0; i < 10; ++i) (void)cluster.tick(seconds{60});
  CHECK(cluster.job(key.job)->state == JobState::kCompleting);
}

TEST_CASE(
    "a gang that ended well is completed although one of its nodes is lost before it says so") {
  Cluster cluster;
  cluster.connect_all();
  const AttemptKey key = cluster.run(spec(2));
  cluster.disconnect(0);
  cluster.from(1, AttemptEnded{key, ended(cluster.now, well())});
  (void)cluster.tick(seconds{60});
  CHECK(cluster.job(key.job)->state == JobState::kCompleted);
}

TEST_CASE("a limit is kept by a controller that was started during the run") {
  Cluster before;
  before.connect_all();
  JobSpec limited = spec(1);
  limited.time_limit = seconds{1000};
  const AttemptKey key = before.run(limited);
  Cluster after(stored_of(before, key.job));
  for (std::uint32_t node = 0; node < 4; ++node) {
    std::vector<HeldAttempt> held;
    if (node == 0) held.push_back({.key = key, .phase = NodePhase::kRunning, .started = kStart});
    after.connect(node, held);
  }
  CHECK(sent<EndAttempt>(after.tick(seconds{900})).empty());
  CHECK(sent<EndAttempt>(after.tick(seconds{300})).size() == 1);
}

TEST_CASE("a job that names nodes waits when none of them is configured any more") {
  Cluster before;
  JobSpec named = spec(1);
  named.nodes_wanted = {"hgx02"};
  const JobId id = before.submit(named);
  StoredState stored = stored_of(before, id);
  auto gone = std::make_shared<JobSpec>(*stored.jobs[0].spec);
  gone->nodes_wanted = {"gone01"};
  stored.jobs[0].spec = gone;
  Cluster after(std::move(stored));
  after.connect_all();
  (void)after.tick();
  CHECK(after.job(id)->state == JobState::kPending);
}

TEST_CASE("a cause that this version does not know is no success") {
  Cluster cluster;
  cluster.connect_all();
  const AttemptKey key = cluster.run(spec(1));
  cluster.from(0, AttemptEnded{key, ended(cluster.now,
                                          {.actor = Actor::kSystem, .code = CauseCode::kUnknown})});
  CHECK(cluster.job(key.job)->state == JobState::kFailed);
}

TEST_CASE("a node with processes that cannot be killed is not used before its reboot") {
  Cluster cluster;
  cluster.connect_all();
  const AttemptKey key = cluster.run(spec(1));
  NodeEnd end = ended(cluster.now, {.actor = Actor::kUser, .code = CauseCode::kCancel});
  end.leftovers = true;
  cluster.from(0, AttemptEnded{key, end});
  CHECK(node_state_name(cluster.core().snapshot(cluster.now)->nodes[0]) == "drained");
  cluster.connect(0);
  CHECK(node_state_name(cluster.core().snapshot(cluster.now)->nodes[0]) == "drained");
  cluster.connect(0, {}, "another boot");
  CHECK(node_state_name(cluster.core().snapshot(cluster.now)->nodes[0]) == "idle");
}

TEST_CASE("what a node still runs of a job that was given up is ended before the node is used") {
  Cluster cluster;
  cluster.connect_all();
  const AttemptKey key = cluster.run(spec(1));
  cluster.disconnect(0);
  REQUIRE(cluster.cancel(kAlice, key.job));
  (void)cluster.tick(seconds{91});
  REQUIRE(cluster.job(key.job)->state == JobState::kCancelled);
  const JobId next = cluster.submit(spec(4));
  cluster.connect(0, {{.key = key, .phase = NodePhase::kRunning, .started = kStart}});
  const Effects effects = cluster.tick();
  REQUIRE(sent<EndAttempt>(effects).size() == 1);
  CHECK(sent<EndAttempt>(effects)[0].second.immediately);
  CHECK(cluster.job(next)->state == JobState::kPending);
  cluster.from(0, AttemptEnded{key, {.ended = cluster.now}});
  (void)cluster.tick();
  CHECK(cluster.job(next)->state == JobState::kPreparing);
}

TEST_CASE("attempts of jobs that the store has never heard of are left alone") {
  Cluster cluster;
  const AttemptKey unknown{JobId{77}, TaskIndex{0}, AttemptNo{1}};
  cluster.connect(0, {{.key = unknown, .phase = NodePhase::kRunning, .started = kStart}});
  CHECK(cluster.tick().sends.empty());
}

TEST_CASE(
    "a job whose row cannot be read goes on, and its end is kept for whoever repairs the row") {
  StoredState stored;
  stored.last_job = JobId{9};
  stored.unreadable = {JobId{7}};
  Cluster cluster(std::move(stored));
  const AttemptKey key{JobId{7}, TaskIndex{0}, AttemptNo{1}};
  cluster.connect(0, {{.key = key, .phase = NodePhase::kRunning, .started = kStart}});
  CHECK(cluster.tick().sends.empty());
  cluster.from(0, AttemptEnded{key, ended(cluster.now, well())});
  CHECK(cluster.tick().sends.empty());
}

TEST_CASE("messages of a session that was replaced are not heard") {
  Cluster cluster;
  cluster.connect_all();
  const JobId id = cluster.submit(spec(1));
  (void)cluster.tick();
  const AttemptKey key = cluster.job(id)->attempt->key;
  cluster.connect(0, {{.key = key, .phase = NodePhase::kPreparing}});
  cluster.core().agent_message(SessionId{101}, AttemptReady{key, 1}, cluster.now);
  CHECK(cluster.job(id)->attempt->parts[0].phase == NodePhase::kPreparing);
  cluster.core().agent_lost(SessionId{101}, cluster.now);
  CHECK(cluster.core().snapshot(cluster.now)->nodes[0].contact == NodeContact::kUp);
}

TEST_CASE("a node with fewer GPUs than configured is not used, and is again when they are back") {
  Cluster cluster;
  AgentHello hello = cluster.hello(0);
  hello.inventory.resources.gpus = 7;
  REQUIRE(cluster.core().agent_connected(SessionId{1}, hello, cluster.now));
  Node node = cluster.core().snapshot(cluster.now)->nodes[0];
  CHECK(node_state_name(node) == "drained");
  REQUIRE(node.drains.size() == 1);
  CHECK(describe(node.drains[0]) == "hardware: 7 of 8 GPUs (artel-ctld)");
  REQUIRE(cluster.core().agent_connected(SessionId{2}, cluster.hello(0), cluster.now));
  node = cluster.core().snapshot(cluster.now)->nodes[0];
  CHECK(node_state_name(node) == "idle");
}
