// Whom a node has heard, what it says of others, and when it must stop by itself.
#include "noded/core/contacts.h"

#include <catch2/catch.hpp>

#include "noded/core/agent.h"

using namespace artel;
using namespace artel::noded;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

const std::vector<ProbePeer> kPeers = {{"n2", "10.0.0.2", 7819, ""}, {"n3", "10.0.0.3", 7819, ""}};

PeerState said(const Contacts& contacts, const std::string& node, Duration up) {
  return contacts.answer({node, {}}, up).state;
}

}  // namespace

TEST_CASE("the lease lasts from the sending of what was answered last, by anybody") {
  Contacts contacts(kPeers, "b1", std::nullopt, seconds{100});
  CHECK_FALSE(contacts.lapsed(seconds{100} + kLease - milliseconds{1}));
  CHECK(contacts.lapsed(seconds{100} + kLease));
  contacts.controller_answered(seconds{110});
  CHECK_FALSE(contacts.lapsed(seconds{129}));
  contacts.peer_answered("n3", seconds{115}, seconds{118});
  CHECK_FALSE(contacts.lapsed(seconds{134}));
  CHECK(contacts.lapsed(seconds{135}));
  contacts.controller_answered(seconds{112});  // late
  CHECK(contacts.lapsed(seconds{135}));
}

TEST_CASE("what comes from others proves nothing about what reaches them") {
  Contacts contacts(kPeers, "b1", std::nullopt, seconds{0});
  for (int i = 1; i < 30; ++i) CHECK(contacts.peer_probed("n2", seconds{i}));
  CHECK(contacts.lapsed(seconds{29}));
  contacts.peer_answered("n9", seconds{29}, seconds{29});
  CHECK(contacts.lapsed(seconds{29}));
}

TEST_CASE("a node without probe peers never stops by itself") {
  CHECK_FALSE(Contacts({}, "b1", std::nullopt, seconds{0}).lapsed(seconds{1'000'000}));
}

TEST_CASE("a peer is alive, without agent, silent or not watched") {
  Contacts contacts(kPeers, "b1", std::nullopt, seconds{0});
  CHECK_FALSE(contacts.peer_probed("n9", seconds{1}));
  CHECK(said(contacts, "n9", seconds{1}) == PeerState::kNotWatched);
  CHECK(contacts.peer_probed("n2", seconds{10}));
  contacts.peer_refused("n3", seconds{10}, seconds{10});
  CHECK(said(contacts, "n2", seconds{11}) == PeerState::kAlive);
  CHECK(said(contacts, "n3", seconds{11}) == PeerState::kNoAgent);
  CHECK(said(contacts, "n3", seconds{15}) == PeerState::kSilent);
  const PeerSeen seen = contacts.answer({"n2", Time{seconds{7}}}, seconds{40});
  CHECK(seen.state == PeerState::kSilent);
  CHECK(seen.silent_for == seconds{30});
  CHECK(seen.asked == Time{seconds{7}});
}

TEST_CASE("of a new peer nothing is said of the time before it was watched") {
  Contacts contacts(kPeers, "b1", std::nullopt, seconds{0});
  contacts.watch({kPeers[0], {"n4", "10.0.0.4", 7819, ""}}, seconds{50});
  CHECK(contacts.answer({"n2", {}}, seconds{60}).silent_for == seconds{60});
  CHECK(contacts.answer({"n4", {}}, seconds{60}).silent_for == seconds{10});
  CHECK(said(contacts, "n3", seconds{60}) == PeerState::kNotWatched);
}

TEST_CASE("an agent that nobody answers kills its attempts once, before others may run them") {
  const AttemptKey key{JobId{1}, TaskIndex{0}, AttemptNo{1}};
  Agent agent({.node = "n1", .inventory = {}, .peers = kPeers, .up = seconds{0}}, {}, Time{});
  (void)agent.connected();
  agent.controller_message(Prepare{LaunchSpec{.key = key, .nodes = {"n1"}}}, Time{}, seconds{0});
  agent.step_status({.key = key, .phase = NodePhase::kReady}, Time{});
  agent.controller_message(StartAttempt{key, {}}, Time{}, seconds{0});
  agent.step_status({.key = key, .phase = NodePhase::kRunning, .started = Time{}}, Time{});
  (void)agent.take_effects();
  agent.tick(seconds{19});
  CHECK(agent.take_effects().step_sends.empty());
  agent.tick(seconds{20});
  const Effects effects = agent.take_effects();
  REQUIRE(effects.step_sends.size() == 1);
  const auto& stop = std::get<StepStop>(effects.step_sends[0].message);
  CHECK(stop.immediately);
  CHECK(stop.cause.code == CauseCode::kNodeLost);
  agent.tick(seconds{21});
  CHECK(agent.take_effects().step_sends.empty());
}

