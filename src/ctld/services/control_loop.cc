#include "ctld/services/control_loop.h"

#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "base/assert.h"

namespace artel::ctld {
namespace {

using Steady = std::chrono::steady_clock;

/// A pass is made in parts of about so much, and in between others are answered.
constexpr auto kPartOfPass = std::chrono::milliseconds{5};
/// A pass that costs less than about half a commit is not worth a commit of its own: its rows go
/// with those of the commands that caused it.
constexpr auto kCheapPass = std::chrono::microseconds{100};
/// Passes of one part may take at most 1/5 of the control thread, longer ones half of it: what
/// comes meanwhile is answered, and shares the next pass. No start waits longer for that than a
/// pass takes, or this.
constexpr int kPassPause = 4;
constexpr auto kLongestPause = std::chrono::milliseconds{10};
/// Making pictures for readers may take at most 1/5 of the control thread; reads that come
/// meanwhile share the next one.
constexpr int kSnapshotPause = 4;
/// More rows than this are committed by the other thread, while this one goes on.
constexpr std::size_t kSmallBatch = 32;

SlowedClock clock_from(Time begin) {
  const auto wall = std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
  return {begin, std::max(begin - wall, Duration::zero())};
}

}  // namespace

ControlLoop::ControlLoop(std::unique_ptr<Controller> controller, Store& store, Outlets outlets,
                         Options options)
    : controller_(std::move(controller)),
      outlets_(std::move(outlets)),
      options_(options),
      committer_(store, {.durable = [this](std::uint64_t sequence) { durable(sequence); },
                         .failed = [this](const Error& error) { give_up(error); },
                         .idle = outlets_.idle}),
      clock_(clock_from(controller_->begin())),
      steady_start_(Steady::now()) {}

ControlLoop::~ControlLoop() { stop(); }

Time ControlLoop::now() const {
  return clock_.after(std::chrono::duration_cast<Duration>(Steady::now() - steady_start_));
}

Steady::time_point ControlLoop::at(Time time) const { return steady_start_ + clock_.until(time); }

void ControlLoop::start() {
  committer_.start();
  control_ = std::thread([this] { control_thread(); });
}

void ControlLoop::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    wake_.notify_one();
  }
  if (control_.joinable()) control_.join();
  committer_.stop();
}

// Any thread --------------------------------------------------------------------------------

Result<> ControlLoop::command(Command command, OnReply on_reply) {
  return admit(PostedCommand{std::move(command), std::move(on_reply)});
}

Result<> ControlLoop::read(OnSnapshot on_snapshot) { return admit(std::move(on_snapshot)); }

Result<> ControlLoop::admit(Post post) {
  if (waiting_.fetch_add(1, std::memory_order_relaxed) >= options_.max_waiting) {
    waiting_.fetch_sub(1, std::memory_order_relaxed);
    return fail(ErrorCode::kTryAgain,
                fmt::format("the controller has {} unanswered requests, the most that it accepts; "
                            "try again in 2 s",
                            options_.max_waiting));
  }
  std::unique_lock lock(mutex_);
  if (stopping_) {
    waiting_.fetch_sub(1, std::memory_order_relaxed);
    return fail(ErrorCode::kUnavailable, "the controller is stopping; try again in 10 s");
  }
  posts_.push_back(std::move(post));
  wake(std::move(lock));
  return {};
}

void ControlLoop::post(Task task) {
  std::unique_lock lock(mutex_);
  posts_.emplace_back(std::move(task));
  wake(std::move(lock));
}

/// Without the lock: the thread that wakes up would wait for it at once.
void ControlLoop::wake(std::unique_lock<std::mutex> lock) {
  const bool sleeping = sleeping_;
  lock.unlock();
  if (sleeping) wake_.notify_one();
}

// Control thread ----------------------------------------------------------------------------

void ControlLoop::control_thread() {
  pthread_setname_np(pthread_self(), "control");
  for (;;) {
    Wakeup work = wait_for_work();
    if (work.failed) return;
    release(work.durable);
    if (!work.stopping) run_timers();
    step(work.posts, work.stopping);
    if (work.stopping && work.posts.empty() && parked_.empty() && reads_.empty()) return;
  }
}

ControlLoop::Wakeup ControlLoop::wait_for_work() {
  const auto until = deadline();
  std::unique_lock lock(mutex_);
  const auto news = [this] {
    const bool durable = !parked_.empty() && parked_.front().sequence <= durable_;
    return !posts_.empty() || durable || failed_ || (stopping_ && parked_.empty());
  };
  sleeping_ = true;
  if (until) {
    wake_.wait_until(lock, *until, news);
  } else {
    wake_.wait(lock, news);
  }
  sleeping_ = false;
  return Wakeup{std::exchange(posts_, {}), durable_, stopping_, failed_};
}

std::optional<Steady::time_point> ControlLoop::deadline() const {
  std::optional<Steady::time_point> until;
  const auto no_later_than = [&until](Steady::time_point time) {
    until = until ? std::min(*until, time) : time;
  };
  if (const auto tick = controller_->next_tick()) no_later_than(std::max(at(*tick), next_pass_));
  if (!timers_.empty()) no_later_than(timers_.begin()->first);
  if (!reads_.empty()) no_later_than(snapshot_ ? Steady::time_point{} : next_snapshot_);
  return until;
}

