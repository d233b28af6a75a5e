// The step daemon's side of the local socket to its agent: one connection at a time, a new one
// replaces the old.
//
// Thread: the loop's.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <functional>
#include <memory>

#include "model/step_protocol.h"
#include "noded/step/fd.h"
#include "noded/step/frame_stream.h"

namespace artel::step {

class AgentLink {
 public:
  struct Handlers {
    std::function<StepStatus()> status;  // sent first on each connection
    std::function<void(const ToStep&)> message;
    std::function<void(bool connected)> contact;
  };

  /// `listener`: a listening local socket.
  AgentLink(boost::asio::io_context& loop, Fd listener, Handlers handlers);
  ~AgentLink();
  AgentLink(const AgentLink&) = delete;
  AgentLink& operator=(const AgentLink&) = delete;

  void start() { accept(); }
  /// To the present connection, if any.
  void send(const StepStatus& status);
  [[nodiscard]] bool connected() const { return stream_ != nullptr; }
  /// Whether an agent could still connect: the socket has its place in the file system.
  [[nodiscard]] bool reachable() const;

 private:
  using Acceptor = boost::asio::local::stream_protocol::acceptor;

  void accept();
  void serve(boost::asio::local::stream_protocol::socket socket);

  boost::asio::io_context& loop_;
  Acceptor acceptor_;
  Handlers handlers_;
  std::shared_ptr<FrameStream> stream_;
};

}  // namespace artel::step
