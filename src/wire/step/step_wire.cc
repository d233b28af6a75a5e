#include "wire/step/step_wire.h"

#include <limits>
#include <utility>

#include "peer.pb.h"
#include "step.pb.h"
#include "wire/step/types_wire.h"

namespace artel::wire {
namespace {

/// Length of challenges and of HMAC-SHA-256 proofs.
constexpr std::size_t kProofSize = 32;

std::unexpected<Error> bad(std::string_view what) {
  return fail(ErrorCode::kProtocol, "step protocol: " + std::string(what));
}

template <typename Message>
std::string serialized(const Message& message) {
  std::string out;
  message.SerializeToString(&out);
  return out;
}

template <typename Message>
bool parsed(std::string_view bytes, Message& out) {
  return bytes.size() <= static_cast<std::size_t>(std::numeric_limits<int>::max()) &&
         out.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

// Agent to step daemon ----------------------------------------------------------------------

void put(const StepPrepare& in, v1::ToStep& out) {
  v1::StepPrepare& body = *out.mutable_prepare();
  to_proto(in.spec, *body.mutable_spec());
  body.set_directory(in.directory);
  body.set_simulated_node(in.simulated_node);
  if (!in.account) return;
  v1::UserAccount& account = *body.mutable_account();
  account.set_home(in.account->home);
  account.set_shell(in.account->shell);
  account.mutable_groups()->Add(in.account->groups.begin(), in.account->groups.end());
}

void put(const StepStart& in, v1::ToStep& out) {
  v1::StepStart& body = *out.mutable_start();
  for (const StepPeer& peer : in.peers) to_proto(peer, *body.add_peers());
}

void put(const StepStop& in, v1::ToStep& out) {
  v1::StepStop& body = *out.mutable_stop();
  to_proto(in.cause, *body.mutable_cause());
  body.set_immediately(in.immediately);
}

void put(const StepForget&, v1::ToStep& out) { out.mutable_forget(); }

Result<ToStep> take(const v1::StepPrepare& in) {
  Result<LaunchSpec> spec = from_proto(in.spec());
  if (!spec) return fail(spec);
  StepPrepare out{std::move(*spec), in.directory(), in.simulated_node(), std::nullopt};
  if (in.has_account()) {
    const v1::UserAccount& account = in.account();
    out.account = UserAccount{.home = account.home(),
                              .shell = account.shell(),
                              .groups = {account.groups().begin(), account.groups().end()}};
  }
  return out;
}

Result<ToStep> take(const v1::StepStart& in) {
  StepStart out;
  out.peers.reserve(static_cast<std::size_t>(in.peers_size()));
  for (const v1::StepPeer& peer : in.peers()) {
    if (peer.port() > std::numeric_limits<std::uint16_t>::max()) {
      return bad("port " + std::to_string(peer.port()) + " of " + peer.node() + " is over 65535");
    }
    out.peers.push_back(from_proto(peer));
  }
  return out;
}

// Step daemon to step daemon ----------------------------------------------------------------

void put(const PeerHello& in, v1::PeerMessage& out) {
  v1::PeerHello& body = *out.mutable_hello();
  body.set_version(in.version);
  to_proto(in.key, *body.mutable_key());
  body.set_node_index(in.node_index);
  body.set_challenge(in.challenge);
}

void put(const PeerWelcome& in, v1::PeerMessage& out) {
  out.mutable_welcome()->set_challenge(in.challenge);
  out.mutable_welcome()->set_proof(in.proof);
}

void put(const PeerProof& in, v1::PeerMessage& out) { out.mutable_proof()->set_proof(in.proof); }

void put(const FencePart& in, v1::PeerMessage& out) {
  v1::FencePart& body = *out.mutable_fence();
  body.set_signature(in.signature);
  body.set_sequence(in.sequence);
  body.set_collect(in.collect);
  body.set_status(in.status);
  body.set_blob(in.blob);
}

void put(const ModexRequest& in, v1::PeerMessage& out) {
  v1::ModexRequest& body = *out.mutable_modex_request();
  body.set_request(in.request);
  body.set_from_node(in.from_node);
  body.set_rank(in.rank);
}

void put(const ModexReply& in, v1::PeerMessage& out) {
  v1::ModexReply& body = *out.mutable_modex_reply();
  body.set_request(in.request);
  body.set_to_node(in.to_node);
  body.set_status(in.status);
  body.set_blob(in.blob);
}

void put(const GangAbort& in, v1::PeerMessage& out) {
  to_proto(in.cause, *out.mutable_abort()->mutable_cause());
}

void put(const GangDone& in, v1::PeerMessage& out) {
  out.mutable_done()->set_node_index(in.node_index);
}

void put(const OutputLines& in, v1::PeerMessage& out) {
  out.mutable_output()->set_is_error(in.is_error);
  out.mutable_output()->set_bytes(in.bytes);
}

void put(const OutputTaken& in, v1::PeerMessage& out) { out.mutable_taken()->set_bytes(in.bytes); }

Result<PeerMessage> take_handshake(const v1::PeerMessage& in) {
  if (in.has_hello()) {
    const v1::PeerHello& hello = in.hello();
    if (hello.challenge().size() != kProofSize) return bad("a challenge must have 32 bytes");
    return PeerHello{hello.version(), from_proto(hello.key()), hello.node_index(),
                     hello.challenge()};
  }
  if (in.has_welcome()) {
    const v1::PeerWelcome& welcome = in.welcome();
    if (welcome.challenge().size() != kProofSize || welcome.proof().size() != kProofSize) {
      return bad("challenge and proof of a welcome must have 32 bytes each");
    }
    return PeerWelcome{welcome.challenge(), welcome.proof()};
  }
  if (in.proof().proof().size() != kProofSize) return bad("a proof must have 32 bytes");
  return PeerProof{in.proof().proof()};
}

Result<PeerMessage> take_exchange(const v1::PeerMessage& in) {
  switch (in.body_case()) {
    case v1::PeerMessage::kFence:
      return FencePart{in.fence().signature(), in.fence().sequence(), in.fence().collect(),
                       in.fence().status(), in.fence().blob()};
    case v1::PeerMessage::kModexRequest:
      return ModexRequest{in.modex_request().request(), in.modex_request().from_node(),
                          in.modex_request().rank()};
    case v1::PeerMessage::kModexReply:
      return ModexReply{in.modex_reply().request(), in.modex_reply().to_node(),
                        in.modex_reply().status(), in.modex_reply().blob()};
    case v1::PeerMessage::kAbort:
      return GangAbort{from_proto(in.abort().cause())};
    case v1::PeerMessage::kDone:
      return GangDone{in.done().node_index()};
    case v1::PeerMessage::kOutput:
      return OutputLines{in.output().is_error(), in.output().bytes()};
    case v1::PeerMessage::kTaken:
      return OutputTaken{in.taken().bytes()};
    default:
      return bad("a message between step daemons is of no known kind");
  }
}

Result<> check(const v1::StepStatus& in) {
  if (in.phase() > static_cast<std::uint32_t>(NodePhase::kEnded)) {
    return bad("phase " + std::to_string(in.phase()) + " is unknown");
  }
  if (in.port() > std::numeric_limits<std::uint16_t>::max()) {
    return bad("port " + std::to_string(in.port()) + " is over 65535");
  }
  const auto phase = static_cast<NodePhase>(in.phase());
  if (phase == NodePhase::kEnded && !in.has_end()) return bad("an ended step carries no end");
  if (phase == NodePhase::kRunning && !in.has_started_ms()) {
    return bad("a running step carries no start time");
  }
  return {};
}

}  // namespace

std::string encode(const ToStep& message) {
  v1::ToStep out;
  std::visit([&out](const auto& body) { put(body, out); }, message);
  return serialized(out);
}

Result<ToStep> decode_to_step(std::string_view bytes) {
  v1::ToStep in;
  if (!parsed(bytes, in)) return bad("bytes from the agent are not a message");
  switch (in.body_case()) {
    case v1::ToStep::kPrepare:
      return take(in.prepare());
    case v1::ToStep::kStart:
      return take(in.start());
    case v1::ToStep::kStop:
      return StepStop{from_proto(in.stop().cause()), in.stop().immediately()};
    case v1::ToStep::kForget:
      return StepForget{};
    case v1::ToStep::BODY_NOT_SET:
      break;
  }
  return bad("a message of the agent is of no known kind");
}

std::string encode(const FromStep& message) {
  v1::StepStatus out;
  out.set_version(message.version);
  to_proto(message.key, *out.mutable_key());
  out.set_phase(static_cast<std::uint32_t>(message.phase));
  out.set_port(message.port);
  if (message.started) out.set_started_ms(to_ms(*message.started));
  if (message.end) to_proto(*message.end, *out.mutable_end());
  out.set_refused(message.refused);
  return serialized(out);
}

Result<FromStep> decode_from_step(std::string_view bytes) {
  v1::StepStatus in;
  if (!parsed(bytes, in)) return bad("bytes from a step daemon are not a message");
  if (Result<> checked = check(in); !checked) return fail(checked);
  FromStep out;
  out.version = in.version();
  out.key = from_proto(in.key());
  out.phase = static_cast<NodePhase>(in.phase());
  out.port = static_cast<std::uint16_t>(in.port());
  if (in.has_started_ms()) out.started = time_from_ms(in.started_ms());
  if (in.has_end()) out.end = from_proto(in.end());
  out.refused = in.refused();
  return out;
}

std::string encode(const PeerMessage& message) {
  v1::PeerMessage out;
  std::visit([&out](const auto& body) { put(body, out); }, message);
  return serialized(out);
}

Result<PeerMessage> decode_peer_message(std::string_view bytes) {
  v1::PeerMessage in;
  if (!parsed(bytes, in)) return bad("bytes from another step daemon are not a message");
  switch (in.body_case()) {
    case v1::PeerMessage::kHello:
    case v1::PeerMessage::kWelcome:
    case v1::PeerMessage::kProof:
      return take_handshake(in);
    default:
      return take_exchange(in);
  }
}

}  // namespace artel::wire
