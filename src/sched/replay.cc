#include "sched/replay.h"

#include <algorithm>

#include "sched/state.h"

namespace artel::sched {

Replay::Replay(const Scheduler& from, Time now) : scheduler_(from), begin_(now), now_(now) {
  const State& state = *scheduler_.state_;
  std::set<JobId> holding = state.active;
  holding.insert(state.signalled.begin(), state.signalled.end());
  for (const JobId id : holding) {
    const Job& job = state.jobs.at(id);
    const bool evicted = job.stage == Stage::kSignalled && job.evictions > 0;
    if (evicted && (!job.limit_end || job.grace_end < *job.limit_end)) {
      expect(id, job.grace_end, Then::kWaitsAgain);
    } else if (job.stage == Stage::kSignalled) {
      expect(id, job.grace_end, Then::kOver);
    } else if (job.stage == Stage::kRunning && job.limit_end) {
      expect(id, *job.limit_end, Then::kOver);
    }
  }
}

void Replay::expect(JobId job, Time time, Then then) {
  forget(job);
  ends_[job] = {time, then};
  by_time_.emplace(time, job);
}

void Replay::forget(JobId job) {
  const auto known = ends_.find(job);
  if (known == ends_.end()) return;
  by_time_.erase({known->second.first, job});
  ends_.erase(known);
}

void Replay::end(JobId job) {
  forget(job);
  scheduler_.end(now_, job, Ended::kCompleted);
}

void Replay::fail(NodeId node) {
  scheduler_.set_health(now_, node, false);
  std::vector<JobId> there;
  for (const Holder& holder : scheduler_.state_->nodes[node.value].holders) {
    there.push_back(holder.job->id);
  }
  std::ranges::sort(there);
  for (const JobId job : there) {
    forget(job);
    scheduler_.requeue(now_, job);
  }
}

/// Ends of runs come before ends of grace.
void Replay::apply_ends() {
  std::vector<std::pair<Then, JobId>> over;
  while (!by_time_.empty() && by_time_.begin()->first <= now_) {
    const JobId job = by_time_.begin()->second;
    over.emplace_back(ends_.at(job).second, job);
    forget(job);
  }
  std::ranges::sort(over);
  for (const auto& [then, job] : over) {
    if (then == Then::kOver) {
      scheduler_.end(now_, job, Ended::kCompleted);
    } else {
      scheduler_.requeue(now_, job);
    }
  }
}

void Replay::take(const std::vector<Decision>& decisions) {
  for (const Decision& decision : decisions) {
    if (now_ == begin_) first_decisions_.push_back(decision);
    if (const auto* start = std::get_if<Started>(&decision)) {
      starts_.try_emplace(start->job, now_);
      if (start->limit_end) expect(start->job, *start->limit_end, Then::kOver);
    } else if (const auto* signal = std::get_if<Signalled>(&decision)) {
      const Job& job = scheduler_.state_->jobs.at(signal->job);
      const auto known = ends_.find(signal->job);
      if (known != ends_.end() && known->second.first <= job.grace_end) continue;
      expect(signal->job, job.grace_end, Then::kWaitsAgain);
    } else {
      forget(std::get<GivenUp>(decision).job);
    }
  }
}

void Replay::end_signalled_without_grace() {
  std::vector<JobId> gone;
  for (const auto& [time, job] : by_time_) {
    if (time > now_) break;
    if (ends_.at(job).second == Then::kWaitsAgain) gone.push_back(job);
  }
  for (const JobId job : gone) {
    forget(job);
    scheduler_.requeue(now_, job);
  }
}

void Replay::rest() {
  scheduler_.end_reservations(now_);
  take(scheduler_.begin_reservations(now_));
  end_signalled_without_grace();
  while (true) {
    auto made = scheduler_.pass(now_);
    if (made.empty()) made = scheduler_.end_waits(now_);
    if (made.empty()) return;
    take(made);
    end_signalled_without_grace();
  }
}

bool Replay::step() {
  std::optional<Time> next = scheduler_.next_wake(now_);
  if (!by_time_.empty()) {
    const Time end = std::max(by_time_.begin()->first, now_);
    if (!next || end < *next) next = end;
  }
  if (!next) return false;
  now_ = *next;
  apply_ends();
  rest();
  return true;
}

}  // namespace artel::sched
