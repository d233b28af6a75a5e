#include "noded/core/agent.h"

#include <catch2/catch.hpp>

using namespace artel;
using namespace artel::noded;

namespace {

constexpr Time kNow{std::chrono::hours{1'000'000}};
const AttemptKey kFirst{JobId{1}, TaskIndex{0}, AttemptNo{1}};
const AttemptKey kSecond{JobId{1}, TaskIndex{0}, AttemptNo{2}};

Agent make(std::vector<AttemptRecord> records = {}) {
  return Agent({.node = "hgx01", .inventory = {}}, std::move(records), kNow);
}

Prepare prepare(const AttemptKey& key) { return {LaunchSpec{.key = key, .nodes = {"hgx01"}}}; }

StepStatus status(const AttemptKey& key, NodePhase phase) {
  StepStatus out{.key = key, .phase = phase};
  if (phase == NodePhase::kReady) out.port = 4711;
  if (phase == NodePhase::kRunning) out.started = kNow;
  if (phase == NodePhase::kEnded)
    out.end = NodeEnd{.started = kNow,
                      .ended = kNow,
                      .cause = {.actor = Actor::kApplication, .code = CauseCode::kExit}};
  return out;
}

AttemptRecord record(const AttemptKey& key, NodePhase phase) {
  AttemptRecord out{.spec = prepare(key).spec, .phase = phase};
  if (phase == NodePhase::kEnded) out.end = NodeEnd{.ended = kNow};
  return out;
}

/// An agent whose step is in this phase, with all effects taken.
Agent running(NodePhase phase) {
  Agent agent = make();
  (void)agent.connected();
  agent.controller_message(prepare(kFirst), kNow, {});
  if (phase >= NodePhase::kReady) agent.step_status(status(kFirst, NodePhase::kReady), kNow);
  if (phase >= NodePhase::kRunning) {
    agent.controller_message(StartAttempt{kFirst, {}}, kNow, {});
    agent.step_status(status(kFirst, NodePhase::kRunning), kNow);
  }
  if (phase == NodePhase::kEnded) agent.step_status(status(kFirst, NodePhase::kEnded), kNow);
  (void)agent.take_effects();
  return agent;
}

}  // namespace

TEST_CASE("an attempt is on disk before its step daemon is started") {
  Agent agent = make();
  (void)agent.connected();
  agent.controller_message(prepare(kFirst), kNow, {});
  const Effects effects = agent.take_effects();
  REQUIRE(effects.saves.size() == 1);
  CHECK(effects.saves[0].record.spec.key == kFirst);
  CHECK(effects.spawns.size() == 1);
}

TEST_CASE("commands may come twice") {
  Agent agent = running(NodePhase::kReady);
  agent.controller_message(prepare(kFirst), kNow, {});
  Effects effects = agent.take_effects();
  CHECK(effects.spawns.empty());
  REQUIRE(effects.controller_sends.size() == 1);
  CHECK(std::get<AttemptReady>(effects.controller_sends[0]).port == 4711);
  agent.controller_message(StartAttempt{kFirst, {}}, kNow, {});
  agent.controller_message(StartAttempt{kFirst, {}}, kNow, {});
  effects = agent.take_effects();
  CHECK(effects.step_sends.size() == 1);
}

TEST_CASE("an older attempt is refused, a newer one waits until the older has ended") {
  Agent agent = make();
  (void)agent.connected();
  agent.controller_message(prepare(kSecond), kNow, {});
  agent.controller_message(prepare(kFirst), kNow, {});
  const Effects effects = agent.take_effects();
  CHECK(effects.spawns.size() == 1);
  REQUIRE(effects.controller_sends.size() == 1);
  CHECK(std::get<AttemptRefused>(effects.controller_sends[0]).cause.code ==
        CauseCode::kPrepareRefused);

  Agent busy = running(NodePhase::kRunning);
  busy.controller_message(prepare(kSecond), kNow, {});
  CHECK(busy.take_effects().spawns.empty());
}