TEST_CASE("a new agent process goes on with the lease of the earlier one") {
  Contacts before(kPeers, "b1", std::nullopt, seconds{0});
  before.controller_answered(seconds{100});
  SECTION("cut off before and back soon: it ends when the earlier one would have") {
    const Contacts after(kPeers, "b1", before.keep(seconds{115}), seconds{118});
    CHECK_FALSE(after.lapsed(seconds{119}));
    CHECK(after.lapsed(seconds{120}));
  }
  SECTION("in contact before and away for long: it has a few seconds to hear somebody") {
    Contacts after(kPeers, "b1", before.keep(seconds{101}), seconds{900});
    CHECK_FALSE(after.lapsed(seconds{904}));
    CHECK(after.lapsed(seconds{905}));
    after.peer_answered("n2", seconds{903}, seconds{903});
    CHECK_FALSE(after.lapsed(seconds{922}));
  }
  SECTION("of another boot: nothing runs that it could end") {
    const Contacts after(kPeers, "b2", before.keep(seconds{115}), seconds{130});
    CHECK_FALSE(after.lapsed(seconds{149}));
  }
}

TEST_CASE("a refused probe renews the lease only after the peer's goodbye") {
  Contacts contacts(kPeers, "b1", std::nullopt, seconds{0});
  for (int i = 1; i < 30; ++i) contacts.peer_refused("n2", seconds{i}, seconds{i});
  CHECK(contacts.lapsed(seconds{20}));
  contacts.peer_left("n2", seconds{30}, seconds{30});
  contacts.peer_refused("n2", seconds{35}, seconds{35});
  CHECK_FALSE(contacts.lapsed(seconds{54}));
  SECTION("also for the next agent process") {
    Contacts after(kPeers, "b1", contacts.keep(seconds{36}), seconds{900});
    after.peer_refused("n2", seconds{901}, seconds{901});
    CHECK_FALSE(after.lapsed(seconds{920}));
  }
  SECTION("until it is heard again") {
    CHECK(contacts.peer_probed("n2", seconds{36}));
    contacts.peer_refused("n2", seconds{50}, seconds{50});
    CHECK(contacts.lapsed(seconds{55}));
  }
}

TEST_CASE("after its goodbye an agent calls no peer silent that has not answered it") {
  Contacts before(kPeers, "b1", std::nullopt, seconds{0});
  CHECK(said(before, "n2", seconds{50}) == PeerState::kSilent);
  before.leave();
  Contacts after(kPeers, "b2", before.keep(seconds{51}), seconds{0});
  CHECK(said(after, "n2", seconds{50}) == PeerState::kNotHeard);
  CHECK(after.peer_probed("n2", seconds{51}));  // does not prove that it hears us
  CHECK(said(after, "n2", seconds{60}) == PeerState::kNotHeard);
  CHECK_FALSE(after.has_news());
  after.peer_answered("n2", seconds{61}, seconds{61});
  CHECK(after.has_news());
  CHECK(after.keep(seconds{61}).told == std::set<std::string>{"n3"});
  CHECK(said(after, "n2", seconds{70}) == PeerState::kSilent);
}

TEST_CASE("new probe peers are kept before they are told to be in force") {
  Agent agent({.node = "n1", .inventory = {}}, {}, Time{});
  (void)agent.connected();
  agent.controller_message(WatchPeers{kPeers}, Time{}, seconds{1});
  const Effects effects = agent.take_effects();
  REQUIRE(effects.peers);
  CHECK(effects.peers->peers == kPeers);
  REQUIRE(effects.controller_sends.size() == 1);
  CHECK(std::get<PeersWatched>(effects.controller_sends[0]).peers ==
        std::vector<std::string>{"n2", "n3"});
  CHECK(agent.connected().peers == std::vector<std::string>{"n2", "n3"});
}
