#include "sched/forecast.h"

#include <algorithm>

#include "sched/replay.h"

namespace artel::sched {
namespace {

bool waits(const Scheduler& scheduler, JobId job) {
  const auto stage = scheduler.stage(job);
  return stage == Stage::kPending || stage == Stage::kClaiming;
}

}  // namespace

Forecast forecast(const Scheduler& scheduler, Time now, const ForecastOptions& options) {
  Replay replay(scheduler, now);
  return forecast(replay, options);
}

Forecast forecast(Replay& replay, const ForecastOptions& options) {
  Forecast result;
  for (const JobId job :
       options.jobs.empty() ? replay.scheduler().first_of_teams() : options.jobs) {
    if (waits(replay.scheduler(), job)) result.starts.push_back({job, {}});
  }
  const Time last = replay.now() + options.horizon;
  const auto all_started = [&] {
    return std::ranges::all_of(
        result.starts, [&](const Expected& one) { return replay.starts().contains(one.job); });
  };
  replay.rest();
  result.is_whole = all_started();
  for (std::size_t i = 0; i < options.most_instants && !result.is_whole; ++i) {
    result.is_whole = !replay.step() || all_started();
    if (replay.now() >= last) break;
  }
  for (Expected& one : result.starts) {
    const auto start = replay.starts().find(one.job);
    if (start != replay.starts().end()) one.start = start->second;
  }
  result.played_until = replay.now();
  return result;
}

}  // namespace artel::sched
