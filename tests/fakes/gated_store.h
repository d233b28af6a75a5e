// A store in memory whose commits wait at a gate, so that a test can look at what happened before
// and after.
#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "ctld/core/store.h"

namespace artel::fakes {

class GatedStore final : public ctld::Store {
 public:
  Result<ctld::StoredState> load() override { return ctld::StoredState{}; }

  Result<> commit(const std::vector<ctld::StoreWrite>& rows) override {
    std::unique_lock lock(mutex_);
    ++arrived_;
    news_.notify_all();
    news_.wait(lock, [this] { return is_open_ || permits_ > 0; });
    if (!is_open_) --permits_;
    if (failure_) return std::unexpected(*failure_);
    batches_.push_back(rows);
    news_.notify_all();
    return {};
  }

  /// Lets everything through from now on.
  void open() {
    const std::lock_guard lock(mutex_);
    is_open_ = true;
    news_.notify_all();
  }
  /// Lets one commit through.
  void let_one_through() {
    const std::lock_guard lock(mutex_);
    ++permits_;
    news_.notify_all();
  }
  void fail_with(Error error) {
    const std::lock_guard lock(mutex_);
    failure_ = std::move(error);
  }
  /// Waits until that many commits have come to the gate.
  void wait_for_arrivals(std::size_t count) {
    std::unique_lock lock(mutex_);
    news_.wait(lock, [&] { return arrived_ >= count; });
  }
  std::vector<std::vector<ctld::StoreWrite>> batches() {
    const std::lock_guard lock(mutex_);
    return batches_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable news_;
  bool is_open_ = false;
  std::size_t permits_ = 0;
  std::size_t arrived_ = 0;
  std::optional<Error> failure_;
  std::vector<std::vector<ctld::StoreWrite>> batches_;
};

}  // namespace artel::fakes
