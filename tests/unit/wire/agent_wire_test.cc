// Messages between controller and agent survive the way there, and bad ones do not get in.
#include "wire/agent_wire.h"

#include <catch2/catch.hpp>
#include <string>
#include <variant>
#include <vector>

namespace artel::wire {
namespace {

const AttemptKey kKey{JobId{17}, TaskIndex{0}, AttemptNo{2}};

Cause some_cause() {
  return {.actor = Actor::kApplication,
          .code = CauseCode::kSignal,
          .actor_name = "alice",
          .node = "n1",
          .rank = 3,
          .exit_code = -1,
          .signal = 9,
          .text = "rank 3 was killed"};
}

NodeEnd some_end() {
  return {.started = time_from_ms(1000),
          .ended = time_from_ms(2000),
          .cause = some_cause(),
          .is_origin = true,
          .cpu_ms = 77,
          .max_rss = Bytes{1ULL << 33U}};
}

LaunchSpec some_launch() {
  LaunchSpec spec;
  spec.key = kKey;
  spec.cluster = "c";
  spec.job_name = "train";
  spec.owner = {1001, 1001, "alice"};
  spec.launch = LaunchKind::kPmix;
  spec.nodes = {"n1", "n2"};
  spec.node_index = 1;
  spec.ranks_per_node = 4;
  spec.argv = {"/bin/echo", "a b", std::string("\xff")};
  spec.environment = {{"A", "1"}, {"B", ""}};
  spec.working_directory = "/home/alice";
  spec.output = "/home/alice/out";
  spec.time_limit = Duration{60'000};
  spec.grace = Duration{2000};
  spec.gpus = {0, 3};
  spec.cpus = 8;
  spec.memory = Bytes{1ULL << 34U};
  spec.master_port = 29400;
  spec.step_key = std::string(32, '\0');
  return spec;
}

TEST_CASE("each command comes out as it went in") {
  const std::vector<ToAgent> commands = {
      Prepare{some_launch()},
      StartAttempt{kKey, {{"n1", "10.0.0.1", 4711}, {"n2", "10.0.0.2", 1}}},
      EndAttempt{kKey, some_cause(), true},
      EndAttempt{kKey, {}, false},
      ForgetAttempt{kKey},
      WatchPeers{{{"n2", "10.0.0.2", 7819, std::string("\0key", 4)}}},
      AskPeer{"n2", time_from_ms(5)}};
  for (const ToAgent& command : commands) {
    v1::ControllerMessage message;
    to_proto(command, message);
    const auto back = from_proto(message);
    REQUIRE(back);
    CHECK(*back == command);
  }
}

TEST_CASE("each event comes out as it went in") {
  const std::vector<FromAgent> events = {
      AttemptReady{kKey, 65535},
      AttemptRefused{kKey, some_cause()},
      AttemptStarted{kKey, time_from_ms(1234)},
      AttemptEnded{kKey, some_end()},
      PeersWatched{{"n2", "n3"}},
      PeerSeen{"n2", time_from_ms(5), PeerState::kSilent, Duration{30}}};
  for (const FromAgent& event : events) {
    v1::AgentMessage message;
    to_proto(event, message);
    const auto back = from_proto(message);
    REQUIRE(back);
    CHECK(*back == event);
  }
}

AgentHello some_hello() {
  AgentHello hello;
  hello.node = "n1";
  hello.inventory = {"boot", {16, Bytes{1ULL << 36U}, "h100", 8}, true, "0.1", "cgroup2", 4242,
                     7819};
  hello.peers = {"n2"};
  hello.attempts = {{kKey, NodePhase::kReady, 4711, {}, {}},
                    {kKey, NodePhase::kRunning, 4711, time_from_ms(5), {}},
                    {kKey, NodePhase::kEnded, 0, time_from_ms(5), some_end()}};
  return hello;
}

TEST_CASE("the full state of a node comes out as it went in") {
  v1::AgentProof message;
  to_proto(some_hello(), message);
  const auto back = from_proto("n1", message);
  REQUIRE(back);
  CHECK(*back == some_hello());
}

void refused(const v1::AgentMessage& message) {
  const auto event = from_proto(message);
  REQUIRE_FALSE(event);
  CHECK(event.error().code == ErrorCode::kProtocol);
}

TEST_CASE("an event that names no attempt is refused") {
  v1::AgentMessage message;
  message.mutable_ready()->set_port(1);
  refused(message);
  message.mutable_ready()->mutable_key()->set_job(17);
  refused(message);  // no attempt number
  message.mutable_ended()->mutable_end();
  refused(message);
}

TEST_CASE("a port over 65535 is refused") {
  v1::AgentMessage message;
  to_proto(FromAgent(AttemptReady{kKey, 1}), message);
  message.mutable_ready()->set_port(65536);
  refused(message);
}

TEST_CASE("a state of a peer that this version does not know is refused") {
  v1::AgentMessage message;
  to_proto(FromAgent(PeerSeen{"n2", {}, PeerState::kSilent, {}}), message);
  message.mutable_seen()->set_state(9);
  refused(message);
}

TEST_CASE("an end without its content is refused") {
  v1::AgentMessage message;
  to_proto(FromAgent(AttemptEnded{kKey, some_end()}), message);
  message.mutable_ended()->clear_end();
  refused(message);
}

TEST_CASE("what is no event or no command is refused") {
  refused({});
  v1::AgentMessage opening;
  opening.mutable_opening()->set_node("n1");
  refused(opening);
  CHECK_FALSE(from_proto(v1::ControllerMessage()));
  v1::ControllerMessage beat;
  beat.mutable_heartbeat()->set_sent_ms(1);
  CHECK_FALSE(from_proto(beat));
}

TEST_CASE("a held attempt in a phase that is not its own is refused") {
  v1::AgentProof good;
  to_proto(some_hello(), good);
  v1::AgentProof unknown_phase = good;
  unknown_phase.mutable_attempts(0)->set_phase(99);
  CHECK_FALSE(from_proto("n1", unknown_phase));
  v1::AgentProof ended_without_end = good;
  ended_without_end.mutable_attempts(2)->clear_end();
  CHECK_FALSE(from_proto("n1", ended_without_end));
  v1::AgentProof end_of_a_running_one = good;
  *end_of_a_running_one.mutable_attempts(1)->mutable_end() = good.attempts(2).end();
  CHECK_FALSE(from_proto("n1", end_of_a_running_one));
  v1::AgentProof no_inventory = good;
  no_inventory.clear_inventory();
  CHECK_FALSE(from_proto("n1", no_inventory));
}

}  // namespace
}  // namespace artel::wire
