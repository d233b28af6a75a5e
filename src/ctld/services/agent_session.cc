#include "ctld/services/agent_session.h"

#include <fmt/format.h>
#include <grpcpp/server_context.h>

#include <algorithm>
#include <utility>

#include "ctld/services/agent_hub.h"
#include "rpc/status.h"
#include "wire/agent_wire.h"

namespace artel::ctld {
namespace {

using Steady = std::chrono::steady_clock;

/// An agent that leaves more than this unread is stuck; it gets the full state again when it
/// reconnects.
constexpr std::size_t kMaxQueued = 100'000;
/// How long a closed stream may take to end in an orderly way.
constexpr auto kFarewell = std::chrono::seconds{5};

std::int64_t steady_ms(Steady::time_point time) {
  return std::chrono::duration_cast<Duration>(time.time_since_epoch()).count();
}

std::int64_t wall_ms() {
  return to_ms(std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now()));
}

}  // namespace

AgentSession::AgentSession(AgentHub& hub, grpc::CallbackServerContext& context, SessionId id)
    : hub_(hub),
      context_(context),
      id_(id),
      peer_(context.peer()),
      opened_(Steady::now()),
      heard_ms_(steady_ms(opened_)) {}

void AgentSession::open() {
  self_ = shared_from_this();
  read_next();
}

// Reading -----------------------------------------------------------------------------------

void AgentSession::read_next() {
  const std::lock_guard lock(mutex_);
  if (!finished_) StartRead(&in_);
}

void AgentSession::OnReadDone(bool ok) {
  if (!ok) {
    finish(grpc::Status::OK, false);
    return;
  }
  heard_ms_ = steady_ms(Steady::now());
  if (const auto taken = take(); !taken) close(taken.error());
}

Result<> AgentSession::take() {
  switch (stage_) {
    case Stage::kOpening:
      return take_opening();
    case Stage::kProof:
      return take_proof();
    case Stage::kOpen:
      return take_event();
  }
  return {};
}

Result<> AgentSession::take_opening() {
  if (!in_.has_opening()) return fail(ErrorCode::kProtocol, "the first message must be 'opening'");
  const v1::AgentOpening& opening = in_.opening();
  if (opening.protocol_version() != wire::kProtocolVersion) {
    return fail(
        ErrorCode::kProtocol,
        fmt::format("the agent of node '{}' (version {}) speaks protocol {}, this controller "
                    "(version {}) speaks {}; install the same version of Artel on both",
                    opening.node(), opening.version(), opening.protocol_version(), hub_.version(),
                    wire::kProtocolVersion));
  }
  if (!hub_.knows(opening.node())) {
    return fail(ErrorCode::kUnauthenticated,
                fmt::format("node '{}' is not in the controller's cluster.d", opening.node()));
  }
  if (opening.challenge().size() != rpc::kChallengeBytes) {
    return fail(ErrorCode::kProtocol,
                fmt::format("the challenge of node '{}' has {} bytes instead of {}", opening.node(),
                            opening.challenge().size(), rpc::kChallengeBytes));
  }
  node_ = opening.node();
  agent_challenge_ = opening.challenge();
  return hub_.load_key(node_, [self = shared_from_this()](const Result<rpc::NodeKey>& key) {
    self->answer_opening(key);
  });
}

/// On a worker's thread; the reading side waits for it.
void AgentSession::answer_opening(const Result<rpc::NodeKey>& key) {
  if (!key) {
    close({ErrorCode::kUnauthenticated,
           fmt::format("the controller cannot use its key of node '{}': {}", node_,
                       key.error().text)});
    return;
  }
  key_ = std::make_unique<rpc::NodeKey>(*key);
  challenge_ = rpc::random_challenge();
  v1::ControllerMessage message;
  v1::ControllerChallenge& out = *message.mutable_challenge();
  out.set_protocol_version(wire::kProtocolVersion);
  out.set_incarnation(hub_.incarnation().value);
  out.set_challenge(challenge_);
  out.set_proof(rpc::controller_proof(*key_, agent_challenge_, node_));
  out.set_version(hub_.version());
  stage_ = Stage::kProof;
  send(std::move(message));
  read_next();
}

