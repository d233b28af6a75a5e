// When what ran on a silent node counts as gone: probe peers, operators, and when not.
#include <catch2/catch.hpp>

#include "harness.h"

namespace artel::ctld::test {
namespace {

using std::chrono::seconds;

AgentHello probing(const Cluster& cluster, std::uint32_t node, std::vector<HeldAttempt> held = {},
                   std::vector<std::string> peers = {}) {
  AgentHello out = cluster.hello(node, std::move(held));
  out.inventory.probe_port = static_cast<std::uint16_t>(7000 + node);
  out.peers = std::move(peers);
  return out;
}

std::vector<std::string> names_of(const std::vector<ProbePeer>& peers) {
  std::vector<std::string> out;
  for (const ProbePeer& peer : peers) out.push_back(peer.node);
  return out;
}

/// Four nodes that exchange probes and have told so.
class Probing {
 public:
  explicit Probing(StoredState stored = {}) : cluster(std::move(stored)) {
    for (std::uint32_t node = 0; node < 4; ++node) connect(node);
    const Effects effects = cluster.tick(seconds{1});
    watched = sent<WatchPeers>(effects);
    for (const auto& [node, message] : watched)
      cluster.core().agent_message(session(node.value), PeersWatched{names_of(message.peers)},
                                   cluster.now);
    rows = cluster.core().take_effects().writes;
  }

  void connect(std::uint32_t node, std::vector<HeldAttempt> held = {}) {
    sessions[node] += 10;
    REQUIRE(cluster.core().agent_connected(session(node), probing(cluster, node, std::move(held)),
                                           cluster.now));
  }
  [[nodiscard]] SessionId session(std::uint32_t node) const {
    return SessionId{1000 + node + sessions[node]};
  }
  void disconnect(std::uint32_t node) { cluster.core().agent_lost(session(node), cluster.now); }
  void from(std::uint32_t node, const FromAgent& message) {
    cluster.core().agent_message(session(node), message, cluster.now);
  }
  AttemptKey run(JobSpec what) {
    const JobId id = cluster.submit(std::move(what));
    (void)cluster.tick(seconds{1});
    const AttemptKey key = cluster.job(id)->attempt->key;
    const std::vector<NodePart> parts = cluster.job(id)->attempt->parts;
    for (const NodePart& part : parts) from(part.share.node.value, AttemptReady{key, 4000});
    for (const NodePart& part : parts)
      from(part.share.node.value, AttemptStarted{key, cluster.now});
    (void)cluster.core().take_effects();
    return key;
  }
  /// What the peers of the first node say when they are asked.
  Effects say(const Effects& asked, PeerState state, Duration silent_for) {
    for (const auto& [node, question] : sent<AskPeer>(asked))
      from(node.value, PeerSeen{question.node, question.asked, state, silent_for});
    return cluster.core().take_effects();
  }
  Node node(std::size_t index) { return cluster.core().snapshot(cluster.now)->nodes.at(index); }

  Cluster cluster;
  std::vector<std::pair<NodeId, WatchPeers>> watched;
  std::vector<StoreWrite> rows;

