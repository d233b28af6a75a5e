#include "ctld/core/paced_core.h"

#include <iterator>
#include <utility>

#include "base/assert.h"

namespace artel::ctld {
namespace {

/// So many passes in a row are ended for news; the next one is made in one part.
constexpr std::uint32_t kMostStops = 3;

}  // namespace

void PacedCore::tell(Fact fact) {
  if (is_up_to_date()) return fact(core_);
  waiting_.push_back(std::move(fact));
}

void PacedCore::tell_now(const Fact& fact) {
  stop_pass();
  fact(core_);
}

void PacedCore::stop_pass() {
  if (in_pass()) {
    core_.stop_pass();
    was_stopped_ = true;
    ++stops_;
  }
  catch_up();
}

void PacedCore::catch_up() {
  ARTEL_ASSERT(!in_pass());
  for (const Fact& fact : std::exchange(waiting_, {})) fact(core_);
  for (const auto& [job, record] : std::exchange(records_, {})) record(core_);
}

bool PacedCore::holds_nodes(JobId job) const {
  const auto stage = core_.stage(job);
  return stage == sched::Stage::kRunning || stage == sched::Stage::kSignalled;
}

void PacedCore::keep_record(JobId job) {
  if (is_up_to_date() || core_.stage(job) != sched::Stage::kRunning) return;
  records_.try_emplace(job, [job, record = core_.evictions(job)](sched::Scheduler& core) {
    core.set_evictions(job, record);
  });
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

void PacedCore::set_array(Time now, const sched::ArrayFacts& array) {
  tell([=](sched::Scheduler& core) { core.set_array(now, array); });
}
void PacedCore::end(Time now, JobId job, sched::Ended how) {
  const Fact fact = [=](sched::Scheduler& core) {
    if (core.stage(job)) core.end(now, job, how);
  };
  // A job that this pass does not know yet is no reason to end it.
  if (holds_nodes(job) || !core_.stage(job)) return tell(fact);
  tell_now(fact);
}
void PacedCore::requeue(Time now, JobId job, std::optional<Time> retry_at) {
  keep_record(job);
  tell([=](sched::Scheduler& core) { core.requeue(now, job, retry_at); });
}
void PacedCore::set_held(Time now, JobId job, bool held) {
  const Fact fact = [=](sched::Scheduler& core) { core.set_held(now, job, held); };
  if (!held || !core_.stage(job)) return tell(fact);
  tell_now(fact);
}
void PacedCore::set_priority(Time now, JobId job, std::int32_t priority) {
  const Fact fact = [=](sched::Scheduler& core) { core.set_priority(now, job, priority); };
  if (!core_.stage(job)) return tell(fact);
  tell_now(fact);
}
void PacedCore::replace(Time now, const sched::Remembered& job) {
  const JobId id = job.job.id;
  const Fact fact = [=](sched::Scheduler& core) {
    if (core.stage(id)) core.end(now, id, sched::Ended::kOtherwise);
    core.restore(now, job);
  };
  if (!core_.stage(id)) return tell(fact);
  tell_now(fact);
}
void PacedCore::set_health(Time now, NodeId node, bool healthy) {
  const Fact fact = [=](sched::Scheduler& core) { core.set_health(now, node, healthy); };
  if (healthy) return tell(fact);
  tell_now(fact);
}
void PacedCore::change(Time now, sched::QuotaId quota, const sched::QuotaChange& change) {
  tell_now([=](sched::Scheduler& core) { core.change(now, quota, change); });
}
void PacedCore::begin_run(Time now, JobId job, std::optional<Time> limit_end) {
  tell([=](sched::Scheduler& core) { core.begin_run(now, job, limit_end); });
}
void PacedCore::leave(Time now, JobId job, Time until) {
  keep_record(job);
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
  was_stopped_ = false;
  auto decisions = core_.pass(now, stops_ < kMostStops ? may_go_on : sched::MayGoOn{});
  if (!in_pass()) stops_ = 0;
  return decisions;
}

sched::Scheduler PacedCore::snapshot() const {
  sched::Scheduler copy = core_;
  for (const Fact& fact : waiting_) fact(copy);
  for (const auto& [job, record] : records_) record(copy);
  return copy;
}

}  // namespace artel::ctld
