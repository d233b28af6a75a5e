// The client's side of ClientService: one channel, one login, calls that outlast a restart of the
// controller.
//
// Every call of the service may be repeated (a submission carries a client token), so a call that
// meets a broken connection is tried again with growing, jittered pauses until `patience` is over;
// a token that a restarted controller does not know leads to a new login. Refusals are answers and
// are never repeated. Thread: calls from one thread at a time; interrupt() from any thread.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "base/units.h"
#include "client.pb.h"

namespace artel::rpc {

struct ClientOptions {
  std::string address;       // "host:port" of the controller
  std::string munge_socket;  // empty: MUNGE's default
  std::string version;       // of the calling program
  /// Makes the credential of a login; empty: MUNGE at munge_socket.
  std::function<Result<std::string>()> make_credential;
  Duration connect_timeout{std::chrono::seconds{5}};  // for the first answer
  Duration call_timeout{
      std::chrono::seconds{30}};  // for one answer, on top of what a call waits by design
};

/// Told once when a connection is broken for more than a second, and once when it works again.
using TroubleListener = std::function<void(bool broken, const std::string& text)>;

class Client {
 public:
  /// Connects at the first call.
  explicit Client(ClientOptions options);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  /// Identifies the caller; other calls do it by themselves.
  Result<v1::LoginReply> login();

  // Errors of all calls: kUnavailable naming the address, kUnauthenticated, kProtocol, and what the
  // controller refuses.
  Result<v1::SubmitReply> submit(const v1::SubmitRequest& request);
  Result<v1::JobOutcomes> cancel(const v1::CancelRequest& request);
  Result<v1::JobOutcomes> hold(const v1::HoldRequest& request);
  Result<v1::JobOutcomes> requeue(const v1::RequeueRequest& request);
  Result<v1::JobOutcomes> update(const v1::UpdateRequest& request);
  Result<v1::NodeOutcomes> drain(const v1::DrainRequest& request);
  Result<v1::ExplainReply> explain(const v1::ExplainRequest& request);
  Result<v1::WhatIfReply> what_if(const v1::WhatIfRequest& request);
  Result<v1::QueueReply> queue(const v1::QueueRequest& request);
  Result<v1::ShowReply> show(const v1::ShowRequest& request);
  Result<v1::ShowReply> wait(const v1::WaitRequest& request);
  Result<v1::NodesReply> nodes(const v1::NodesRequest& request);
  Result<v1::HistoryReply> history(const v1::HistoryRequest& request);
  Result<v1::UsageReply> usage(const v1::UsageRequest& request);
  Result<v1::ReadOutputReply> read_output(const v1::ReadOutputRequest& request);
  Result<v1::LostAndFoundReply> lost_and_found(const v1::LostAndFoundRequest& request);

  /// How long calls keep trying once the controller has answered; the connect timeout before that.
  /// Commands that follow a job set hours.
  void set_patience(Duration patience);
  void on_trouble(TroubleListener listener);

  /// Ends the present call, and each later one until resume(), with kUnavailable "interrupted".
  void interrupt();
  void resume();
  [[nodiscard]] bool interrupted() const;

 private:
  class Connection;
  std::unique_ptr<Connection> connection_;
};

}  // namespace artel::rpc
