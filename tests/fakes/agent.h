// The agent's side of a stream, driven by hand: handshake, then one message at a time.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent.pb.h"
#include "base/result.h"
#include "model/agent_protocol.h"
#include "rpc/node_key.h"

namespace artel::fakes {

class Agent {
 public:
  Agent(const std::string& address, std::string node);
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;
  ~Agent();

  /// Sends the opening. Error: what the controller closed the stream with.
  Result<v1::ControllerChallenge> open(std::uint32_t protocol_version);
  /// Sends the proof and the node's full state.
  void prove(const rpc::NodeKey& key, const v1::ControllerChallenge& challenge, AgentHello hello);
  /// open() and prove() as a good agent does.
  Result<> connect(const rpc::NodeKey& key, const AgentHello& hello);

  /// The next message that is not a heartbeat. Error: what the stream was closed with.
  Result<v1::ControllerMessage> next();
  /// Any next message, heartbeats included.
  Result<v1::ControllerMessage> next_raw();
  /// The next command.
  Result<ToAgent> next_command();

  void send(const v1::AgentMessage& message);
  void send(const FromAgent& message);
  /// Breaks the stream off, as a node does that loses power.
  void vanish();

  [[nodiscard]] const std::string& challenge() const { return challenge_; }

 private:
  class Stream;
  Error closed_with();

  const std::string node_;
  std::string challenge_;
  std::unique_ptr<Stream> stream_;
};

}  // namespace artel::fakes
