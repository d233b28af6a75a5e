// The controller's services over a real store in a folder of their own, on a port of the loopback
// that the kernel chose. Credentials are the texts "alice", "bob" and "op" (an operator);
// everything behind their decoding is the product's.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "client.pb.h"
#include "ctld/services/server.h"
#include "model/agent_protocol.h"
#include "rpc/node_key.h"

namespace artel::fakes {

/// A client with a connection of its own.
class Client {
 public:
  explicit Client(const std::string& address);
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  ~Client();

  Result<v1::LoginReply> login(const std::string& credential, std::uint32_t protocol_version);
  [[nodiscard]] const std::string& token() const { return token_; }
  void set_token(std::string token) { token_ = std::move(token); }

  Result<v1::SubmitReply> submit(const v1::SubmitRequest& request);
  Result<v1::JobOutcomes> cancel(const v1::CancelRequest& request);
  Result<v1::QueueReply> queue(const v1::QueueRequest& request);
  Result<v1::ShowReply> show(const v1::ShowRequest& request);
  Result<v1::ShowReply> wait(const v1::WaitRequest& request);
  Result<v1::NodesReply> nodes(const v1::NodesRequest& request);
  Result<v1::HistoryReply> history(const v1::HistoryRequest& request);
  Result<v1::UsageReply> usage(const v1::UsageRequest& request);
  Result<v1::ReadOutputReply> read_output(const v1::ReadOutputRequest& request);
  Result<v1::LostAndFoundReply> lost_and_found();

  // Short forms.
  Result<std::uint64_t> submit_one(const v1::JobSpec& spec);
  Result<v1::JobView> show(std::uint64_t job);
  /// Cancels the present or next call from another thread.
  void hang_up();

 private:
  class Connection;
  std::unique_ptr<Connection> connection_;
  std::string token_;
};

/// A job of one node that the bed's cluster can run.
v1::JobSpec job_message();

class ServerBed {
 public:
  /// Nodes n1 and n2; `change` may be empty.
  explicit ServerBed(const std::function<void(ctld::ServerOptions&)>& change = {});
  ServerBed(const ServerBed&) = delete;
  ServerBed& operator=(const ServerBed&) = delete;
  ~ServerBed();

  /// Ends the server as a stop does, and starts another one on the same store.
  void restart();
  void stop();

  [[nodiscard]] std::string address() const;
  /// Logged in.
  [[nodiscard]] std::unique_ptr<Client> client(const std::string& user) const;
  [[nodiscard]] rpc::NodeKey key(const std::string& node) const;
  [[nodiscard]] AgentHello hello(const std::string& node) const;

 private:
  class Parts;
  std::function<void(ctld::ServerOptions&)> change_;
  std::filesystem::path folder_;
  std::unique_ptr<Parts> parts_;
};

}  // namespace artel::fakes
