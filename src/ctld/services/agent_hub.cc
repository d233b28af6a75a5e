#include "ctld/services/agent_hub.h"

#include <fmt/format.h>
#include <pthread.h>
#include <spdlog/spdlog.h>

#include <utility>

#include "ctld/services/control_loop.h"
#include "ctld/services/worker_pool.h"
#include "rpc/status.h"
#include "wire/agent_wire.h"
#include "wire/step/types_wire.h"

namespace artel::ctld {
namespace {

using Steady = std::chrono::steady_clock;

constexpr std::size_t kMaxOutputReads = 1000;
/// Streams beyond one a node: reconnecting agents, and strangers until the handshake's time is
/// over.
constexpr std::size_t kSpareStreams = 256;

const Error kStopping{ErrorCode::kUnavailable, "the controller is stopping"};

}  // namespace

AgentHub::AgentHub(AgentHubOptions options, WorkerPool& workers)
    : options_(std::move(options)),
      nodes_(options_.nodes.begin(), options_.nodes.end()),
      workers_(workers),
      outputs_(kMaxOutputReads) {}

AgentHub::~AgentHub() { stop(); }

void AgentHub::start(ControlLoop& loop) {
  loop_ = &loop;
  clocks_ = std::thread([this] { run_clocks(); });
}

void AgentHub::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    wake_.notify_all();
  }
  if (clocks_.joinable()) clocks_.join();
  for (const auto& session : all_sessions()) session->close(kStopping);
  outputs_.expire(Steady::time_point::max());
}

grpc::ServerBidiReactor<v1::AgentMessage, v1::ControllerMessage>* AgentHub::connect(
    grpc::CallbackServerContext& context) {
  std::shared_ptr<AgentSession> session;
  std::optional<Error> refusal;
  {
    const std::lock_guard lock(mutex_);
    session = std::make_shared<AgentSession>(*this, context, SessionId{++last_session_});
    if (stopping_) {
      refusal = kStopping;
    } else if (sessions_.size() >= 2 * nodes_.size() + kSpareStreams) {
      refusal = Error{ErrorCode::kTryAgain,
                      fmt::format("{} agents are connected or connecting, more than this cluster "
                                  "has; try again in 5 s",
                                  sessions_.size())};
    }
    sessions_.emplace(session->id(), session);
  }
  session->open();
  if (refusal) session->close(*refusal);
  return session.get();
}

// Control thread to agents ------------------------------------------------------------------

void AgentHub::send(const AgentSend& message) {
  std::shared_ptr<AgentSession> session;
  {
    const std::lock_guard lock(mutex_);
    const auto found = sessions_.find(message.session);
    if (found == sessions_.end()) return;
    session = found->second;
  }
  v1::ControllerMessage out;
  wire::to_proto(message.message, out);
  if (out.has_watch()) {
    for (v1::ProbePeer& peer : *out.mutable_watch()->mutable_peers())
      peer.set_key(rpc::pair_key(options_.probe_secret, session->node(), peer.node()));
  }
  session->send(std::move(out));
}

Result<> AgentHub::read_output(const OutputQuery& query, OutputRequests::OnChunk on_chunk) {
  const auto session = session_of(query.node);
  if (!session) {
    return fail(ErrorCode::kUnavailable,
                fmt::format("node '{}', which holds the output, is not in contact with the "
                            "controller; see 'artel nodes'",
                            query.node));
  }
  auto request = outputs_.add(session->id(), query.node, Steady::now() + options_.output_timeout,
                              std::move(on_chunk));
  if (!request) return fail(request);
  v1::ControllerMessage message;
  v1::ReadOutput& out = *message.mutable_read_output();
  out.set_request(*request);
  wire::to_proto(query.key, *out.mutable_key());
  wire::to_proto(query.owner, *out.mutable_owner());
  out.set_path(query.path);
  out.set_error_stream(query.error_stream);
  out.set_offset_bytes(query.offset);
  out.set_max_bytes(query.max_bytes);
  session->send(std::move(message));
  // Where the session ended meanwhile, gone() may have looked before the request was there.
  if (session_of(query.node) != session) outputs_.lost(session->id());
  return {};
}

std::optional<Duration> AgentHub::clock_offset(const std::string& node) const {
  const auto session = session_of(node);
  if (!session) return std::nullopt;
  return session->clock_offset();
}

