// One stream of the agent to the controller, from dialling to its status. Private to AgentStream.
//
// challenge -> owner's decision -> open. One write is outstanding, others queue. Thread: gRPC's for
// the reactions, all functions from any.
#pragma once

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/support/client_callback.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "agent.grpc.pb.h"
#include "rpc/agent_stream.h"
#include "rpc/node_key.h"

namespace artel::rpc {

class AgentClientSession final
    : public grpc::ClientBidiReactor<v1::AgentMessage, v1::ControllerMessage> {
 public:
  AgentClientSession(const AgentStreamOptions& options, const AgentStreamEvents& events,
                     SessionId id, const NodeKey& key);

  /// Dials. The session must live until wait_done() returned true.
  void start(const std::shared_ptr<grpc::Channel>& channel);
  /// Heartbeat and time-out.
  void tick();
  /// False after `timeout`.
  bool wait_done(Duration timeout);
  /// After wait_done(): why it ended.
  [[nodiscard]] Error reason();
  /// Whether the controller ever accepted us.
  [[nodiscard]] bool was_open();

  void open(const AgentHello& hello);
  void close(const Error& why);
  void send(v1::AgentMessage message);

  [[nodiscard]] SessionId id() const { return id_; }

  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnDone(const grpc::Status& status) override;

 private:
  using Steady = std::chrono::steady_clock;
  enum class Stage : std::uint8_t { kChallenge, kDecision, kOpen };

  Result<> take();
  Result<> take_challenge();
  Result<> take_message();
  void read_next();
  void finish(std::optional<Error> why);
  void queue(v1::AgentMessage message);

  const AgentStreamOptions& options_;
  const AgentStreamEvents& events_;
  const SessionId id_;
  const NodeKey key_;
  const std::string challenge_;
  std::string controller_challenge_;

  grpc::ClientContext context_;
  std::unique_ptr<v1::AgentService::Stub> stub_;
  v1::ControllerMessage in_;

  std::mutex mutex_;
  std::condition_variable changed_;
  Stage stage_ = Stage::kChallenge;
  std::deque<v1::AgentMessage> queue_;  // the front is being written while writing_
  bool writing_ = false;
  bool finished_ = false;
  bool done_ = false;
  std::optional<Error> why_;
  Steady::time_point heard_;
  Steady::time_point beat_;
};

}  // namespace artel::rpc