Result<> AgentSession::take_proof() {
  if (!in_.has_proof()) return fail(ErrorCode::kProtocol, "the second message must be 'proof'");
  const std::string expected = rpc::agent_proof(*key_, challenge_, node_);
  if (!rpc::same_proof(expected, in_.proof().proof())) {
    return fail(ErrorCode::kUnauthenticated,
                fmt::format("the agent of node '{}' does not hold the node's key; copy the "
                            "controller's {}.key to that node",
                            node_, node_));
  }
  key_.reset();
  auto hello = wire::from_proto(node_, in_.proof());
  if (!hello) return fail(hello);
  in_.Clear();
  stage_ = Stage::kOpen;
  announced_ = true;
  hub_.hello(shared_from_this(), std::move(*hello));
  return {};
}

void AgentSession::accepted() {
  is_open_ = true;
  read_next();
}

Result<> AgentSession::take_event() {
  if (in_.has_heartbeat()) {
    clock_offset_ms_ = in_.heartbeat().sent_ms() - wall_ms();
    if (in_.heartbeat().up_ms() > 0) beat(in_.heartbeat().up_ms());
    read_next();
    return {};
  }
  if (in_.has_output()) {
    hub_.output(*this, std::move(*in_.mutable_output()));
    read_next();
    return {};
  }
  auto event = wire::from_proto(in_);
  if (!event) return fail(event);
  hub_.event(shared_from_this(), std::move(*event));
  return {};
}

// Writing -----------------------------------------------------------------------------------

void AgentSession::send(v1::ControllerMessage message) {
  bool stuck = false;
  {
    const std::lock_guard lock(mutex_);
    if (finished_) return;
    queue_.push_back(std::move(message));
    stuck = queue_.size() > kMaxQueued;
    if (!writing_) start_write();
  }
  if (stuck) {
    abandon({ErrorCode::kUnavailable,
             fmt::format("node '{}' has not read the last {} messages", node_, kMaxQueued)});
  }
}

/// Under mutex_.
void AgentSession::start_write() {
  writing_ = true;
  StartWrite(&queue_.front());
}

void AgentSession::OnWriteDone(bool ok) {
  const std::lock_guard lock(mutex_);
  writing_ = false;
  queue_.pop_front();
  if (ok && !finished_ && !queue_.empty()) start_write();
}

void AgentSession::beat(std::int64_t echo_ms) {
  v1::ControllerMessage message;
  message.mutable_heartbeat()->set_sent_ms(wall_ms());
  message.mutable_heartbeat()->set_echo_ms(echo_ms);
  send(std::move(message));
}

// Ending ------------------------------------------------------------------------------------

void AgentSession::close(const Error& error) {
  hub_.log_close(*this, error);
  finish(rpc::to_status(error), false);
}

void AgentSession::abandon(const Error& error) {
  hub_.log_close(*this, error);
  finish(rpc::to_status(error), true);
}

/// The context may be used here: gRPC calls OnDone only after Finish, and OnDone takes the lock.
void AgentSession::finish(const grpc::Status& status, bool cancel) {
  const std::lock_guard lock(mutex_);
  if (finished_) return;
  finished_ = true;
  finished_at_ = Steady::now();
  if (cancel) context_.TryCancel();
  Finish(status);
}

void AgentSession::tick(SteadyTime now, const AgentTimes& times) {
  {
    const std::lock_guard lock(mutex_);
    if (finished_) {
      if (!done_ && now - finished_at_ > kFarewell) context_.TryCancel();
      return;
    }
  }
  if (!is_open_) {
    if (now - opened_ > times.handshake) {
      abandon({ErrorCode::kUnauthenticated,
               fmt::format("no proof of identity within {} ms", times.handshake.count())});
    }
    return;
  }
  if (steady_ms(now) - heard_ms_ > times.silence.count()) {
    abandon({ErrorCode::kUnavailable,
             fmt::format("nothing heard of node '{}' for {} ms", node_, times.silence.count())});
    return;
  }
  if (now - beat_at_ >= times.beat) {
    beat_at_ = now;
    beat(0);
  }
}

Duration AgentSession::silent_for(SteadyTime now) const {
  return Duration{std::max<std::int64_t>(steady_ms(now) - heard_ms_, 0)};
}

void AgentSession::OnDone() {
  std::shared_ptr<AgentSession> self;
  {
    const std::lock_guard lock(mutex_);
    done_ = true;
    self = std::move(self_);
  }
  hub_.gone(*self, announced_);
}

}  // namespace artel::ctld
