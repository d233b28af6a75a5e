// Plays a copy of a Scheduler forward on what is known: runs end at their limits, victims at the
// end of their grace and wait again, nothing arrives and nothing fails. Forecasts and questions
// "what if" are read off it.
//
// A job without a limit never ends; what waits for its nodes never starts.
#pragma once

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "sched/scheduler.h"

namespace artel::sched {

class Replay {
 public:
  /// A copy of `from` as of `now`; nothing has been decided yet.
  Replay(const Scheduler& from, Time now);

  /// Decides at the present instant until nothing changes.
  void rest();
  /// Goes to the next instant at which something ends or may change, and decides. False: nothing
  /// happens any more.
  bool step();

  // Facts of the present instant, before rest().

  /// The job is over.
  void end(JobId job);
  /// The node fails: its jobs wait again (E1).
  void fail(NodeId node);

  [[nodiscard]] Scheduler& scheduler() { return scheduler_; }
  [[nodiscard]] Time now() const { return now_; }
  /// First starts since the begin, with their times.
  [[nodiscard]] const std::map<JobId, Time>& starts() const { return starts_; }
  /// All starts and signals at the begin.
  [[nodiscard]] const std::vector<Decision>& first_decisions() const { return first_decisions_; }

 private:
  enum class Then : std::uint8_t { kOver, kWaitsAgain };

  void expect(JobId job, Time time, Then then);
  void forget(JobId job);
  void apply_ends();
  void take(const std::vector<Decision>& decisions);
  void end_signalled_without_grace();

  Scheduler scheduler_;
  Time begin_;
  Time now_;
  std::map<JobId, std::pair<Time, Then>> ends_;
  std::set<std::pair<Time, JobId>> by_time_;
  std::map<JobId, Time> starts_;
  std::vector<Decision> first_decisions_;
};

}  // namespace artel::sched
