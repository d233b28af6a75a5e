// All streams of agents: who is connected, what goes to whom, and the clocks of the conversation.
//
// A node has at most one open session; a newer one closes the older. The core is told of each
// session once, when its proof was verified, and once when it is over. Thread: any, except where a
// function says otherwise.
#pragma once

#include <condition_variable>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "ctld/core/effects.h"
#include "ctld/services/agent_session.h"
#include "ctld/services/output_requests.h"
#include "model/agent_protocol.h"
#include "model/job_spec.h"
#include "rpc/node_key.h"

namespace artel::ctld {

class ControlLoop;
class WorkerPool;

struct AgentHubOptions {
  std::vector<std::string> nodes;   // configured names; others are refused
  std::filesystem::path node_keys;  // <node>.key
  std::string probe_secret;         // 32 bytes, from which keys of probe peers are made
  std::string version;              // of this program
  Incarnation incarnation;
  AgentTimes times;
  Duration output_timeout{std::chrono::seconds{10}};
};

/// What to read of an attempt's output. An empty path means spooled output.
struct OutputQuery {
  std::string node;
  AttemptKey key;
  Owner owner;
  std::string path;
  bool error_stream{};
  std::uint64_t offset{};
  std::uint32_t max_bytes{};
};

class AgentHub {
 public:
  using OnKey = std::move_only_function<void(const Result<rpc::NodeKey>&)>;

  AgentHub(AgentHubOptions options, WorkerPool& workers);
  AgentHub(const AgentHub&) = delete;
  AgentHub& operator=(const AgentHub&) = delete;
  ~AgentHub();

  /// Before the first stream: where events go. Starts the clocks.
  void start(ControlLoop& loop);
  /// Closes all streams and refuses new ones. The control loop must still run.
  void stop();

  /// A new stream.
  grpc::ServerBidiReactor<v1::AgentMessage, v1::ControllerMessage>* connect(
      grpc::CallbackServerContext& context);

  /// Dropped where that session is over.
  void send(const AgentSend& message);
  /// Asks the agent of the node. Error: kUnavailable where it has no contact, kTryAgain.
  Result<> read_output(const OutputQuery& query, OutputRequests::OnChunk on_chunk);
  /// The node's clock minus ours; nullopt without contact.
  [[nodiscard]] std::optional<Duration> clock_offset(const std::string& node) const;

  // For sessions.
  [[nodiscard]] bool knows(const std::string& node) const { return nodes_.contains(node); }
  [[nodiscard]] const std::string& version() const { return options_.version; }
  [[nodiscard]] Incarnation incarnation() const { return options_.incarnation; }
  Result<> load_key(const std::string& node, OnKey on_key);
  void hello(std::shared_ptr<AgentSession> session, AgentHello hello);
  void event(std::shared_ptr<AgentSession> session, FromAgent event);
  void output(const AgentSession& session, v1::OutputChunk chunk);
  void gone(const AgentSession& session, bool announced);
  void log_close(const AgentSession& session, const Error& error) const;

 private:
  void attach(const std::shared_ptr<AgentSession>& session);
  void run_clocks();
  [[nodiscard]] std::vector<std::shared_ptr<AgentSession>> all_sessions() const;
  [[nodiscard]] std::shared_ptr<AgentSession> session_of(const std::string& node) const;

  const AgentHubOptions options_;
  const std::set<std::string> nodes_;
  WorkerPool& workers_;
  ControlLoop* loop_ = nullptr;
  OutputRequests outputs_;

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  std::uint64_t last_session_ = 0;
  std::unordered_map<SessionId, std::shared_ptr<AgentSession>> sessions_;  // until OnDone
  std::map<std::string, SessionId> open_;                                  // by node
  std::thread clocks_;
};

}  // namespace artel::ctld
