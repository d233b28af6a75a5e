#include "wire/step/step_wire.h"

#include <catch2/catch.hpp>
#include <string>

#include "peer.pb.h"
#include "step.pb.h"

using namespace artel;
using namespace artel::wire;

namespace {

const std::string kChallenge(32, '\x7f');
const std::string kProof("\xff\x00\x01 proof of thirty-two bytes....", 32);

LaunchSpec full_spec() {
  LaunchSpec spec;
  spec.key = {JobId{17}, TaskIndex{3}, AttemptNo{2}};
  spec.cluster = "alpha";
  spec.job_name = "train";
  spec.owner = {1000, 1001, "alice"};
  spec.launch = LaunchKind::kPmix;
  spec.nodes = {"hgx01", "hgx02"};
  spec.node_index = 1;
  spec.ranks_per_node = 8;
  spec.argv = {"train", "\xff\xfe", ""};
  spec.environment = {{"A", "1"}, {"EMPTY", ""}};
  spec.working_directory = "/home/alice";
  spec.output = "/home/alice/out";
  spec.time_limit = std::chrono::hours{1};
  spec.grace = std::chrono::seconds{30};
  spec.gpus = {0, 7};
  spec.cpus = 96;
  spec.memory = Bytes{1U << 30U};
  spec.master_port = 29500;
  spec.step_key = std::string("\0secret\xff", 8);
  return spec;
}

Cause full_cause() {
  return {.actor = Actor::kApplication,
          .code = CauseCode::kSignal,
          .actor_name = "alice",
          .node = "hgx02",
          .rank = 3,
          .exit_code = -1,
          .signal = 9,
          .text = "rank 3 on hgx02 was killed by signal 9 (KILL)"};
}

void same(const ToStep& message) {
  const auto back = decode_to_step(encode(message));
  REQUIRE(back);
  CHECK(*back == message);
}

void same(const FromStep& message) {
  const auto back = decode_from_step(encode(message));
  REQUIRE(back);
  CHECK(*back == message);
}

void same(const PeerMessage& message) {
  const auto back = decode_peer_message(encode(message));
  REQUIRE(back);
  CHECK(*back == message);
}

template <typename Result>
void refused(const Result& result) {
  REQUIRE_FALSE(result);
  CHECK(result.error().code == ErrorCode::kProtocol);
}

}  // namespace

TEST_CASE("each command to a step daemon survives the wire", "[wire]") {
  same(ToStep(StepPrepare{full_spec(), "/run/artel/step/17.3.2", true, std::nullopt}));
  same(ToStep(StepPrepare{full_spec(), "/run/artel/step/17.3.2", false,
                          UserAccount{"/home/alice", "/bin/zsh", {1001, 4}}}));
  same(ToStep(StepStart{{{"hgx01", "10.0.0.1", 40001}, {"hgx02", "10.0.0.2", 0}}}));
  same(ToStep(StepStop{full_cause(), true}));
  same(ToStep(StepForget{}));
}

TEST_CASE("each phase of a step daemon survives the wire", "[wire]") {
  const AttemptKey key{JobId{17}, TaskIndex{0}, AttemptNo{1}};
  same(FromStep{.key = key});
  same(FromStep{.key = key, .phase = NodePhase::kReady, .port = 65535});
  same(FromStep{.key = key, .phase = NodePhase::kRunning, .started = time_from_ms(1)});
  same(FromStep{.key = key,
                .phase = NodePhase::kEnded,
                .started = time_from_ms(5),
                .end = NodeEnd{.started = time_from_ms(5),
                               .ended = time_from_ms(9),
                               .cause = full_cause(),
                               .is_origin = true,
                               .cpu_ms = 77,
                               .max_rss = Bytes{4096}},
                .refused = true});
}

TEST_CASE("each message between step daemons survives the wire", "[wire]") {
  const AttemptKey key{JobId{17}, TaskIndex{0}, AttemptNo{1}};
  const std::string blob("\0\xff blob", 7);
  same(PeerMessage(PeerHello{1, key, 3, kChallenge}));
  same(PeerMessage(PeerWelcome{kChallenge, kProof}));
  same(PeerMessage(PeerProof{kProof}));
  same(PeerMessage(FencePart{"0,3", 4, true, -24, blob}));
  same(PeerMessage(ModexRequest{7, 2, 9}));
  same(PeerMessage(ModexReply{7, 2, -46, blob}));
  same(PeerMessage(GangAbort{full_cause()}));
  same(PeerMessage(GangDone{2}));
  same(PeerMessage(OutputLines{true, "line\xff\n"}));
  same(PeerMessage(OutputTaken{std::uint64_t{1} << 40U}));
}

TEST_CASE("bytes that are no message are refused", "[wire]") {
  for (const std::string bytes : {"\xff\xff\xff", "\x0a\x7f"}) {
    refused(decode_to_step(bytes));
    refused(decode_from_step(bytes));
    refused(decode_peer_message(bytes));
  }
}

TEST_CASE("a message of no known kind is refused", "[wire]") {
  refused(decode_to_step(""));
  refused(decode_peer_message(""));
  refused(decode_to_step("\xa2\x06\x01x"));  // field 100 of a later version
}

TEST_CASE("values out of their range are refused", "[wire]") {
  v1::StepStatus status;
  status.set_phase(6);
  refused(decode_from_step(status.SerializeAsString()));
  status.set_phase(1);
  status.set_port(65536);
  refused(decode_from_step(status.SerializeAsString()));
  v1::ToStep start;
  start.mutable_start()->add_peers()->set_port(65536);
  refused(decode_to_step(start.SerializeAsString()));
}

TEST_CASE("an ended step without its end is refused", "[wire]") {
  v1::StepStatus status;
  status.set_phase(static_cast<std::uint32_t>(NodePhase::kEnded));
  refused(decode_from_step(status.SerializeAsString()));
}

TEST_CASE("a running step without its start is refused", "[wire]") {
  v1::StepStatus status;
  status.set_phase(static_cast<std::uint32_t>(NodePhase::kRunning));
  refused(decode_from_step(status.SerializeAsString()));
}

TEST_CASE("proofs and challenges of a wrong length are refused", "[wire]") {
  v1::PeerMessage message;
  message.mutable_hello()->set_challenge(std::string(31, 'c'));
  refused(decode_peer_message(message.SerializeAsString()));
  message.mutable_welcome()->set_challenge(kChallenge);
  message.mutable_welcome()->set_proof("short");
  refused(decode_peer_message(message.SerializeAsString()));
  message.mutable_proof()->set_proof("");
  refused(decode_peer_message(message.SerializeAsString()));
}
