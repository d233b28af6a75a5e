// The control thread: the one place where the controller core is called, and the committer beside
// it.
//
// I1 Nothing that a step wants done outside (answers, sends, news, reads) leaves before the rows of
// that step and of all steps
//    before it are durable. Steps without rows keep their place in the same queue, so they overtake
//    nothing.
// I2 Whatever queued while a commit ran is committed by the next one. A small commit that nobody
// waits behind is done by the control thread itself: handing it over and back costs as much as it
// does.
// I3 A commit that fails ends the process through Outlets::fatal; it is never tried again.
// I4 The time given to the core is the wall clock at the start plus the steady clock since then: it
// never jumps back.
//
// Threads: post(), command(), read() and now() may be called from any thread and never block.
// Everything in Outlets but `fatal` and `idle`, every OnReply, OnSnapshot and timer runs on the
// control thread and must not block either; `fatal` runs on the thread that committed, `idle` on
// the committer's.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <variant>
#include <vector>

#include "base/result.h"
#include "ctld/core/controller.h"
#include "ctld/core/effects.h"
#include "ctld/core/store.h"
#include "ctld/services/committer.h"
#include "ctld/services/slowed_clock.h"

namespace artel::ctld {

class ControlLoop {
 public:
  using Task = std::move_only_function<void(Controller&, Time)>;
  using Command = std::move_only_function<void(Controller&, RequestId, Time)>;
  using OnReply = std::move_only_function<void(decltype(Reply::body))>;
  using OnSnapshot = std::move_only_function<void(std::shared_ptr<const Snapshot>)>;
  using OnTimer = std::move_only_function<void()>;

  /// Where effects go once they are durable.
  struct Outlets {
    std::function<void(AgentSend)> send;
    std::function<void(const std::vector<JobId>&)> changed;
    std::function<void(const Error&)> fatal;  // should not return
    std::function<Result<>()> idle;           // after a pause; errors are fatal; may be empty
  };

  struct Options {
    std::size_t max_waiting = 10'000;  // commands and reads that are not answered yet
  };

  ControlLoop(std::unique_ptr<Controller> controller, Store& store, Outlets outlets,
              Options options);
  ControlLoop(const ControlLoop&) = delete;
  ControlLoop& operator=(const ControlLoop&) = delete;
  ~ControlLoop();

  void start();
  /// Takes no new work, finishes and commits what is there, releases it and joins both threads.
  void stop();

  /// One command of a client. The command must make the core answer `RequestId` exactly once.
  /// Error: kTryAgain where too many wait, kUnavailable while stopping; `on_reply` is not called
  /// then.
  Result<> command(Command command, OnReply on_reply);
  /// The state after everything posted before, once it is durable. Errors as for command().
  Result<> read(OnSnapshot on_snapshot);
  /// An event that may not be refused: what agents say. Callers bound their number by themselves.
  void post(Task task);

  /// Committer::post(). Any thread.
  void chore(Committer::Chore chore) { committer_.post(std::move(chore)); }

  /// Control thread only: as read(), but never refused. For clients that were admitted before.
  void read_again(OnSnapshot on_snapshot);
  /// Control thread only (or before start()): runs `on_timer` once, `after` from now.
  void after(Duration after, OnTimer on_timer);

  [[nodiscard]] Time now() const;

 private:
  struct PostedCommand {
    Command command;
    OnReply on_reply;
  };
  using Post = std::variant<Task, PostedCommand, OnSnapshot>;
  struct Parked {
    std::uint64_t sequence{};  // the batch that must be durable before this may go
    Effects effects;           // without writes
    std::shared_ptr<const Snapshot> snapshot;
    std::vector<OnSnapshot> reads;
  };
  struct Wakeup {
    std::vector<Post> posts;
    std::uint64_t durable{};
    bool stopping{};
    bool failed{};
  };

  Result<> admit(Post post);
  void wake(std::unique_lock<std::mutex> lock);
  void control_thread();
  Wakeup wait_for_work();
  void step(std::vector<Post>& posts, bool stopping);
  void run(Post& post);
  void tick_if_due();
  void flush();
  void write(std::vector<StoreWrite> rows);
  [[nodiscard]] bool nobody_waits();
  void park(Parked parked);
  void serve_reads();
  void release(std::uint64_t durable);
  void release(Parked parked);
  void run_timers();
  [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> deadline() const;
  [[nodiscard]] std::chrono::steady_clock::time_point at(Time time) const;
  void durable(std::uint64_t sequence);
  void give_up(const Error& error);

  const std::unique_ptr<Controller> controller_;
  const Outlets outlets_;
  const Options options_;
  Committer committer_;
  const SlowedClock clock_;
  const std::chrono::steady_clock::time_point steady_start_;

  // Shared by all threads, under mutex_.
  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<Post> posts_;
  std::uint64_t durable_ = 0;
  bool stopping_ = false;
  bool failed_ = false;  // a commit failed and `fatal` returned
  bool sleeping_ = false;

  std::atomic<std::size_t> waiting_ = 0;

  // Control thread.
  std::uint64_t sequence_ = 0;  // of the latest batch
  std::uint64_t last_request_ = 0;
  std::deque<Parked> parked_;
  std::unordered_map<RequestId, OnReply> on_replies_;
  std::multimap<std::chrono::steady_clock::time_point, OnTimer> timers_;
  std::vector<OnSnapshot> reads_;
  std::shared_ptr<const Snapshot> snapshot_;  // null: the state changed since it was made
  std::chrono::steady_clock::time_point next_snapshot_{};
  std::chrono::steady_clock::duration pass_cost_{};
  std::chrono::steady_clock::duration parts_cost_{};  // of the pass that is under way
  std::chrono::steady_clock::time_point next_pass_{};

  std::thread control_;
};

}  // namespace artel::ctld
