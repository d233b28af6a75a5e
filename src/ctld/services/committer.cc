#include "ctld/services/committer.h"

#include <pthread.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace artel::ctld {
namespace {

using Steady = std::chrono::steady_clock;

/// The writer is idle when nothing was committed for so long (up to twice that).
constexpr auto kIdleAfter = std::chrono::milliseconds{200};

}  // namespace

void Committer::start() {
  thread_ = std::thread([this] { run(); });
}

void Committer::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    wake_.notify_one();
  }
  if (thread_.joinable()) thread_.join();
}

void Committer::hand_over(Batch batch) {
  {
    const std::lock_guard lock(mutex_);
    batches_.push_back(std::move(batch));
  }
  wake_.notify_one();
}

void Committer::post(Chore chore) {
  {
    const std::lock_guard lock(mutex_);
    chores_.push_back(std::move(chore));
  }
  wake_.notify_one();
}

bool Committer::commit_here(const Batch& batch) {
  {
    const std::lock_guard lock(mutex_);
    if (taken_ || !batches_.empty()) return false;
    taken_ = true;
  }
  const Result<> done = store_.commit(batch.rows);
  give_back(done);
  return done.has_value();
}

void Committer::give_back(const Result<>& done) {
  if (!done) return events_.failed(done.error());
  const std::lock_guard lock(mutex_);
  taken_ = false;
  last_use_ = Steady::now();
  if (idle_due_ || !events_.idle) return;
  idle_due_ = true;
  wake_.notify_one();  // once for many commits: from now on the thread looks by itself
}

void Committer::run() {
  pthread_setname_np(pthread_self(), "store");
  for (;;) {
    switch (wait_for_work()) {
      case Next::kEnd:
        return;
      case Next::kCommit:
        if (!commit_queued()) return;
        break;
      case Next::kChore:
        if (!run_chore()) return;
        break;
      case Next::kIdle: {
        const Result<> done = events_.idle();
        if (!done) return events_.failed(done.error());
        const std::lock_guard lock(mutex_);
        taken_ = false;
        break;
      }
    }
  }
}

/// Takes the store where there is something to do with it.
Committer::Next Committer::wait_for_work() {
  std::unique_lock lock(mutex_);
  const auto news = [this] { return stopping_ || (!taken_ && next_work() != Next::kEnd); };
  while (!news()) {
    if (!idle_due_) {
      wake_.wait(lock, [&] { return news() || idle_due_; });
    } else if (!wake_.wait_for(lock, kIdleAfter, news) && !taken_ &&
               Steady::now() - last_use_ >= kIdleAfter) {
      idle_due_ = false;
      taken_ = true;
      return Next::kIdle;
    }
  }
  const Next next = taken_ ? Next::kEnd : next_work();
  if (next != Next::kEnd) taken_ = true;
  return next;
}

/// Under the mutex. kEnd: there is nothing to do.
Committer::Next Committer::next_work() {
  const bool has_chore = !chores_.empty() && !stopping_;
  if (has_chore && (chore_next_ || batches_.empty())) return Next::kChore;
  return batches_.empty() ? Next::kEnd : Next::kCommit;
}

Result<> Committer::run_chore() {
  Chore chore;
  {
    const std::lock_guard lock(mutex_);
    chore = std::move(chores_.front());
    chores_.pop_front();
    chore_next_ = false;
  }
  Result<> done = chore();
  give_back(done);
  return done;
}

Result<> Committer::commit_queued() {
  std::vector<Batch> batches;
  {
    const std::lock_guard lock(mutex_);
    batches = std::exchange(batches_, {});
    chore_next_ = true;
  }
  std::vector<StoreWrite> rows = std::move(batches.front().rows);
  for (std::size_t i = 1; i < batches.size(); ++i) {
    std::ranges::move(batches[i].rows, std::back_inserter(rows));
  }
  Result<> done = store_.commit(rows);
  give_back(done);
  if (done) events_.durable(batches.back().sequence);
  return done;
}

}  // namespace artel::ctld
