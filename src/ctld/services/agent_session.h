// One stream of an agent: handshake, messages in, messages out.
//
// opening -> challenge -> proof -> open. Until the proof of the node's key is verified nothing that
// came is acted on, and what was read is limited by the handshake's time. One message is read at a
// time, the next one when the control thread has taken the last, so an agent cannot flood the
// controller. One write is outstanding, others queue.
//
// Threads: gRPC's for the reactions; send(), close() and tick() from any thread. Lives until OnDone
// and as long as somebody holds it.
#pragma once

#include <grpcpp/support/server_callback.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>

#include "agent.pb.h"
#include "base/ids.h"
#include "base/result.h"
#include "base/units.h"
#include "model/agent_protocol.h"
#include "rpc/node_key.h"

namespace artel::ctld {

class AgentHub;

/// Clocks of the conversation.
struct AgentTimes {
  Duration handshake{std::chrono::seconds{10}};  // from opening to open
  Duration beat{std::chrono::seconds{5}};        // between heartbeats to the agent
  Duration silence{std::chrono::seconds{20}};    // without any message: contact is lost
  Duration sweep{std::chrono::seconds{1}};       // between looks at the clocks
};

class AgentSession final : public grpc::ServerBidiReactor<v1::AgentMessage, v1::ControllerMessage>,
                           public std::enable_shared_from_this<AgentSession> {
 public:
  using SteadyTime = std::chrono::steady_clock::time_point;

  AgentSession(AgentHub& hub, grpc::CallbackServerContext& context, SessionId id);

  /// Keeps itself alive from here to OnDone, and reads the first message.
  void open();

  /// Queued behind what was sent before; dropped where the stream is over.
  void send(v1::ControllerMessage message);
  /// Ends the stream; the agent sees the error. Only the first call counts.
  void close(const Error& error);
  /// Ends the stream without waiting for the agent, which does not answer any more.
  void abandon(const Error& error);
  /// Heartbeats and time-outs.
  void tick(SteadyTime now, const AgentTimes& times);

  /// Control thread: the core accepted the hello; or: the last event was taken.
  void accepted();
  void read_next();

  [[nodiscard]] SessionId id() const { return id_; }
  /// Empty before the opening.
  [[nodiscard]] const std::string& node() const { return node_; }
  [[nodiscard]] const std::string& peer() const { return peer_; }
  /// Since the last message came.
  [[nodiscard]] Duration silent_for(SteadyTime now) const;
  /// The node's clock minus ours, as of the last heartbeat.
  [[nodiscard]] Duration clock_offset() const { return Duration{clock_offset_ms_.load()}; }

  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnDone() override;

 private:
  enum class Stage : std::uint8_t { kOpening, kProof, kOpen };

  Result<> take();
  Result<> take_opening();
  Result<> take_proof();
  Result<> take_event();
  void answer_opening(const Result<rpc::NodeKey>& key);
  void finish(const grpc::Status& status, bool cancel);
  void start_write();
  void beat(std::int64_t echo_ms);

  AgentHub& hub_;
  grpc::CallbackServerContext& context_;  // valid until OnDone
  const SessionId id_;
  const std::string peer_;
  const SteadyTime opened_;

  // The reading side: one message at a time.
  v1::AgentMessage in_;
  Stage stage_ = Stage::kOpening;
  std::string node_;
  std::string agent_challenge_;
  std::string challenge_;
  std::unique_ptr<rpc::NodeKey> key_;
  bool announced_ = false;  // the core was told of this session

  std::atomic<bool> is_open_ = false;
  std::atomic<std::int64_t> heard_ms_;  // steady clock
  std::atomic<std::int64_t> clock_offset_ms_ = 0;

  std::mutex mutex_;
  std::deque<v1::ControllerMessage> queue_;  // the front is being written while writing_
  bool writing_ = false;
  bool finished_ = false;
  bool done_ = false;
  SteadyTime finished_at_{};
  SteadyTime beat_at_{};
  std::shared_ptr<AgentSession> self_;
};

}  // namespace artel::ctld
