#include "ctld/core/paced_core.h"

#include <iterator>
#include <utility>

#include "base/assert.h"

namespace artel::ctld {

void PacedCore::tell(Fact fact) {
  if (is_up_to_date()) return fact(core_);
  waiting_.push_back(std::move(fact));
}

Result<> PacedCore::submit(Time now, const sched::JobFacts& facts) {
  if (is_up_to_date()) return core_.submit(now, facts);
  if (auto ok = core_.check(facts); !ok) return ok;
  // What has changed since it was let in may speak against it; then it waits, as after a restart.
  sched::Remembered job{.job = facts};
  job.job.submitted = now;
  job.job.pending_since = now;
  waiting_.emplace_back(
      [now, job = std::move(job)](sched::Scheduler& core) { core.restore(now, job); });
  return {};
}

void PacedCore::end(Time now, JobId job, sched::Ended how) {
  tell([=](sched::Scheduler& core) {
    if (core.stage(job)) core.end(now, job, how);
  });
}
void PacedCore::requeue(Time now, JobId job, std::optional<Time> retry_at) {
  tell([=](sched::Scheduler& core) { core.requeue(now, job, retry_at); });
}
void PacedCore::set_held(Time now, JobId job, bool held) {
  tell([=](sched::Scheduler& core) { core.set_held(now, job, held); });
}
void PacedCore::set_health(Time now, NodeId node, bool healthy) {
  tell([=](sched::Scheduler& core) { core.set_health(now, node, healthy); });
}
void PacedCore::change(Time now, sched::QuotaId quota, const sched::QuotaChange& change) {
  tell([=](sched::Scheduler& core) { core.change(now, quota, change); });
}
void PacedCore::begin_run(Time now, JobId job, std::optional<Time> limit_end) {
  tell([=](sched::Scheduler& core) { core.begin_run(now, job, limit_end); });
}
void PacedCore::leave(Time now, JobId job, Time until) {
  tell([=](sched::Scheduler& core) { core.leave(now, job, until); });
}
void PacedCore::give_back(Time now, JobId job, NodeId node) {
  tell([=](sched::Scheduler& core) { core.give_back(now, job, node); });
}
void PacedCore::mark(Time now, JobId job, NodeId node) {
  tell([=](sched::Scheduler& core) { core.mark(now, job, node); });
}

std::vector<sched::Decision> PacedCore::begin_instant(Time now) {
  core_.end_reservations(now);
  return core_.begin_reservations(now);
}

std::vector<sched::Decision> PacedCore::pass(Time now, const sched::MayGoOn& may_go_on) {
  ARTEL_ASSERT(in_pass() || waiting_.empty());
  return core_.pass(now, may_go_on);
}

bool PacedCore::catch_up() {
  ARTEL_ASSERT(!in_pass());
  const bool any = !waiting_.empty();
  for (const Fact& fact : std::exchange(waiting_, {})) fact(core_);
  return any;
}

sched::Scheduler PacedCore::snapshot() const {
  sched::Scheduler copy = core_;
  for (const Fact& fact : waiting_) fact(copy);
  return copy;
}

}  // namespace artel::ctld
