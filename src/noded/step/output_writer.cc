#include "noded/step/output_writer.h"

#include <fmt/format.h>
#include <unistd.h>

#include <boost/asio/post.hpp>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "noded/step/log.h"

namespace artel::step {

/// Kept alive by the thread, too, which may outlive the writer.
struct OutputWriter::Shared {
  boost::asio::io_context& loop;
  int output;
  int error;
  Written written;
  mutable std::mutex mutex;
  std::condition_variable filled;
  std::deque<std::pair<std::uint32_t, OutputLines>> queue;
  std::size_t queued = 0;
  bool stopping = false;
  bool failed = false;  // the thread's own: a failure was logged

  void run();
  void write_out(int file, std::string_view bytes);
};

void OutputWriter::Shared::run() {
  std::unique_lock lock(mutex);
  while (true) {
    filled.wait(lock, [this] { return stopping || !queue.empty(); });
    if (queue.empty()) return;
    const auto [from, lines] = std::move(queue.front());
    queue.pop_front();
    lock.unlock();
    write_out(lines.is_error ? error : output, lines.bytes);
    lock.lock();
    const std::size_t size = lines.bytes.size();
    queued -= size;
    if (stopping) continue;
    boost::asio::post(loop, [written = written, from = from, size] { written(from, size); });
  }
}

void OutputWriter::Shared::write_out(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t size = ::write(file, bytes.data(), bytes.size());
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) {
      if (!std::exchange(failed, true)) {
        log_line(fmt::format("output of other nodes cannot be written and is lost: {}",
                             std::strerror(errno)));
      }
      return;
    }
    bytes.remove_prefix(static_cast<std::size_t>(size));
  }
}

OutputWriter::OutputWriter(boost::asio::io_context& loop, int output, int error, Written written)
    : shared_(new Shared{.loop = loop,
                         .output = output,
                         .error = error,
                         .written = std::move(written),
                         .mutex = {},
                         .filled = {},
                         .queue = {}}) {}

OutputWriter::~OutputWriter() {
  bool idle = false;
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->stopping = true;
    idle = shared_->queued == 0;
  }
  shared_->filled.notify_one();
  if (!thread_.joinable()) return;
  if (idle) {
    thread_.join();
  } else {
    thread_.detach();
  }
}

void OutputWriter::write(std::uint32_t from, OutputLines lines) {
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->queued += lines.bytes.size();
    shared_->queue.emplace_back(from, std::move(lines));
  }
  shared_->filled.notify_one();
  if (!thread_.joinable()) thread_ = std::thread([shared = shared_] { shared->run(); });
}

std::size_t OutputWriter::queued() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->queued;
}

}  // namespace artel::step
