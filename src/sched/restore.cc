// What drivers tell that the rules do not speak of: restarts, and runs that take their time to
// begin and to end.
#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "sched/admit.h"
#include "sched/books.h"
#include "sched/candidates.h"
#include "sched/memory.h"
#include "sched/state.h"
#include "sched/waiting.h"

namespace artel::sched {
namespace {

/// It leaves the sums of use, as a signalled job does, and still holds its nodes.
void count_as_leaving(State& state, Job& job) {
  job.stage = Stage::kSignalled;
  state.signalled.insert(job.id);
  for (const auto& [licence, count] : job.request->licences) {
    state.licences_signalled[licence.value] += count;
  }
}

}  // namespace

void Scheduler::restore(Time now, const Remembered& told) {
  State& state = go_to(now);
  Job made = job_of(state, told.job, intern(state, told.job.request));
  list_nodes(state, made);
  Job& job = admit(state, std::move(made), told.job);
  job.evictions = told.evicted.evictions;
  job.backoff_until = told.evicted.backoff_until;
  job.retry_at = told.retry_at.value_or(now);
  for (const NodeId node : told.marks) mark(now, job.id, node);
  if (told.stage == Stage::kPending || told.shares.empty()) return;
  job.stage = told.stage;
  job.shares = told.shares;
  job.start = told.start;
  job.saved_at = told.start;
  job.limit_end = told.limit_end;
  job.charge = charge_of_shares(state, job);
  hold(state, job);
  if (told.stage == Stage::kSignalled) {
    job.grace_end = told.grace_end;
    count_as_leaving(state, job);
  } else {
    book(state, job, 1);
  }
  if (told.stage == Stage::kClaiming) {
    job.claim = told.claim;
    job.wait.reason = Reason::kPreempting;
    watch_wait(state, job);
    state.claims = std::max(state.claims, told.claim);
  } else {
    note_start(state, job);
  }
}

void Scheduler::begin_run(Time now, JobId id, std::optional<Time> limit_end) {
  go_to(now);
  Job& job = state_->jobs.at(id);
  if (job.stage == Stage::kRunning) job.limit_end = limit_end;
}

void Scheduler::leave(Time now, JobId id, Time until) {
  State& state = go_to(now);
  Job& job = state.jobs.at(id);
  if (job.stage == Stage::kRunning) {
    book(state, job, -1);
    count_as_leaving(state, job);
    job.grace_end = until;
  } else if (job.stage == Stage::kSignalled) {
    job.grace_end = std::max(job.grace_end, until);
  }
  // Whoever is on the way out although the limit has passed is there until its grace is over.
  if (job.limit_end) job.limit_end = std::max(*job.limit_end, job.grace_end);
}

void Scheduler::give_back(Time now, JobId id, NodeId gone) {
  State& state = go_to(now);
  Job& job = state.jobs.at(id);
  const auto share = std::ranges::find(job.shares, gone, &Share::node);
  const bool runs = job.stage == Stage::kRunning || job.stage == Stage::kSignalled;
  if (!runs || share == job.shares.end() || job.shares.size() == 1) return;
  if (job.stage == Stage::kRunning) book(state, job, -1);
  const auto gpus = std::min(job.charge.gpus, share->gpus);
  if (!job.inside) {
    const double used = static_cast<double>(gpus) * static_cast<double>((now - job.start).count());
    for (const QuotaId quota : state.path(job.queue)) state.at(quota).used_gpu_ms += used;
  }
  job.charge.gpus -= gpus;
  job.charge.cores -= std::min(job.charge.cores, share->cores);
  take_off(state, job, gone.value);
  job.shares.erase(share);
  if (job.stage == Stage::kRunning) book(state, job, 1);
}

EvictionRecord Scheduler::evictions(JobId id) const {
  const Job& job = state_->jobs.at(id);
  return {job.evictions, job.backoff_until};
}

void Scheduler::set_evictions(JobId id, const EvictionRecord& record) {
  ARTEL_ASSERT(!in_pass());
  const auto job = state_->jobs.find(id);
  if (job == state_->jobs.end()) return;
  job->second.evictions = record.evictions;
  job->second.backoff_until = record.backoff_until;
}

std::vector<Claim> Scheduler::claims() const {
  std::vector<Claim> claims;
  for (const JobId id : state_->active) {
    const Job& job = state_->jobs.at(id);
    if (job.stage == Stage::kClaiming) claims.push_back({id, job.claim, job.shares});
  }
  return claims;
}

double Scheduler::past(QuotaId quota) const {
  settle(*state_);
  return state_->at(quota).past;
}

}  // namespace artel::sched