// Agents to control thread ------------------------------------------------------------------

Result<> AgentHub::load_key(const std::string& node, OnKey on_key) {
  return workers_.post([path = options_.node_keys / (node + ".key"), on_key = std::move(on_key)](
                           std::size_t) mutable { on_key(rpc::read_key_file(path)); });
}

void AgentHub::hello(std::shared_ptr<AgentSession> session, AgentHello hello) {
  loop_->post([this, session = std::move(session), hello = std::move(hello)](Controller& controller,
                                                                             Time now) {
    if (const auto accepted = controller.agent_connected(session->id(), hello, now); !accepted) {
      session->close(accepted.error());
      return;
    }
    spdlog::info("node {} is in contact (session {}, agent {}, {} attempts held)", session->node(),
                 session->id().value, hello.inventory.version, hello.attempts.size());
    attach(session);
    session->accepted();
  });
}

void AgentHub::attach(const std::shared_ptr<AgentSession>& session) {
  std::shared_ptr<AgentSession> older;
  {
    const std::lock_guard lock(mutex_);
    // Its end was announced before this: it must not take the node's place.
    if (!sessions_.contains(session->id())) return;
    const auto [place, is_first] = open_.try_emplace(session->node(), session->id());
    if (!is_first) {
      const auto found = sessions_.find(place->second);
      if (found != sessions_.end()) older = found->second;
      place->second = session->id();
    }
  }
  if (older) {
    older->close({ErrorCode::kWrongState,
                  fmt::format("node '{}' has connected again; this stream is the older one",
                              session->node())});
  }
}

void AgentHub::event(std::shared_ptr<AgentSession> session, FromAgent event) {
  loop_->post(
      [session = std::move(session), event = std::move(event)](Controller& controller, Time now) {
        controller.agent_message(session->id(), event, now);
        session->read_next();
      });
}

void AgentHub::output(const AgentSession& session, v1::OutputChunk chunk) {
  if (chunk.has_error()) {
    outputs_.answer(session.id(), chunk.request(), std::unexpected(rpc::from_proto(chunk.error())));
    return;
  }
  outputs_.answer(session.id(), chunk.request(),
                  OutputChunk{std::move(*chunk.mutable_data()), chunk.file_size_bytes()});
}

void AgentHub::gone(const AgentSession& session, bool announced) {
  {
    const std::lock_guard lock(mutex_);
    sessions_.erase(session.id());
    const auto found = open_.find(session.node());
    if (found != open_.end() && found->second == session.id()) open_.erase(found);
  }
  outputs_.lost(session.id());
  if (!announced) return;
  spdlog::info("node {}: session {} is over", session.node(), session.id().value);
  loop_->post(
      [id = session.id(), silent_for = session.silent_for(Steady::now())](
          Controller& controller, Time now) { controller.agent_lost(id, now, silent_for); });
}

void AgentHub::log_close(const AgentSession& session, const Error& error) const {
  if (error == kStopping) return;
  spdlog::warn("stream of an agent closed (session {}, node '{}', from {}): {}", session.id().value,
               session.node(), session.peer(), error.text);
}

// Clocks ------------------------------------------------------------------------------------

void AgentHub::run_clocks() {
  pthread_setname_np(pthread_self(), "clocks");
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      if (wake_.wait_for(lock, options_.times.sweep, [this] { return stopping_; })) return;
    }
    const auto now = Steady::now();
    for (const auto& session : all_sessions()) session->tick(now, options_.times);
    outputs_.expire(now);
  }
}

std::vector<std::shared_ptr<AgentSession>> AgentHub::all_sessions() const {
  std::vector<std::shared_ptr<AgentSession>> all;
  const std::lock_guard lock(mutex_);
  all.reserve(sessions_.size());
  for (const auto& [id, session] : sessions_) all.push_back(session);
  return all;
}

std::shared_ptr<AgentSession> AgentHub::session_of(const std::string& node) const {
  const std::lock_guard lock(mutex_);
  const auto open = open_.find(node);
  if (open == open_.end()) return nullptr;
  const auto found = sessions_.find(open->second);
  return found == sessions_.end() ? nullptr : found->second;
}

}  // namespace artel::ctld
