// A few threads for work that may block: decoding credentials, reading key files, queries of the
// store, large replies.
//
// Thread: post() from any thread; work runs on one of the pool's threads and is told which, so that
// it can use what that thread owns.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/result.h"

namespace artel::ctld {

class WorkerPool {
 public:
  using Work = std::move_only_function<void(std::size_t worker)>;

  /// `name` (at most 12 characters) names the threads and, in errors, what is busy.
  WorkerPool(std::string name, std::size_t threads, std::size_t max_waiting);
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;
  ~WorkerPool();

  /// Error: kTryAgain where too much waits, kUnavailable while stopping. The work is not run then.
  Result<> post(Work work);
  /// Runs what waits, then joins the threads.
  void stop();

 private:
  void run(std::size_t worker);

  const std::string name_;
  const std::size_t max_waiting_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Work> waiting_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace artel::ctld
