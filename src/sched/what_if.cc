#include "sched/what_if.h"

#include <algorithm>
#include <map>
#include <string>

#include "sched/replay.h"

namespace artel::sched {
namespace {

Result<> not_found(const char* what, std::uint64_t number) {
  return fail(ErrorCode::kNotFound, std::string(what) + " " + std::to_string(number) +
                                        " is not known to the scheduler; name one that is");
}

/// Tells the change to the copy.
struct Apply {
  Replay& replay;

  Result<> operator()(const QuotaEdit& edit) const {
    if (!replay.scheduler().knows(edit.quota)) return not_found("quota", edit.quota.value);
    replay.scheduler().change(replay.now(), edit.quota, edit.change);
    return {};
  }
  Result<> operator()(const PriorityEdit& edit) const {
    if (!replay.scheduler().stage(edit.job)) return not_found("job", edit.job.value);
    replay.scheduler().set_priority(replay.now(), edit.job, edit.priority);
    return {};
  }
  Result<> operator()(const NodeEdit& edit) const {
    if (!replay.scheduler().knows(edit.node)) return not_found("node", edit.node.value);
    if (edit.fate == NodeEdit::Fate::kLost) {
      replay.fail(edit.node);
    } else {
      replay.scheduler().set_health(replay.now(), edit.node,
                                    edit.fate == NodeEdit::Fate::kReturned);
    }
    return {};
  }
  Result<> operator()(const SubmitEdit& edit) const {
    return replay.scheduler().submit(replay.now(), edit.job);
  }
  Result<> operator()(const CancelEdit& edit) const {
    if (!replay.scheduler().stage(edit.job)) return not_found("job", edit.job.value);
    replay.end(edit.job);
    return {};
  }
  Result<> operator()(const HoldEdit& edit) const {
    if (!replay.scheduler().stage(edit.job)) return not_found("job", edit.job.value);
    replay.scheduler().set_held(replay.now(), edit.job, edit.held);
    return {};
  }
};

/// The jobs of both forecasts: those asked for, else the first of each team, then the one that the
/// change is about.
std::vector<JobId> asked_jobs(const Scheduler& scheduler, const Edit& edit,
                              const ForecastOptions& options) {
  std::vector<JobId> jobs = options.jobs.empty() ? scheduler.first_of_teams() : options.jobs;
  std::optional<JobId> about;
  if (const auto* submit = std::get_if<SubmitEdit>(&edit)) about = submit->job.id;
  if (const auto* priority = std::get_if<PriorityEdit>(&edit)) about = priority->job;
  if (const auto* hold = std::get_if<HoldEdit>(&edit)) about = hold->job;
  if (about && std::ranges::find(jobs, *about) == jobs.end()) jobs.push_back(*about);
  return jobs;
}

void tell_first_decisions(const Replay& replay, Consequences& told) {
  for (const Decision& decision : replay.first_decisions()) {
    if (const auto* start = std::get_if<Started>(&decision)) {
      told.starts.push_back(*start);
    } else if (const auto* signal = std::get_if<Signalled>(&decision)) {
      told.evictions.push_back(signal->job);
    } else {
      told.given_up.push_back(std::get<GivenUp>(decision));
    }
  }
  std::ranges::sort(told.evictions);
}

std::vector<Moved> differences(const Forecast& before, const Forecast& after) {
  std::map<JobId, Moved> by_job;
  for (const Expected& one : before.starts) {
    by_job[one.job].job = one.job;
    by_job[one.job].before = one.start;
  }
  for (const Expected& one : after.starts) {
    by_job[one.job].job = one.job;
    by_job[one.job].after = one.start;
  }
  std::vector<Moved> moved;
  for (const auto& [job, one] : by_job) {
    if (one.before != one.after) moved.push_back(one);
  }
  return moved;
}

}  // namespace

Result<Consequences> what_if(const Scheduler& scheduler, Time now, const Edit& edit,
                             const ForecastOptions& options) {
  ForecastOptions asked = options;
  asked.jobs = asked_jobs(scheduler, edit, options);
  Replay changed(scheduler, now);
  if (auto applied = std::visit(Apply{changed}, edit); !applied) {
    return std::unexpected(applied.error());
  }
  Replay unchanged(scheduler, now);
  const Forecast before = forecast(unchanged, asked);
  const Forecast after = forecast(changed, asked);
  Consequences told;
  tell_first_decisions(changed, told);
  told.moved = differences(before, after);
  told.is_whole = before.is_whole && after.is_whole;
  return told;
}

}  // namespace artel::sched
