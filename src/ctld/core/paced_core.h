// The scheduling core with passes made in parts, so that the controller answers others meanwhile.
//
// The core hears no news in the middle of a pass. What the controller learns then waits here, in
// order, and is told when the pass is done. So the controller may know better than a decision that
// it gets: a job that is to start may be cancelled, a victim may have ended. Whoever carries a
// decision out looks at that.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <vector>

#include "sched/memory.h"
#include "sched/scheduler.h"

namespace artel::ctld {

class PacedCore {
 public:
  PacedCore(const sched::Setup& setup, Time begin) : core_(setup, begin) {}

  // Facts, as of sched::Scheduler.

  /// Errors as of sched::Scheduler, as far as they can be seen now; who is let in waits in any
  /// case.
  Result<> submit(Time now, const sched::JobFacts& facts);
  /// Nothing happens where the job is not known.
  void end(Time now, JobId job, sched::Ended how);
  void requeue(Time now, JobId job, std::optional<Time> retry_at = {});
  void set_held(Time now, JobId job, bool held);
  void set_health(Time now, NodeId node, bool healthy);
  void change(Time now, sched::QuotaId quota, const sched::QuotaChange& change);
  void begin_run(Time now, JobId job, std::optional<Time> limit_end);
  void leave(Time now, JobId job, Time until);
  void give_back(Time now, JobId job, NodeId node);
  void mark(Time now, JobId job, NodeId node);
  /// Before any pass.
  void restore(Time now, const sched::Remembered& job) { core_.restore(now, job); }

  // Passes.

  /// The begin of an instant: ends and starts of reservations. Not in a pass.
  std::vector<sched::Decision> begin_instant(Time now);
  /// As sched::Scheduler::pass().
  std::vector<sched::Decision> pass(Time now, const sched::MayGoOn& may_go_on);
  [[nodiscard]] bool in_pass() const { return core_.in_pass(); }
  /// Tells what had to wait for the end of the pass; false: nothing had to.
  bool catch_up();
  /// As sched::Scheduler. Not in a pass.
  std::vector<sched::Decision> end_waits(Time now) { return core_.end_waits(now); }
  [[nodiscard]] std::optional<Time> next_wake(Time now) const { return core_.next_wake(now); }

  // What the core believes, without what waits.

  [[nodiscard]] bool is_up_to_date() const { return !in_pass() && waiting_.empty(); }
  [[nodiscard]] const sched::Scheduler& core() const { return core_; }
  /// A copy that knows all.
  [[nodiscard]] sched::Scheduler snapshot() const;

 private:
  using Fact = std::function<void(sched::Scheduler&)>;
  void tell(Fact fact);

  sched::Scheduler core_;
  std::deque<Fact> waiting_;
};

}  // namespace artel::ctld
