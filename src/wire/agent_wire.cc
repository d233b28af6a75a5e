#include "wire/agent_wire.h"

#include <fmt/format.h>

#include <limits>
#include <utility>

#include "wire/step/types_wire.h"

namespace artel::wire {
namespace {

std::unexpected<Error> broken(std::string text) {
  return fail(ErrorCode::kProtocol, std::move(text));
}

/// The key of a message that is about one attempt.
template <typename Message>
Result<AttemptKey> checked_key(const Message& in, std::string_view what) {
  if (!in.has_key() || in.key().job() == 0 || in.key().attempt() == 0) {
    return broken(fmt::format("'{}' names no attempt", what));
  }
  return from_proto(in.key());
}

Result<std::uint16_t> checked_port(std::uint32_t port, std::string_view what) {
  if (port > std::numeric_limits<std::uint16_t>::max()) {
    return broken(fmt::format("'{}' has port {}; the largest is 65535", what, port));
  }
  return static_cast<std::uint16_t>(port);
}

// Controller to agent -----------------------------------------------------------------------

void put(const Prepare& message, v1::ControllerMessage& out) {
  to_proto(message.spec, *out.mutable_prepare()->mutable_spec());
}

void put(const StartAttempt& message, v1::ControllerMessage& out) {
  auto& start = *out.mutable_start();
  to_proto(message.key, *start.mutable_key());
  start.mutable_peers()->Reserve(static_cast<int>(message.peers.size()));
  for (const StepPeer& peer : message.peers) to_proto(peer, *start.add_peers());
}

void put(const EndAttempt& message, v1::ControllerMessage& out) {
  auto& end = *out.mutable_end();
  to_proto(message.key, *end.mutable_key());
  to_proto(message.cause, *end.mutable_cause());
  end.set_immediately(message.immediately);
}

void put(const ForgetAttempt& message, v1::ControllerMessage& out) {
  to_proto(message.key, *out.mutable_forget()->mutable_key());
}

void put(const WatchPeers& message, v1::ControllerMessage& out) {
  to_proto(message, *out.mutable_watch());
}

void put(const AskPeer& message, v1::ControllerMessage& out) {
  out.mutable_ask()->set_node(message.node);
  out.mutable_ask()->set_asked_ms(to_ms(message.asked));
}

Result<ToAgent> get_watch(const v1::WatchPeers& in) {
  auto out = from_proto(in);
  if (!out) return fail(out);
  return std::move(*out);
}

Result<ToAgent> get_prepare(const v1::Prepare& in) {
  if (!in.has_spec()) return broken("'prepare' has no launch specification");
  auto spec = from_proto(in.spec());
  if (!spec) return fail(spec);
  return Prepare{std::move(*spec)};
}

Result<ToAgent> get_start(const v1::StartAttempt& in) {
  auto key = checked_key(in, "start");
  if (!key) return fail(key);
  StartAttempt out{*key, {}};
  out.peers.reserve(static_cast<std::size_t>(in.peers_size()));
  for (const v1::StepPeer& peer : in.peers()) {
    if (auto port = checked_port(peer.port(), "start"); !port) return fail(port);
    out.peers.push_back(from_proto(peer));
  }
  return out;
}

Result<ToAgent> get_end(const v1::EndAttempt& in) {
  auto key = checked_key(in, "end");
  if (!key) return fail(key);
  return EndAttempt{*key, from_proto(in.cause()), in.immediately()};
}

Result<ToAgent> get_forget(const v1::ForgetAttempt& in) {
  auto key = checked_key(in, "forget");
  if (!key) return fail(key);
  return ForgetAttempt{*key};
}

// Agent to controller -----------------------------------------------------------------------

void put(const AttemptReady& message, v1::AgentMessage& out) {
  to_proto(message.key, *out.mutable_ready()->mutable_key());
  out.mutable_ready()->set_port(message.port);
}

void put(const AttemptRefused& message, v1::AgentMessage& out) {
  to_proto(message.key, *out.mutable_refused()->mutable_key());
  to_proto(message.cause, *out.mutable_refused()->mutable_cause());
}

void put(const AttemptStarted& message, v1::AgentMessage& out) {
  to_proto(message.key, *out.mutable_started()->mutable_key());
  out.mutable_started()->set_at_ms(to_ms(message.at));
}

void put(const AttemptEnded& message, v1::AgentMessage& out) {
  to_proto(message.key, *out.mutable_ended()->mutable_key());
  to_proto(message.end, *out.mutable_ended()->mutable_end());
}

void put(const PeersWatched& message, v1::AgentMessage& out) {
  out.mutable_watched()->mutable_peers()->Assign(message.peers.begin(), message.peers.end());
}

void put(const PeerSeen& message, v1::AgentMessage& out) {
  v1::PeerSeen& seen = *out.mutable_seen();
  seen.set_node(message.node);
  seen.set_asked_ms(to_ms(message.asked));
  seen.set_state(static_cast<std::uint32_t>(message.state));
  seen.set_silent_for_ms(message.silent_for.count());
}

Result<FromAgent> get_seen(const v1::PeerSeen& in) {
  if (in.state() > static_cast<std::uint32_t>(PeerState::kNotHeard) || in.silent_for_ms() < 0) {
    return broken(fmt::format("'seen' of node {} has state {} for {} ms", in.node(), in.state(),
                              in.silent_for_ms()));
  }
  return PeerSeen{in.node(), time_from_ms(in.asked_ms()), static_cast<PeerState>(in.state()),
                  Duration{in.silent_for_ms()}};
}

Result<FromAgent> get_ready(const v1::AttemptReady& in) {
  auto key = checked_key(in, "ready");
  if (!key) return fail(key);
  auto port = checked_port(in.port(), "ready");
  if (!port) return fail(port);
  return AttemptReady{*key, *port};
}

Result<FromAgent> get_refused(const v1::AttemptRefused& in) {
  auto key = checked_key(in, "refused");
  if (!key) return fail(key);
  return AttemptRefused{*key, from_proto(in.cause())};
}

Result<FromAgent> get_started(const v1::AttemptStarted& in) {
  auto key = checked_key(in, "started");
  if (!key) return fail(key);
  return AttemptStarted{*key, time_from_ms(in.at_ms())};
}

Result<FromAgent> get_ended(const v1::AttemptEnded& in) {
  auto key = checked_key(in, "ended");
  if (!key) return fail(key);
  if (!in.has_end()) return broken(fmt::format("'ended' of {} has no end", format_key(*key)));
  return AttemptEnded{*key, from_proto(in.end())};
}

// Hello -------------------------------------------------------------------------------------

void put(const Inventory& inventory, v1::Inventory& out) {
  out.set_boot_id(inventory.boot_id);
  to_proto(inventory.resources, *out.mutable_resources());
  out.set_simulated(inventory.simulated);
  out.set_version(inventory.version);
  out.set_containment(inventory.containment);
  out.set_agent_pid(inventory.agent_pid);
  out.set_probe_port(inventory.probe_port);
}

Result<Inventory> get(const v1::Inventory& in) {
  const auto port = checked_port(in.probe_port(), "inventory");
  if (!port) return fail(port);
  return Inventory{in.boot_id(), from_proto(in.resources()), in.simulated(),
                   in.version(), in.containment(),           in.agent_pid(),
                   *port};
}

void put(const HeldAttempt& held, v1::HeldAttempt& out) {
  to_proto(held.key, *out.mutable_key());
  out.set_phase(static_cast<std::uint32_t>(held.phase));
  out.set_port(held.port);
  if (held.started) out.set_started_ms(to_ms(*held.started));
  if (held.end) to_proto(*held.end, *out.mutable_end());
}

Result<HeldAttempt> get(const v1::HeldAttempt& in) {
  auto key = checked_key(in, "attempts");
  if (!key) return fail(key);
  auto port = checked_port(in.port(), "attempts");
  if (!port) return fail(port);
  if (in.phase() > static_cast<std::uint32_t>(NodePhase::kEnded)) {
    return broken(fmt::format("attempt {} has unknown phase {}", format_key(*key), in.phase()));
  }
  HeldAttempt out{*key, static_cast<NodePhase>(in.phase()), *port, {}, {}};
  if (in.has_started_ms()) out.started = time_from_ms(in.started_ms());
  if (in.has_end()) out.end = from_proto(in.end());
  if ((out.phase == NodePhase::kEnded) != out.end.has_value()) {
    return broken(fmt::format("attempt {} in phase {} {} an end", format_key(*key),
                              node_phase_name(out.phase), out.end ? "has" : "has not"));
  }
  return out;
}

}  // namespace

void to_proto(const WatchPeers& message, v1::WatchPeers& out) {
  for (const ProbePeer& peer : message.peers) {
    v1::ProbePeer& one = *out.add_peers();
    one.set_node(peer.node);
    one.set_address(peer.address);
    one.set_port(peer.port);
    one.set_key(peer.key);
  }
}

Result<WatchPeers> from_proto(const v1::WatchPeers& in) {
  WatchPeers out;
  for (const v1::ProbePeer& peer : in.peers()) {
    const auto port = checked_port(peer.port(), "watch");
    if (!port) return fail(port);
    out.peers.push_back({peer.node(), peer.address(), *port, peer.key()});
  }
  return out;
}

void to_proto(const ToAgent& message, v1::ControllerMessage& out) {
  std::visit([&out](const auto& one) { put(one, out); }, message);
}

Result<ToAgent> from_proto(const v1::ControllerMessage& in) {
  switch (in.body_case()) {
    case v1::ControllerMessage::kPrepare:
      return get_prepare(in.prepare());
    case v1::ControllerMessage::kStart:
      return get_start(in.start());
    case v1::ControllerMessage::kEnd:
      return get_end(in.end());
    case v1::ControllerMessage::kForget:
      return get_forget(in.forget());
    case v1::ControllerMessage::kWatch:
      return get_watch(in.watch());
    case v1::ControllerMessage::kAsk:
      return AskPeer{in.ask().node(), time_from_ms(in.ask().asked_ms())};
    default:
      return broken(fmt::format("message {} of the controller is not a command of this version",
                                static_cast<int>(in.body_case())));
  }
}

void to_proto(const FromAgent& message, v1::AgentMessage& out) {
  std::visit([&out](const auto& one) { put(one, out); }, message);
}

Result<FromAgent> from_proto(const v1::AgentMessage& in) {
  switch (in.body_case()) {
    case v1::AgentMessage::kReady:
      return get_ready(in.ready());
    case v1::AgentMessage::kRefused:
      return get_refused(in.refused());
    case v1::AgentMessage::kStarted:
      return get_started(in.started());
    case v1::AgentMessage::kEnded:
      return get_ended(in.ended());
    case v1::AgentMessage::kWatched:
      return PeersWatched{{in.watched().peers().begin(), in.watched().peers().end()}};
    case v1::AgentMessage::kSeen:
      return get_seen(in.seen());
    default:
      return broken(fmt::format("message {} of the agent is not an event of this version",
                                static_cast<int>(in.body_case())));
  }
}

void to_proto(const AgentHello& hello, v1::AgentProof& out) {
  put(hello.inventory, *out.mutable_inventory());
  out.mutable_attempts()->Reserve(static_cast<int>(hello.attempts.size()));
  for (const HeldAttempt& held : hello.attempts) put(held, *out.add_attempts());
  out.mutable_peers()->Assign(hello.peers.begin(), hello.peers.end());
}

Result<AgentHello> from_proto(const std::string& node, const v1::AgentProof& in) {
  if (!in.has_inventory()) return broken(fmt::format("node {} sent no inventory", node));
  auto inventory = get(in.inventory());
  if (!inventory) return fail(inventory);
  AgentHello out{node, std::move(*inventory), {}, {in.peers().begin(), in.peers().end()}};
  out.attempts.reserve(static_cast<std::size_t>(in.attempts_size()));
  for (const v1::HeldAttempt& held : in.attempts()) {
    auto one = get(held);
    if (!one) return fail(one);
    out.attempts.push_back(std::move(*one));
  }
  return out;
}

}  // namespace artel::wire