void ControlLoop::step(std::vector<Post>& posts, bool stopping) {
  for (Post& one : posts) run(one);
  // Answers do not wait for a scheduling pass that is known to take long.
  if (pass_cost_ > kCheapPass) flush();
  tick_if_due();
  flush();
  if (reads_.empty()) return;
  if (snapshot_ || stopping || Steady::now() >= next_snapshot_) serve_reads();
}

void ControlLoop::run(Post& post) {
  if (auto* on_snapshot = std::get_if<OnSnapshot>(&post)) {
    reads_.push_back(std::move(*on_snapshot));
    return;
  }
  snapshot_.reset();
  if (auto* task = std::get_if<Task>(&post)) {
    (*task)(*controller_, now());
    return;
  }
  auto& posted = std::get<PostedCommand>(post);
  const RequestId request{++last_request_};
  on_replies_.emplace(request, std::move(posted.on_reply));
  posted.command(*controller_, request, now());
}

void ControlLoop::tick_if_due() {
  const auto due = controller_->next_tick();
  const auto begin = Steady::now();
  if (!due || *due > now() || begin < next_pass_) return;
  snapshot_.reset();
  controller_->tick(now(), [end = begin + kPartOfPass] { return Steady::now() < end; });
  const auto end = Steady::now();
  parts_cost_ += end - begin;
  if (controller_->in_pass()) return;
  pass_cost_ = std::exchange(parts_cost_, {});
  next_pass_ = end + std::max(pass_cost_,
                              std::min<Steady::duration>(kPassPause * pass_cost_, kLongestPause));
}

/// Parks what the core wants done until its rows are durable.
void ControlLoop::flush() {
  Effects effects = controller_->take_effects();
  if (effects.empty()) return;
  if (!effects.writes.empty()) write(std::exchange(effects.writes, {}));
  park({sequence_, std::move(effects), nullptr, {}});
}

/// Where there is nothing to do meanwhile, this thread commits by itself.
void ControlLoop::write(std::vector<StoreWrite> rows) {
  Batch batch{++sequence_, std::move(rows)};
  if (batch.rows.size() <= kSmallBatch && nobody_waits() && committer_.commit_here(batch)) {
    durable(batch.sequence);
  } else {
    committer_.hand_over(std::move(batch));
  }
}

bool ControlLoop::nobody_waits() {
  const std::lock_guard lock(mutex_);
  return posts_.empty();
}

void ControlLoop::serve_reads() {
  if (!snapshot_) {
    const auto begin = Steady::now();
    snapshot_ = controller_->snapshot(now());
    const auto end = Steady::now();
    next_snapshot_ = end + kSnapshotPause * (end - begin);
  }
  park({sequence_, {}, snapshot_, std::exchange(reads_, {})});
}

/// Lets it out at once where nothing before it waits for a commit.
void ControlLoop::park(Parked parked) {
  parked_.push_back(std::move(parked));
  std::uint64_t durable = 0;
  {
    const std::lock_guard lock(mutex_);
    durable = durable_;
  }
  release(durable);
}

void ControlLoop::release(std::uint64_t durable) {
  while (!parked_.empty() && parked_.front().sequence <= durable) {
    Parked parked = std::move(parked_.front());
    parked_.pop_front();
    release(std::move(parked));
  }
}

void ControlLoop::release(Parked parked) {
  for (AgentSend& send : parked.effects.sends) outlets_.send(std::move(send));
  for (Reply& reply : parked.effects.replies) {
    auto found = on_replies_.extract(reply.request);
    ARTEL_ASSERT(!found.empty());
    waiting_.fetch_sub(1, std::memory_order_relaxed);
    found.mapped()(std::move(reply.body));
  }
  if (!parked.effects.changed.empty()) outlets_.changed(parked.effects.changed);
  for (OnSnapshot& read : parked.reads) {
    waiting_.fetch_sub(1, std::memory_order_relaxed);
    read(parked.snapshot);
  }
}

void ControlLoop::read_again(OnSnapshot on_snapshot) {
  waiting_.fetch_add(1, std::memory_order_relaxed);
  reads_.push_back(std::move(on_snapshot));
}

void ControlLoop::after(Duration after, OnTimer on_timer) {
  timers_.emplace(Steady::now() + after, std::move(on_timer));
}

void ControlLoop::run_timers() {
  const auto now = Steady::now();
  while (!timers_.empty() && timers_.begin()->first <= now) {
    OnTimer on_timer = std::move(timers_.extract(timers_.begin()).mapped());
    on_timer();
  }
}

// The thread that committed -----------------------------------------------------------------

void ControlLoop::durable(std::uint64_t sequence) {
  std::unique_lock lock(mutex_);
  durable_ = sequence;
  wake(std::move(lock));
}

void ControlLoop::give_up(const Error& error) {
  outlets_.fatal(error);
  const std::lock_guard lock(mutex_);
  failed_ = true;
  wake_.notify_one();
}

}  // namespace artel::ctld
