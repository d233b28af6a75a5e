// The scheduling core with passes made in parts, so that the controller answers others meanwhile.
//
// The core hears no news in the middle of a pass. What makes none of its decisions wrong waits for
// the end of the pass: submissions, and what becomes of those who run. What could, such as a cancel
// of a job that waits or the loss of a node, ends the pass there, and the next one begins anew. So
// every decision is true when it is carried out. A pass that was ended so a few times in a row is
// made in one part.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
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
  /// What submit() would say of it now.
  [[nodiscard]] Result<> check(const sched::JobFacts& facts) { return core_.check(facts); }
  void set_array(Time now, const sched::ArrayFacts& array);
  /// Nothing happens where the job is not known.
  void end(Time now, JobId job, sched::Ended how);
  void requeue(Time now, JobId job, std::optional<Time> retry_at = {});
  void set_held(Time now, JobId job, bool held);
  void set_priority(Time now, JobId job, std::int32_t priority);
  /// A job that waits asks for something else from now on, in its old place. A claim is given up.
  void replace(Time now, const sched::Remembered& job);
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
  /// The pass ends here.
  void stop_pass();
  /// A pass was ended and none has begun since.
  [[nodiscard]] bool was_stopped() const { return was_stopped_; }
  /// Tells what had to wait for the end of the pass.
  void catch_up();
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
  /// At once, or after the pass.
  void tell(Fact fact);
  /// At once; a pass ends for it.
  void tell_now(const Fact& fact);
  [[nodiscard]] bool holds_nodes(JobId job) const;
  /// It is on its way out, so whatever the pass does with it is no eviction.
  void keep_record(JobId job);

  sched::Scheduler core_;
  std::deque<Fact> waiting_;
  std::map<JobId, Fact> records_;  // of evictions, as they were
  bool was_stopped_ = false;
  std::uint32_t stops_ = 0;  // in a row
};

}  // namespace artel::ctld
