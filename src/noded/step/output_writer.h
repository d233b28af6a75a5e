// Appends the output of the other nodes to the files of the job, in a thread of its own: a file
// system that hangs must not keep the daemon from ending the gang.
//
// Thread: all public functions from the loop; `written` is posted to the loop. The thread starts
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

#include "model/step_protocol.h"

namespace artel::step {

class OutputWriter {
 public:
  /// Called in the loop when so many more bytes of node `from` were written, or lost with an error.
  using Written = std::function<void(std::uint32_t from, std::size_t bytes)>;

  /// `output`, `error`: descriptors that stay open as long as the writer.
  OutputWriter(boost::asio::io_context& loop, int output, int error, Written written);
  /// Leaves a thread that hangs in the file system behind; the process is about to end then.
  ~OutputWriter();
  OutputWriter(const OutputWriter&) = delete;
  OutputWriter& operator=(const OutputWriter&) = delete;

  void write(std::uint32_t from, OutputLines lines);
  /// Bytes that are not in the files yet.
  [[nodiscard]] std::size_t queued() const;

 private:
  struct Shared;

  std::shared_ptr<Shared> shared_;
  std::thread thread_;
};

}  // namespace artel::step
