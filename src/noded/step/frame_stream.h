// A connected stream socket that carries frames both ways, for the agent and for other step
// daemons.
//
// Two lanes: control overtakes bulk, so that an abort never waits behind output. Thread: the
// loop's. After close() no handler is called any more.
#pragma once

#include <boost/asio/generic/stream_protocol.hpp>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "wire/step/frame.h"

namespace artel::step {

class FrameStream : public std::enable_shared_from_this<FrameStream> {
 public:
  using Socket = boost::asio::generic::stream_protocol::socket;
  enum class Lane { kControl, kBulk };
  struct Handlers {
    std::function<void(std::string payload)> frame;
    /// Once, when the other side closed, or something broke.
    std::function<void(const std::string& why)> closed;
  };

  FrameStream(Socket socket, Handlers handlers);

  void start();
  /// Other handlers from the next frame on; may be called from a handler.
  void hand_over(Handlers handlers);
  void send(std::string_view payload, Lane lane = Lane::kControl);
  /// Longest frame that is accepted from now on.
  void limit(std::size_t bytes) { limit_ = bytes; }
  /// No more will be sent; the other side sees the end after all that is queued.
  void finish();
  void close();
  [[nodiscard]] bool is_open() const { return open_; }

 private:
  void read();
  void received(std::size_t size);
  void deliver();
  void write();
  void broke(const std::string& why);
  void shut_down_if_finished();

  Socket socket_;
  std::shared_ptr<const Handlers> handlers_;  // held by the call that runs one of them
  wire::FrameReader reader_;
  static constexpr std::size_t kBuffer = 64U << 10U;
  // Not cleared: a page that is never filled is never touched.
  std::unique_ptr<char[]> buffer_ = std::make_unique_for_overwrite<char[]>(kBuffer);
  std::size_t limit_ = wire::kMaxFrame;
  std::size_t pending_ = 0;  // bytes received of frames that are not complete yet
  std::deque<std::string> control_;
  std::deque<std::string> bulk_;
  std::string writing_;
  bool open_ = true;
  bool finishing_ = false;
};

}  // namespace artel::step