 private:
  std::uint64_t sessions[4] = {};
};

TEST_CASE("nodes are given probe peers on both sides, and what they are told is stored") {
  Probing on;
  REQUIRE(on.watched.size() == 4);
  const auto& [node, message] = on.watched[0];
  CHECK(node == NodeId{0});
  CHECK(names_of(message.peers) == std::vector<std::string>{"hgx02", "hgx03", "hgx04"});
  CHECK(message.peers[0].address == "hgx02.ib");
  CHECK(message.peers[0].port == 7001);
  std::vector<std::string> stored;
  for (const StoreWrite& write : on.rows) {
    if (const auto* row = std::get_if<NodeRow>(&write); row != nullptr && row->name == "hgx01")
      stored = row->peers;
  }
  CHECK(stored == std::vector<std::string>{"hgx02", "hgx03", "hgx04"});
  CHECK(sent<WatchPeers>(on.cluster.tick(seconds{5})).empty());
}

TEST_CASE("a node that all its peers call silent is given up: its gang ends and runs elsewhere") {
  Probing on;
  const AttemptKey key = on.run(spec(2));
  on.disconnect(0);
  CHECK(sent<AskPeer>(on.cluster.tick(seconds{29})).empty());
  const Effects asked = on.cluster.tick(seconds{1});
  CHECK(sent<AskPeer>(asked).size() == 3);
  const Effects ends = on.say(asked, PeerState::kSilent, seconds{30});
  REQUIRE(sent<EndAttempt>(ends).size() == 1);
  CHECK(sent<EndAttempt>(ends)[0].first == NodeId{1});
  CHECK(sent<EndAttempt>(ends)[0].second.immediately);
  CHECK(sent<EndAttempt>(ends)[0].second.cause.node == "hgx01");
  CHECK(node_state_name(on.node(0)) == "down");
  CHECK(on.cluster.job(key.job)->state == JobState::kCompleting);
  on.from(1, AttemptEnded{key, {.ended = on.cluster.now}});
  (void)on.cluster.tick();
  const auto job = on.cluster.job(key.job);
  REQUIRE(job->state == JobState::kPreparing);
  CHECK(job->retries.node == 1);
  CHECK(job->excluded == std::vector<NodeId>{NodeId{0}});
  for (const NodePart& part : job->attempt->parts) CHECK(part.share.node != NodeId{0});
}

TEST_CASE("a node is not given up while anybody hears it, or its machine") {
  Probing on;
  const AttemptKey key = on.run(spec(2));
  on.disconnect(0);
  Effects asked = on.cluster.tick(seconds{30});
  const auto state = GENERATE(PeerState::kAlive, PeerState::kNoAgent, PeerState::kNotWatched);
  const auto questions = sent<AskPeer>(asked);
  REQUIRE(questions.size() == 3);
  for (std::uint32_t peer = 1; peer < 4; ++peer) {
    const bool hears = peer == 2;
    on.from(peer, PeerSeen{"hgx01", questions[0].second.asked, hears ? state : PeerState::kSilent,
                           hears ? seconds{1} : seconds{30}});
  }
  CHECK(on.cluster.job(key.job)->state == JobState::kRunning);
  for (int i = 0; i < 20; ++i) asked = on.cluster.tick(seconds{5});
  CHECK(on.cluster.job(key.job)->state == JobState::kRunning);
}

TEST_CASE("nothing is concluded while one of the peers is out of contact itself") {
  Probing on;
  const AttemptKey key = on.run(spec(2));
  on.disconnect(0);
  on.disconnect(3);
  for (int i = 0; i < 20; ++i) CHECK(sent<AskPeer>(on.cluster.tick(seconds{5})).empty());
  CHECK(on.cluster.job(key.job)->state == JobState::kRunning);
  on.connect(3);
  const Effects asked = on.cluster.tick(seconds{5});
  // It has been listening for too short a time to say so.
  (void)on.say(asked, PeerState::kSilent, seconds{6});
  CHECK(on.cluster.job(key.job)->state == JobState::kRunning);
}

TEST_CASE("a node that has not said that it has peers is not given up by them") {
  Cluster cluster;
  const auto session = [](std::uint32_t node) { return SessionId{1000 + node}; };
  for (std::uint32_t node = 0; node < 4; ++node)
    REQUIRE(cluster.core().agent_connected(session(node), probing(cluster, node), cluster.now));
  const Effects dealt = cluster.tick(seconds{1});
  for (const auto& [node, message] : sent<WatchPeers>(dealt)) {
    if (node == NodeId{3}) continue;  // its answer is lost
    cluster.core().agent_message(session(node.value), PeersWatched{names_of(message.peers)},
                                 cluster.now);
  }
  cluster.core().agent_lost(session(3), cluster.now);
  CHECK(sent<AskPeer>(cluster.tick(seconds{60})).empty());
  REQUIRE(cluster.core().agent_connected(
      session(13), probing(cluster, 3, {}, names_of(sent<WatchPeers>(dealt).back().second.peers)),
      cluster.now));
  cluster.core().agent_lost(session(13), cluster.now);
  CHECK_FALSE(sent<AskPeer>(cluster.tick(seconds{60})).empty());
}

TEST_CASE("what peers said to an earlier question does not count") {
  Probing on;
  const AttemptKey key = on.run(spec(2));
  on.disconnect(0);
  const Effects first = on.cluster.tick(seconds{30});
  (void)on.cluster.tick(seconds{5});
  (void)on.say(first, PeerState::kSilent, seconds{100});
  CHECK(on.cluster.job(key.job)->state == JobState::kRunning);
}

TEST_CASE("a node that is back before its peers have answered goes on") {
  Probing on;
  const AttemptKey key = on.run(spec(2));
  on.disconnect(0);
  const Effects asked = on.cluster.tick(seconds{30});
  on.connect(0, {{.key = key, .phase = NodePhase::kRunning, .started = kStart}});
  (void)on.say(asked, PeerState::kSilent, seconds{30});
  CHECK(on.cluster.job(key.job)->state == JobState::kRunning);
}

TEST_CASE("ranks that failed because their peer's node was lost are not the application's fault") {
  Probing on;
  JobSpec gang = spec(2);
  const AttemptKey key = on.run(gang);
  on.disconnect(0);
  on.from(1, AttemptEnded{key, ended(on.cluster.now, {.actor = Actor::kApplication,
                                                      .code = CauseCode::kExit,
                                                      .node = "hgx02",
                                                      .exit_code = 1})});
  (void)on.say(on.cluster.tick(seconds{30}), PeerState::kSilent, seconds{30});
  CHECK(on.cluster.job(key.job)->retries.node == 1);
  CHECK(on.cluster.job(key.job)->state == JobState::kPending);
}

TEST_CASE("a job that has ended well everywhere else is not run again") {
  Probing on;
  const AttemptKey key = on.run(spec(2));
  on.disconnect(0);
  on.from(1, AttemptEnded{key, ended(on.cluster.now, well())});
  (void)on.say(on.cluster.tick(seconds{30}), PeerState::kSilent, seconds{30});
  CHECK(on.cluster.job(key.job)->state == JobState::kCompleted);
}

TEST_CASE("an operator's word gives up a node that is off, and none that is in contact") {
  Cluster cluster;
  cluster.connect_all();
  const AttemptKey key = cluster.run(spec(2));
  const auto say_off = [&] {
    cluster.core().drain(RequestId{9}, kOperator, {"hgx01"}, {.reason = "burnt", .is_off = true},
                         cluster.now);
    const Effects effects = cluster.core().take_effects();
    return std::get<NodeOutcomes>(effects.replies.at(0).body.value()).at(0).result;
  };
  const auto refused = say_off();
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::kWrongState);
  cluster.disconnect(0);
  REQUIRE(say_off());
  cluster.from(1, AttemptEnded{key, {.ended = cluster.now}});
  (void)cluster.tick(seconds{1});
  REQUIRE(cluster.job(key.job)->state == JobState::kPreparing);
  CHECK(cluster.core().snapshot(cluster.now)->nodes[0].drains.size() == 1);
  cluster.connect(0, {}, "another boot");
  CHECK(cluster.core().snapshot(cluster.now)->nodes[0].drains.empty());
}

TEST_CASE("a node that may hear one that is not configured any more is not given up by peers") {
  StoredState stored;
  NodeRow row{.name = "hgx01", .boot_id = "boot", .strikes = {}, .drains = {}};
  row.probe_port = 7000;
  row.peers = {"hgx02", "gone01"};
  stored.nodes = {row};
  Cluster cluster(std::move(stored));
  for (std::uint32_t node = 1; node < 4; ++node)
    REQUIRE(cluster.core().agent_connected(SessionId{node}, probing(cluster, node), cluster.now));
  for (int i = 0; i < 20; ++i) CHECK(sent<AskPeer>(cluster.tick(seconds{5})).empty());
}

}  // namespace
}  // namespace artel::ctld::test
