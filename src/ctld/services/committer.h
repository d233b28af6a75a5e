// Commits batches of rows in their order, and tells when they are durable.
//
// A thread of its own commits what is handed over; what queues while a commit runs goes into the
// next one (group commit without a timer). While that thread has nothing to do, the owner may
// commit by itself: a small commit is over sooner than two threads have woken each other.
// I1 One commit at a time, in the order of the sequences.
// I2 After a commit that failed nothing is committed any more.
//
// Thread: hand_over(), commit_here(), start() and stop() belong to one owner's thread each;
// `durable` and `idle` are called on the committer's thread, `failed` on the thread that committed.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "base/result.h"
#include "ctld/core/store.h"

namespace artel::ctld {

struct Batch {
  std::uint64_t sequence{};
  std::vector<StoreWrite> rows;
};

class Committer {
 public:
  using Chore = std::move_only_function<Result<>()>;

  struct Events {
    /// Everything up to this sequence is durable. Not called for commit_here().
    std::function<void(std::uint64_t)> durable;
    std::function<void(const Error&)> failed;
    /// Nothing was committed for a while: the store may tidy up. An error is that of a commit. May
    /// be empty.
    std::function<Result<>()> idle;
  };

  Committer(Store& store, Events events) : store_(store), events_(std::move(events)) {}
  Committer(const Committer&) = delete;
  Committer& operator=(const Committer&) = delete;

  void start();
  /// Commits what was handed over, then joins the thread.
  void stop();

  void hand_over(Batch batch);
  /// Runs `chore` on the committer's thread while nobody else uses the store: between two commits,
  /// one at a time. An error is that of a commit. Not run after stop(). Any thread.
  void post(Chore chore);
  /// True: the batch is durable. False: it has not been touched, because an earlier one is not
  /// durable yet, or because a commit failed.
  bool commit_here(const Batch& batch);

 private:
  enum class Next : std::uint8_t { kCommit, kChore, kIdle, kEnd };

  void run();
  Next wait_for_work();
  [[nodiscard]] Next next_work();
  Result<> commit_queued();
  Result<> run_chore();
  /// Ends a commit or an idle moment; after a failure the writer stays taken for good.
  void give_back(const Result<>& done);

  Store& store_;
  const Events events_;

  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<Batch> batches_;
  std::deque<Chore> chores_;
  bool chore_next_ = false;  // they take turns with commits
  bool taken_ = false;       // somebody uses the store
  bool stopping_ = false;
  bool idle_due_ = false;  // something was committed since the last idle moment
  std::chrono::steady_clock::time_point last_use_{};
  std::thread thread_;
};

}  // namespace artel::ctld
