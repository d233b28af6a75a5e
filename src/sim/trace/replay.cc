#include "sim/trace/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <queue>
#include <tuple>

namespace artel::trace {
namespace {

/// A task that is on the machine, or the end of such a stay.
struct Departure {
  Seconds at{};
  std::uint64_t sequence{};  // of the start: ends of one instant come in this order
  TaskIndex task{};
  bool operator>(const Departure& other) const {
    return std::tie(at, sequence) > std::tie(other.at, other.sequence);
  }
};

enum class Phase : std::uint8_t { kUnknown, kWaiting, kRunning, kLeaving, kOver };

struct TaskState {
  Phase phase = Phase::kUnknown;
  Seconds since{};           // start of this stay
  Seconds saved{};           // work that need not be done again
  std::uint64_t sequence{};  // of this stay
  bool has_run{};
};

class Replay {
 public:
  Replay(const Problem& problem, Policy& policy, const ReplayOptions& options)
      : problem_(problem),
        policy_(policy),
        options_(options),
        states_(problem.tasks.size()),
        free_(problem.capacity) {
    outcome_.tasks.resize(problem.tasks.size());
    outcome_.stays.reserve(problem.tasks.size());
  }

  Result<Outcome> run() {
    while (over_ < states_.size()) {
      const auto next = next_instant();
      if (!next) {
        return fail(ErrorCode::kInvalidArgument,
                    fmt::format("the policy leaves {} jobs waiting for ever, the first is {}",
                                states_.size() - over_, id_of(first_waiting())));
      }
      now_ = *next;
      auto done = policy_.order() == EventOrder::kBatch ? batch() : single();
      if (!done) return fail(done);
      note_stranded();
    }
    if (options_.progress) options_.progress(over_);
    return std::move(outcome_);
  }

 private:
  const std::string& id_of(TaskIndex task) const {
    return problem_.workload->jobs[problem_.tasks[task].job].id;
  }

  TaskIndex first_waiting() const {
    const auto at = std::find_if(states_.begin(), states_.end(), [](const TaskState& state) {
      return state.phase == Phase::kWaiting;
    });
    return static_cast<TaskIndex>(at - states_.begin());
  }

  std::optional<Seconds> next_instant() {
    drop_stale();
    std::optional<Seconds> next;
    const auto consider = [&next](Seconds at) { next = next ? std::min(*next, at) : at; };
    if (arrived_ < states_.size()) consider(problem_.tasks[arrived_].submit);
    if (!departures_.empty()) consider(departures_.top().at);
    if (const auto wake = policy_.next_wake(now_); wake && *wake > now_) consider(*wake);
    return next;
  }

  /// Departures of stays that an eviction cut short.
  void drop_stale() {
    while (!departures_.empty() && is_stale(departures_.top())) departures_.pop();
  }
  bool is_stale(const Departure& departure) const {
    const TaskState& state = states_[departure.task];
    return state.sequence != departure.sequence || state.phase == Phase::kWaiting ||
           state.phase == Phase::kOver;
  }

  bool submit_due() const {
    return arrived_ < states_.size() && problem_.tasks[arrived_].submit <= now_;
  }
  bool departure_due() {
    drop_stale();
    return !departures_.empty() && departures_.top().at <= now_;
  }

  Result<> batch() {
    while (departure_due()) depart();
    while (submit_due()) arrive();
    return pass();
  }

  Result<> single() {
    bool any = false;
    while (submit_due()) {
      arrive();
      if (auto done = pass(); !done) return done;
      any = true;
    }
    while (departure_due()) {
      depart();
      if (auto done = pass(); !done) return done;
      any = true;
    }
    return any ? Result<>{} : pass();
  }

  void arrive() {
    const TaskIndex task = arrived_++;
    states_[task].phase = Phase::kWaiting;
    if (policy_.submit(now_, task)) return;
    states_[task].phase = Phase::kOver;
    outcome_.tasks[task] = {now_, now_, 0, true};
    ++over_;
  }

