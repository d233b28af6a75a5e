// The agent's end of the local socket of one step daemon.
//
// Thread: that of the loop. Events come from the loop, never out of a call.
#pragma once

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "model/step_protocol.h"
#include "wire/step/frame.h"

namespace artel::noded {

class StepLink : public std::enable_shared_from_this<StepLink> {
 public:
  struct Events {
    std::function<void(const FromStep&)> status;
    /// The connection is over, with the reason. Last event, at most once.
    std::function<void(const std::string&)> closed;
  };

  StepLink(boost::asio::io_context& loop, AttemptKey key, Events events);

  /// Connects; messages given to send() before are sent then.
  void connect(const std::filesystem::path& path);
  void send(const ToStep& message);
  /// Closes at once; no event follows.
  void close();

 private:
  void read_some();
  void take(std::string_view bytes);
  void write_some();
  void finish(const std::string& why);

  AttemptKey key_;
  Events events_;
  boost::asio::local::stream_protocol::socket socket_;
  wire::FrameReader reader_;
  std::array<char, 65536> buffer_{};
  std::deque<std::string> outgoing_;
  bool connected_ = false;
  bool writing_ = false;
  bool closed_ = false;
};

}  // namespace artel::noded
