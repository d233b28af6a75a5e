// Threads with a read connection to the store each: queries and large replies, away from the
// control thread.
//
// Thread: post() from any thread.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "base/result.h"
#include "ctld/services/worker_pool.h"
#include "ctld/store/reader.h"

namespace artel::ctld {

class ReaderPool {
 public:
  using Work = std::move_only_function<void(StoreReader&)>;

  /// One thread for each reader.
  explicit ReaderPool(std::vector<std::unique_ptr<StoreReader>> readers)
      : readers_(std::move(readers)), workers_("reader", readers_.size(), kMaxWaiting) {}

  /// Error: as for WorkerPool::post(); the work is not run then.
  Result<> post(Work work) {
    return workers_.post(
        [this, work = std::move(work)](std::size_t worker) mutable { work(*readers_[worker]); });
  }

  void stop() { workers_.stop(); }

 private:
  static constexpr std::size_t kMaxWaiting = 10'000;

  std::vector<std::unique_ptr<StoreReader>> readers_;
  WorkerPool workers_;
};

}  // namespace artel::ctld