  void depart() {
    const TaskIndex task = departures_.top().task;
    departures_.pop();
    TaskState& state = states_[task];
    free_ += problem_.tasks[task].size;
    const Seconds done = state.saved + (now_ - state.since);
    const bool finished = done >= problem_.tasks[task].run;
    if (finished) {
      outcome_.stays.push_back({task, state.since, now_, false, 0});
      state.phase = Phase::kOver;
      outcome_.tasks[task].end = now_;
      ++over_;
      policy_.end(now_, task);
      tell();
      return;
    }
    state.phase = Phase::kWaiting;
    const Seconds ran = now_ - state.since;
    const Seconds lost = options_.checkpoint_every ? ran % *options_.checkpoint_every : ran;
    state.saved += ran - lost;
    outcome_.stays.push_back({task, state.since, now_, true, lost});
    policy_.requeue(now_, task);
  }

  void tell() {
    constexpr std::size_t kEvery = 256;
    if (options_.progress && over_ % kEvery == 0) options_.progress(over_);
  }

  Result<> pass() {
    bool again = true;
    while (again) {
      const std::int64_t before = options_.clock_ns ? options_.clock_ns() : 0;
      const Decisions decisions = policy_.pass(now_);
      if (options_.clock_ns) outcome_.pass_ns.push_back(options_.clock_ns() - before);
      for (const Decision& step : decisions.steps) {
        if (auto done = step.evict ? evict(step.task) : start(step.task); !done) return done;
      }
      again = decisions.again;
      while (again && departure_due()) depart();  // victims without a grace period
    }
    return {};
  }

  Result<> evict(TaskIndex task) {
    TaskState& state = states_[task];
    if (state.phase != Phase::kRunning) {
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("the policy evicts job {}, which does not run", id_of(task)));
    }
    state.phase = Phase::kLeaving;
    ++outcome_.tasks[task].evictions;
    const Seconds natural = state.since + problem_.tasks[task].run - state.saved;
    const Seconds leaves = now_ + policy_.grace(task);
    if (leaves < natural) departures_.push({leaves, state.sequence, task});
    return {};
  }

  Result<> start(TaskIndex task) {
    TaskState& state = states_[task];
    const Task& what = problem_.tasks[task];
    if (state.phase != Phase::kWaiting || !has_room(what.size)) {
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("the policy starts job {}, which {}", id_of(task),
                              state.phase == Phase::kWaiting ? "has no room" : "does not wait"));
    }
    free_ -= what.size;
    if (!state.has_run) outcome_.tasks[task].start = now_;
    state.has_run = true;
    state.phase = Phase::kRunning;
    state.since = now_;
    state.sequence = ++sequence_;
    departures_.push({now_ + what.run - state.saved, state.sequence, task});
    return {};
  }

  /// Where each event has its own pass, ends of this instant may still be on their way.
  bool has_room(Milli size) const {
    if (free_ >= size) return true;
    if (policy_.order() == EventOrder::kBatch) return false;
    Milli due = 0;
    auto rest = departures_;
    for (; !rest.empty() && rest.top().at <= now_; rest.pop()) {
      if (!is_stale(rest.top())) due += problem_.tasks[rest.top().task].size;
    }
    return free_ + due >= size;
  }

  void note_stranded() {
    const auto stranded = policy_.stranded();
    if (!stranded) return;
    if (outcome_.stranded.empty() || outcome_.stranded.back().second != *stranded)
      outcome_.stranded.emplace_back(now_, *stranded);
  }

  const Problem& problem_;
  Policy& policy_;
  const ReplayOptions& options_;
  Outcome outcome_;
  std::vector<TaskState> states_;
  std::priority_queue<Departure, std::vector<Departure>, std::greater<>> departures_;
  Milli free_{};
  Seconds now_ = -1;
  TaskIndex arrived_{};
  std::size_t over_{};
  std::uint64_t sequence_{};
};

}  // namespace

Result<Outcome> replay(const Problem& problem, Policy& policy, const ReplayOptions& options) {
  return Replay(problem, policy, options).run();
}

}  // namespace artel::trace
