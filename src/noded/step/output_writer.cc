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
  std::function<void()> changed;
  mutable std::mutex mutex;
  std::condition_variable filled;
  std::deque<std::pair<bool, std::string>> queue;
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
    const auto [is_error, bytes] = std::move(queue.front());
    queue.pop_front();
    lock.unlock();
    write_out(is_error ? error : output, bytes);
    lock.lock();
    queued -= bytes.size();
    if (!stopping) boost::asio::post(loop, changed);
  }
}

void OutputWriter::Shared::write_out(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      if (!std::exchange(failed, true)) {
        log_line(fmt::format("output of other nodes cannot be written and is lost: {}",
                             std::strerror(errno)));
      }
      return;
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

OutputWriter::OutputWriter(boost::asio::io_context& loop, int output, int error,
                           std::function<void()> changed)
    : shared_(new Shared{.loop = loop,
                         .output = output,
                         .error = error,
                         .changed = std::move(changed),
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

void OutputWriter::write(bool is_error, std::string bytes) {
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->queued += bytes.size();
    shared_->queue.emplace_back(is_error, std::move(bytes));
  }
  shared_->filled.notify_one();
  if (!thread_.joinable()) thread_ = std::thread([shared = shared_] { shared->run(); });
}

std::size_t OutputWriter::queued() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->queued;
}

}  // namespace artel::step
