#include "ctld/services/worker_pool.h"

#include <fmt/format.h>
#include <pthread.h>

#include <utility>

namespace artel::ctld {

WorkerPool::WorkerPool(std::string name, std::size_t threads, std::size_t max_waiting)
    : name_(std::move(name)), max_waiting_(max_waiting) {
  threads_.reserve(threads);
  for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back([this, i] { run(i); });
}

WorkerPool::~WorkerPool() { stop(); }

Result<> WorkerPool::post(Work work) {
  const std::lock_guard lock(mutex_);
  if (stopping_) {
    return fail(ErrorCode::kUnavailable, "the controller is stopping; try again in 10 s");
  }
  if (waiting_.size() >= max_waiting_) {
    return fail(ErrorCode::kTryAgain,
                fmt::format("{} requests wait for the controller's {} threads, the most that it "
                            "accepts; try again in 2 s",
                            max_waiting_, name_));
  }
  waiting_.push_back(std::move(work));
  wake_.notify_one();
  return {};
}

void WorkerPool::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    wake_.notify_all();
  }
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

void WorkerPool::run(std::size_t worker) {
  pthread_setname_np(pthread_self(), fmt::format("{}-{}", name_, worker).c_str());
  for (;;) {
    Work work;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return !waiting_.empty() || stopping_; });
      if (waiting_.empty()) return;
      work = std::move(waiting_.front());
      waiting_.pop_front();
    }
    work(worker);
  }
}

}  // namespace artel::ctld
