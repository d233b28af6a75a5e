// Between the stream to the controller and the agent's loop: brings events into the loop, remembers
// the highest incarnation that was obeyed, answers reads of output beside the loop.
//
// Thread: functions and events in the loop, except where gRPC and the reader's threads post.
#pragma once

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "base/ids.h"
#include "base/result.h"
#include "noded/os/output_reader.h"
#include "noded/os/step_folder.h"
#include "rpc/agent_stream.h"

namespace artel::noded {

class ControllerLink {
 public:
  struct Events {
    std::function<AgentHello()> connected;
    std::function<void()> disconnected;
    std::function<void(const ToAgent&)> command;
    /// The controller has heard what was sent to it at this time since boot.
    std::function<void(Duration)> answered;
  };

  ControllerLink(boost::asio::io_context& loop, rpc::AgentStreamOptions options, StepFolder folder,
                 std::filesystem::path incarnation_file, Events events);

  /// Reads the incarnation that was obeyed last. Error: kIo, kStorage.
  Result<> load();
  /// Begins to dial, for ever.
  void start();
  /// After the loop has stopped; nothing happens after it returns.
  void stop();

  /// Dropped where there is no contact.
  void send(const FromAgent& message);

 private:
  void proved(SessionId session, Incarnation incarnation);
  void lost(SessionId session, const Error& error);
  void read_output(SessionId session, rpc::OutputQuestion question);
  Result<> obey(Incarnation incarnation);

  boost::asio::io_context& loop_;
  std::string address_;
  StepFolder folder_;
  std::filesystem::path incarnation_file_;
  Events events_;
  Incarnation obeyed_;
  std::optional<SessionId> session_;
  std::string last_trouble_;
  std::chrono::steady_clock::time_point trouble_logged_;
  OutputReader reader_;
  rpc::AgentStream stream_;
};

}  // namespace artel::noded
