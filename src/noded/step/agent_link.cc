#include "noded/step/agent_link.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <utility>

#include "noded/step/log.h"
#include "wire/step/step_wire.h"

namespace artel::step {
namespace {

/// Root or the daemon's own account.
bool may_command(int socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return false;
  return peer.uid == 0 || peer.uid == ::geteuid();
}

}  // namespace

AgentLink::AgentLink(boost::asio::io_context& loop, Fd listener, Handlers handlers)
    : loop_(loop),
      acceptor_(loop, boost::asio::local::stream_protocol(), listener.release()),
      handlers_(std::move(handlers)) {}

AgentLink::~AgentLink() {
  if (stream_) stream_->close();
}

void AgentLink::accept() {
  acceptor_.async_accept([this](const boost::system::error_code& error,
                                boost::asio::local::stream_protocol::socket socket) {
    if (error == boost::asio::error::operation_aborted) return;
    if (!error && may_command(socket.native_handle())) serve(std::move(socket));
    accept();
  });
}

void AgentLink::serve(boost::asio::local::stream_protocol::socket socket) {
  if (stream_) stream_->close();
  FrameStream::Handlers handlers;
  handlers.frame = [this](const std::string& payload) {
    const Result<ToStep> message = wire::decode_to_step(payload);
    if (!message) {
      log_line(fmt::format("a message of the agent is dropped: {}", message.error().text));
      return;
    }
    handlers_.message(*message);
  };
  handlers.closed = [this](const std::string&) {
    stream_ = nullptr;
    handlers_.contact(false);
  };
  stream_ =
      std::make_shared<FrameStream>(FrameStream::Socket(std::move(socket)), std::move(handlers));
  stream_->start();
  handlers_.contact(true);
  send(handlers_.status());
}

bool AgentLink::reachable() const {
  boost::system::error_code error;
  const std::string path = acceptor_.local_endpoint(error).path();
  struct stat status{};
  return error || path.empty() || path.front() == '\0' || ::stat(path.c_str(), &status) == 0 ||
         errno != ENOENT;
}

void AgentLink::send(const StepStatus& status) {
  if (stream_) stream_->send(wire::encode(FromStep(status)));
}

}  // namespace artel::step
