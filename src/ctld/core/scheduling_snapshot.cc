#include "ctld/core/scheduling_snapshot.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "ctld/core/layout.h"
#include "ctld/core/wishes.h"
#include "sched/forecast.h"
#include "sched/scheduler.h"
#include "sched/what_if.h"

namespace artel::ctld {
namespace {

/// So many starts are as much as a person reads.
constexpr std::size_t kMostWatched = 100;

}  // namespace

SchedulingSnapshot::SchedulingSnapshot(sched::Scheduler core, const Layout& layout,
                                       std::shared_ptr<const Snapshot> jobs,
                                       std::optional<sched::JobFacts> candidate)
    : core_(std::make_unique<const sched::Scheduler>(std::move(core))),
      layout_(std::make_unique<const Layout>(layout)),
      jobs_(std::move(jobs)),
      candidate_(candidate ? std::make_unique<const sched::JobFacts>(std::move(*candidate))
                           : nullptr) {}
SchedulingSnapshot::~SchedulingSnapshot() = default;

JobId SchedulingSnapshot::candidate() const { return candidate_ ? candidate_->id : JobId{}; }

Result<Explanation> SchedulingSnapshot::explain(JobId job) const {
  const auto known = jobs_->find(job);
  if (!known || is_final(known->state)) {
    return fail(ErrorCode::kNotFound, fmt::format("job {} does not exist or has ended", job.value));
  }
  Explanation out;
  const std::uint32_t nodes = known->spec->component().nodes;
  JobId asked = job;
  if (!core_->stage(job)) {
    // An array, or a task of one that the core is not told of yet: what holds the next one counts.
    if (!known->tasks) out.blockers.push_back(known->wait);
    const auto next = next_task(*known);
    if (!next || !core_->stage(*next)) {
      if (known->tasks && known->wait.code != WaitCode::kNone) out.blockers.push_back(known->wait);
      return out;
    }
    asked = *next;
  }
  for (const sched::Wait& wait : core_->explain(asked))
    out.blockers.push_back(layout_->reason(wait, nodes));
  if (out.blockers.empty() || (asked != job && !known->tasks)) return out;
  const sched::Forecast forecast =
      sched::forecast(*core_, jobs_->now, sched::ForecastOptions{.jobs = {asked}});
  if (!forecast.starts.empty()) out.expected = forecast.starts.front().start;
  out.is_whole = forecast.is_whole;
  return out;
}

std::optional<JobId> SchedulingSnapshot::next_task(const Job& job) const {
  const auto array = job.tasks  ? jobs_->find_array(job.id)
                     : job.task ? jobs_->find_array(job.task->array)
                                : nullptr;
  if (!array || array->tasks->waiting.empty() || job.state == JobState::kHeld) return std::nullopt;
  return task_number(array->id, *array->spec->array, TaskIndex{array->tasks->waiting.front()});
}

std::vector<JobId> SchedulingSnapshot::watched() const {
  std::vector<JobId> out;
  if (candidate_) out.push_back(candidate_->id);
  for (const auto& job : in_scheduling_order(*jobs_)) {
    if (out.size() >= kMostWatched) break;
    const auto next = job->tasks ? next_task(*job) : std::optional(job->id);
    const bool waits =
        job->tasks || job->state == JobState::kPending || job->state == JobState::kHeld;
    if (waits && next && core_->stage(*next)) out.push_back(*next);
  }
  return out;
}

Result<> SchedulingSnapshot::check_known(const Wish& wish) const {
  JobId job;
  if (const auto* of = std::get_if<PriorityWish>(&wish)) job = of->job;
  if (const auto* of = std::get_if<CancelWish>(&wish)) job = of->job;
  if (const auto* of = std::get_if<HoldWish>(&wish)) job = of->job;
  const auto known = jobs_->find(job);
  if (!known || !(known->tasks || known->task) || core_->stage(job)) return {};
  const auto next = next_task(*known);
  return fail(ErrorCode::kInvalidArgument,
              fmt::format("job {} is an array, or a task of one that is not next; ask about one "
                          "task that is next{}",
                          job.value, next ? ": " + std::to_string(next->value) : ""));
}

Result<Outcome> SchedulingSnapshot::what_if(const Wish& wish) const {
  if (auto known = check_known(wish); !known) return fail(known);
  const Result<sched::Edit> edit = edit_of(wish, *layout_, *jobs_, candidate_.get());
  if (!edit) return fail(edit);
  const auto found = sched::what_if(*core_, jobs_->now, *edit, {.jobs = watched()});
  if (!found) return fail(found);
  Outcome out;
  for (const sched::Started& start : found->starts) out.starts.push_back(start.job);
  out.evictions = found->evictions;
  for (const sched::Moved& moved : found->moved)
    out.moved.push_back({moved.job, moved.before, moved.after});
  out.is_whole = found->is_whole;
  return out;
}

}  // namespace artel::ctld