TEST_CASE("an end is kept and reported at each connect until it is forgotten") {
  Agent agent = running(NodePhase::kEnded);
  agent.disconnected();
  CHECK(agent.take_effects().saves.at(0).sync);
  for (int i = 0; i < 2; ++i) {
    const AgentHello hello = agent.connected();
    REQUIRE(hello.attempts.size() == 1);
    CHECK(hello.attempts[0].phase == NodePhase::kEnded);
    CHECK(hello.attempts[0].end.has_value());
  }
  agent.controller_message(ForgetAttempt{kFirst}, kNow, {});
  const Effects effects = agent.take_effects();
  CHECK(effects.drops.size() == 1);
  CHECK(std::holds_alternative<StepForget>(effects.step_sends.at(0).message));
  CHECK(agent.connected().attempts.empty());
}

TEST_CASE("a living attempt is not forgotten") {
  Agent agent = running(NodePhase::kRunning);
  agent.controller_message(ForgetAttempt{kFirst}, kNow, {});
  CHECK(agent.take_effects().drops.empty());
  CHECK(agent.connected().attempts.size() == 1);
}

TEST_CASE("silence of the controller ends nothing") {
  Agent agent = running(NodePhase::kRunning);
  agent.disconnected();
  const Effects effects = agent.take_effects();
  CHECK(effects.step_sends.empty());
  CHECK(effects.sweeps.empty());
}

TEST_CASE("an end while the controller is away is made durable at once") {
  Agent agent = running(NodePhase::kRunning);
  agent.disconnected();
  agent.step_status(status(kFirst, NodePhase::kEnded), kNow);
  const Effects effects = agent.take_effects();
  REQUIRE_FALSE(effects.saves.empty());
  CHECK(effects.saves.back().sync);
  CHECK(effects.controller_sends.empty());
}

TEST_CASE("an attempt that is unknown here counts as ended") {
  Agent agent = make();
  (void)agent.connected();
  agent.controller_message(
      EndAttempt{kFirst, {.actor = Actor::kUser, .code = CauseCode::kCancel}, false}, kNow, {});
  CHECK(std::get<AttemptEnded>(agent.take_effects().controller_sends.at(0)).end.cause.code ==
        CauseCode::kCancel);
}

TEST_CASE("a dead step daemon is reported only when nothing of the attempt is left") {
  Agent agent = running(NodePhase::kRunning);
  agent.step_lost(kFirst, "its socket was closed", kNow);
  Effects effects = agent.take_effects();
  CHECK(effects.sweeps.size() == 1);
  CHECK(effects.controller_sends.empty());
  agent.swept(kFirst, kNow);
  effects = agent.take_effects();
  CHECK(std::get<AttemptEnded>(effects.controller_sends.at(0)).end.cause.code ==
        CauseCode::kStepLost);
}

TEST_CASE("a restarted agent adopts what runs and connects when it knows all of it") {
  Agent agent = make({record(kFirst, NodePhase::kRunning)});
  CHECK_FALSE(agent.settled());
  CHECK(agent.take_effects().adopts.size() == 1);
  agent.step_status(status(kFirst, NodePhase::kRunning), kNow);
  CHECK(agent.settled());
  const AgentHello hello = agent.connected();
  CHECK(hello.attempts.at(0).phase == NodePhase::kRunning);
  CHECK(hello.attempts.at(0).started == kNow);
}

TEST_CASE(
    "a restarted agent that was about to start reports ready, so that the start is ordered again") {
  Agent agent = make({record(kFirst, NodePhase::kReady)});
  (void)agent.take_effects();
  agent.step_status(status(kFirst, NodePhase::kReady), kNow);
  CHECK(agent.connected().attempts.at(0).phase == NodePhase::kReady);
}

TEST_CASE("what was being prepared when the agent died is refused, not left half prepared") {
  Agent agent = make({record(kFirst, NodePhase::kPreparing)});
  (void)agent.take_effects();
  agent.step_status(status(kFirst, NodePhase::kPreparing), kNow);
  const Effects effects = agent.take_effects();
  CHECK(std::get<StepStop>(effects.step_sends.at(0).message).immediately);
}
