#include "rpc/agent_session.h"

#include <fmt/format.h>

#include <utility>

#include "rpc/status.h"
#include "wire/agent_wire.h"
#include "wire/step/types_wire.h"

namespace artel::rpc {
namespace {

/// A controller that leaves more than this unread is stuck; it gets the full state when we
/// reconnect.
constexpr std::size_t kMaxQueued = 100'000;

std::int64_t wall_ms() {
  return to_ms(std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now()));
}

v1::AgentMessage heartbeat() {
  v1::AgentMessage message;
  message.mutable_heartbeat()->set_sent_ms(wall_ms());
  message.mutable_heartbeat()->set_up_ms(time_since_boot().count());
  return message;
}

OutputQuestion question_of(const v1::ReadOutput& in) {
  return {.request = in.request(),
          .key = wire::from_proto(in.key()),
          .owner = wire::from_proto(in.owner()),
          .path = in.path(),
          .error_stream = in.error_stream(),
          .offset = in.offset_bytes(),
          .max_bytes = in.max_bytes()};
}

}  // namespace

AgentClientSession::AgentClientSession(const AgentStreamOptions& options,
                                       const AgentStreamEvents& events, SessionId id,
                                       const NodeKey& key)
    : options_(options),
      events_(events),
      id_(id),
      key_(key),
      challenge_(random_challenge()),
      heard_(Steady::now()),
      beat_(heard_) {}

void AgentClientSession::start(const std::shared_ptr<grpc::Channel>& channel) {
  stub_ = v1::AgentService::NewStub(channel);
  stub_->async()->Connect(&context_, this);
  AddHold();  // writes begin outside of reactions; finish() lets go
  StartRead(&in_);
  v1::AgentMessage message;
  v1::AgentOpening& opening = *message.mutable_opening();
  opening.set_protocol_version(wire::kProtocolVersion);
  opening.set_node(options_.node);
  opening.set_challenge(challenge_);
  opening.set_version(options_.version);
  {
    const std::lock_guard lock(mutex_);
    queue(std::move(message));
  }
  StartCall();
}

// Reading -----------------------------------------------------------------------------------

void AgentClientSession::OnReadDone(bool ok) {
  if (!ok) return finish(std::nullopt);
  {
    const std::lock_guard lock(mutex_);
    heard_ = Steady::now();
  }
  if (const auto taken = take(); !taken) finish(taken.error());
}

Result<> AgentClientSession::take() {
  Stage stage{};
  {
    const std::lock_guard lock(mutex_);
    stage = stage_;
  }
  return stage == Stage::kChallenge ? take_challenge() : take_message();
}

Result<> AgentClientSession::take_challenge() {
  if (!in_.has_challenge()) {
    return fail(ErrorCode::kProtocol, "the controller's first message is no challenge");
  }
  const v1::ControllerChallenge& in = in_.challenge();
  if (in.protocol_version() != wire::kProtocolVersion) {
    return fail(
        ErrorCode::kProtocol,
        fmt::format("the controller (version {}) speaks protocol {}, this agent (version "
                    "{}) speaks {}; install the same version of Artel on both",
                    in.version(), in.protocol_version(), options_.version, wire::kProtocolVersion));
  }
  if (!same_proof(controller_proof(key_, challenge_, options_.node), in.proof())) {
    return fail(
        ErrorCode::kUnauthenticated,
        fmt::format("what answers at {} does not hold the key of node '{}'; copy the "
                    "controller's {}.key to '{}'",
                    options_.address, options_.node, options_.node, options_.key_file.string()));
  }
  if (in.challenge().size() != kChallengeBytes) {
    return fail(ErrorCode::kProtocol, "the controller's challenge has the wrong length");
  }
  controller_challenge_ = in.challenge();
  const Incarnation incarnation{in.incarnation()};
  {
    const std::lock_guard lock(mutex_);
    stage_ = Stage::kDecision;
  }
  events_.proved(id_, incarnation);
  return {};
}

