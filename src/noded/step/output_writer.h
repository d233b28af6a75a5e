// Appends the output of the other nodes to the files of the job, in a thread of its own: a file
// system that hangs must not keep the daemon from ending the gang.
//
// Thread: all public functions from the loop; `changed` is posted to the loop. The thread starts
// with the first bytes.
#pragma once

#include <boost/asio/io_context.hpp>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

namespace artel::step {

class OutputWriter {
 public:
  /// `output`, `error`: descriptors that stay open as long as the writer. `changed`: called in the
  /// loop when queued() fell.
  OutputWriter(boost::asio::io_context& loop, int output, int error, std::function<void()> changed);
  /// Leaves a thread that hangs in the file system behind; the process is about to end then.
  ~OutputWriter();
  OutputWriter(const OutputWriter&) = delete;
  OutputWriter& operator=(const OutputWriter&) = delete;

  void write(bool is_error, std::string bytes);
  /// Bytes that are not in the files yet.
  [[nodiscard]] std::size_t queued() const;

 private:
  struct Shared;

  std::shared_ptr<Shared> shared_;
  std::thread thread_;
};

}  // namespace artel::step
