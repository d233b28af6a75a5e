#include "noded/step/frame_stream.h"

#include <boost/asio/buffer.hpp>
#include <boost/asio/write.hpp>
#include <utility>

namespace artel::step {
namespace {

constexpr std::size_t kHeader = 4;

}  // namespace

FrameStream::FrameStream(Socket socket, Handlers handlers)
    : socket_(std::move(socket)),
      handlers_(std::make_shared<const Handlers>(std::move(handlers))) {}

void FrameStream::hand_over(Handlers handlers) {
  handlers_ = std::make_shared<const Handlers>(std::move(handlers));
}

void FrameStream::start() { read(); }

void FrameStream::read() {
  if (!open_) return;
  socket_.async_read_some(
      boost::asio::buffer(buffer_.get(), kBuffer),
      [self = shared_from_this()](const boost::system::error_code& error, std::size_t size) {
        if (!self->open_) return;
        if (error == boost::asio::error::eof) return self->broke("the connection was closed");
        if (error) return self->broke(error.message());
        self->received(size);
      });
}

void FrameStream::received(std::size_t size) {
  reader_.append({buffer_.get(), size});
  pending_ += size;
  deliver();
  read();
}

void FrameStream::deliver() {
  while (open_) {
    Result<std::optional<std::string>> next = reader_.next();
    if (!next) return broke(next.error().text);
    if (!next->has_value()) {
      if (pending_ > limit_ + kHeader) broke("a frame over the limit");
      return;
    }
    std::string& payload = **next;
    pending_ -= payload.size() + kHeader;
    if (payload.size() > limit_) return broke("a frame over the limit");
    const auto handlers = handlers_;
    handlers->frame(std::move(payload));
  }
}

void FrameStream::send(std::string_view payload, Lane lane) {
  if (!open_ || finishing_) return;
  std::string bytes = wire::frame(payload);
  (lane == Lane::kControl ? control_ : bulk_).push_back(std::move(bytes));
  write();
}

void FrameStream::write() {
  if (!open_ || !writing_.empty()) return;
  std::deque<std::string>& lane = control_.empty() ? bulk_ : control_;
  if (lane.empty()) return shut_down_if_finished();
  writing_ = std::move(lane.front());
  lane.pop_front();
  boost::asio::async_write(
      socket_, boost::asio::buffer(writing_),
      [self = shared_from_this()](const boost::system::error_code& error, std::size_t) {
        self->writing_.clear();
        if (!self->open_) return;
        if (error) return self->broke(error.message());
        self->write();
      });
}

void FrameStream::finish() {
  if (finishing_) return;
  finishing_ = true;
  write();
}

void FrameStream::shut_down_if_finished() {
  if (!finishing_) return;
  boost::system::error_code ignored;
  socket_.shutdown(Socket::shutdown_send, ignored);
}

void FrameStream::broke(const std::string& why) {
  if (!open_) return;
  const auto keep = shared_from_this();
  const auto handlers = handlers_;
  close();
  if (handlers->closed) handlers->closed(why);
}

void FrameStream::close() {
  if (!open_) return;
  open_ = false;
  handlers_ = std::make_shared<const Handlers>();  // lets go of what they hold
  boost::system::error_code ignored;
  socket_.close(ignored);
}

}  // namespace artel::step
