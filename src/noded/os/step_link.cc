#include "noded/os/step_link.h"

#include <fmt/format.h>
#include <sys/un.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <utility>

#include "wire/step/step_wire.h"

namespace artel::noded {

StepLink::StepLink(boost::asio::io_context& loop, AttemptKey key, Events events)
    : key_(key), events_(std::move(events)), socket_(loop) {}

void StepLink::connect(const std::filesystem::path& path) {
  if (closed_) return;
  boost::system::error_code error;
  // A local socket connects at once or not at all: the kernel answers from the listener's backlog.
  static_cast<void>(socket_.open(boost::asio::local::stream_protocol(), error));
  if (!error) static_cast<void>(socket_.non_blocking(true, error));
  if (!error && path.string().size() >= sizeof(sockaddr_un::sun_path)) {
    error = boost::asio::error::name_too_long;
  }
  if (!error) {
    const boost::asio::local::stream_protocol::endpoint endpoint(path.string());
    static_cast<void>(socket_.connect(endpoint, error));
  }
  if (error) {
    boost::asio::post(
        socket_.get_executor(),
        [self = shared_from_this(), why = fmt::format("cannot connect to '{}': {}", path.string(),
                                                      error.message())] { self->finish(why); });
    return;
  }
  connected_ = true;
  read_some();
  write_some();
}

void StepLink::send(const ToStep& message) {
  if (closed_) return;
  outgoing_.push_back(wire::frame(wire::encode(message)));
  write_some();
}

void StepLink::close() {
  closed_ = true;
  boost::system::error_code ignored;
  static_cast<void>(socket_.close(ignored));
}

void StepLink::read_some() {
  socket_.async_read_some(
      boost::asio::buffer(buffer_),
      [self = shared_from_this()](const boost::system::error_code& error, std::size_t count) {
        if (self->closed_) return;
        if (error) return self->finish(fmt::format("its socket closed: {}", error.message()));
        self->take(std::string_view(self->buffer_.data(), count));
        if (!self->closed_) self->read_some();
      });
}

void StepLink::take(std::string_view bytes) {
  reader_.append(bytes);
  while (!closed_) {
    const auto payload = reader_.next();
    if (!payload) return finish(payload.error().text);
    if (!*payload) return;
    const auto status = wire::decode_from_step(**payload);
    if (!status) return finish(status.error().text);
    if (status->key != key_) {
      return finish(fmt::format("it speaks of attempt {}", format_key(status->key)));
    }
    events_.status(*status);
  }
}

void StepLink::write_some() {
  if (!connected_ || writing_ || closed_ || outgoing_.empty()) return;
  writing_ = true;
  boost::asio::async_write(
      socket_, boost::asio::buffer(outgoing_.front()),
      [self = shared_from_this()](const boost::system::error_code& error, std::size_t) {
        self->writing_ = false;
        if (self->closed_) return;
        // What the daemon sent before it went is still to be read; the reader ends the link.
        if (error) return self->outgoing_.clear();
        self->outgoing_.pop_front();
        self->write_some();
      });
}

void StepLink::finish(const std::string& why) {
  if (closed_) return;
  close();
  events_.closed(why);
}

}  // namespace artel::noded