Result<> AgentClientSession::take_message() {
  if (in_.has_read_output()) {
    events_.output(id_, question_of(in_.read_output()));
  } else if (in_.has_heartbeat()) {
    if (in_.heartbeat().echo_ms() > 0) events_.answered(id_, Duration{in_.heartbeat().echo_ms()});
  } else {
    auto command = wire::from_proto(in_);
    if (!command) return fail(command);
    events_.command(id_, std::move(*command));
  }
  read_next();
  return {};
}

void AgentClientSession::read_next() {
  const std::lock_guard lock(mutex_);
  if (!finished_) StartRead(&in_);
}

// Writing -----------------------------------------------------------------------------------

void AgentClientSession::open(const AgentHello& hello) {
  {
    const std::lock_guard lock(mutex_);
    if (finished_ || stage_ != Stage::kDecision) return;
    stage_ = Stage::kOpen;
    v1::AgentMessage message;
    wire::to_proto(hello, *message.mutable_proof());
    message.mutable_proof()->set_proof(agent_proof(key_, controller_challenge_, options_.node));
    queue(std::move(message));
    queue(heartbeat());
  }
  read_next();
}

void AgentClientSession::send(v1::AgentMessage message) {
  bool stuck = false;
  {
    const std::lock_guard lock(mutex_);
    if (finished_ || stage_ != Stage::kOpen) return;
    queue(std::move(message));
    stuck = queue_.size() > kMaxQueued;
  }
  if (stuck) finish(Error{ErrorCode::kUnavailable, "the controller reads no messages any more"});
}

/// Under mutex_.
void AgentClientSession::queue(v1::AgentMessage message) {
  queue_.push_back(std::move(message));
  if (std::exchange(writing_, true)) return;
  StartWrite(&queue_.front());
}

void AgentClientSession::OnWriteDone(bool ok) {
  const std::lock_guard lock(mutex_);
  writing_ = false;
  queue_.pop_front();
  if (!ok || finished_ || queue_.empty()) return;  // a failed write's reason comes with the read
  writing_ = true;
  StartWrite(&queue_.front());
}

void AgentClientSession::tick() {
  const auto now = Steady::now();
  bool silent = false;
  {
    const std::lock_guard lock(mutex_);
    if (finished_) return;
    silent = now - heard_ > options_.silence;
    if (!silent && stage_ == Stage::kOpen && now - beat_ >= options_.beat) {
      beat_ = now;
      queue(heartbeat());
    }
  }
  if (silent) {
    finish(Error{ErrorCode::kUnavailable,
                 fmt::format("nothing heard of the controller at {} for {} ms", options_.address,
                             options_.silence.count())});
  }
}

// Ending ------------------------------------------------------------------------------------

void AgentClientSession::close(const Error& why) { finish(why); }

void AgentClientSession::finish(std::optional<Error> why) {
  const std::lock_guard lock(mutex_);
  if (std::exchange(finished_, true)) return;
  // Without a reason of our own the stream is over already, and its status is the reason.
  if (why) context_.TryCancel();
  why_ = std::move(why);
  RemoveHold();
}

void AgentClientSession::OnDone(const grpc::Status& status) {
  const std::lock_guard lock(mutex_);
  if (!why_) {
    why_ = status.ok() ? Error{ErrorCode::kUnavailable, "the controller closed the stream"}
                       : from_status(status);
  }
  done_ = true;
  changed_.notify_all();  // under the lock: the waiter may destroy us at once
}

bool AgentClientSession::wait_done(Duration timeout) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, timeout, [this] { return done_; });
}

Error AgentClientSession::reason() {
  const std::lock_guard lock(mutex_);
  return *why_;
}

bool AgentClientSession::was_open() {
  const std::lock_guard lock(mutex_);
  return stage_ == Stage::kOpen;
}

}  // namespace artel::rpc
