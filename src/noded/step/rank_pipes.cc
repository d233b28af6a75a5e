#include "noded/step/rank_pipes.h"

#include <unistd.h>

#include <array>
#include <cerrno>

namespace artel::step {
namespace {

constexpr std::size_t kChunk = 64U << 10U;

}  // namespace

void RankPipes::add(Fd pipe, bool is_error) {
  pipes_.emplace_back(loop_, pipe.release(), is_error);
  wait(pipes_.back());
}

void RankPipes::wait(Pipe& pipe) {
  if (paused_ || pipe.waiting || !pipe.stream.is_open()) return;
  pipe.waiting = true;
  pipe.stream.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                         [this, &pipe](const boost::system::error_code& error) {
                           if (error == boost::asio::error::operation_aborted) return;
                           pipe.waiting = false;
                           if (paused_ || !read_some(pipe)) return;
                           wait(pipe);
                         });
}

bool RankPipes::read_some(Pipe& pipe) {
  std::array<char, kChunk> buffer;
  const ssize_t size = ::read(pipe.stream.native_handle(), buffer.data(), buffer.size());
  if (size > 0) {
    std::string lines = pipe.cutter.push({buffer.data(), static_cast<std::size_t>(size)});
    if (!lines.empty()) sink_(pipe.is_error, std::move(lines));
    return true;
  }
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) {
    wait(pipe);
    return false;
  }
  if (std::string rest = pipe.cutter.rest(); !rest.empty()) sink_(pipe.is_error, std::move(rest));
  boost::system::error_code ignored;
  pipe.stream.close(ignored);
  return false;
}

void RankPipes::pause() { paused_ = true; }

void RankPipes::resume() {
  if (!paused_) return;
  paused_ = false;
  for (Pipe& pipe : pipes_) wait(pipe);
}

void RankPipes::drain() {
  paused_ = true;  // no new waits
  for (Pipe& pipe : pipes_) {
    while (pipe.stream.is_open() && read_some(pipe)) {
    }
    if (std::string rest = pipe.cutter.rest(); !rest.empty()) sink_(pipe.is_error, std::move(rest));
    boost::system::error_code ignored;
    if (pipe.stream.is_open()) pipe.stream.close(ignored);
  }
}

}  // namespace artel::step
