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
  for (const sched::Wait& wait : core_->explain(job))
    out.blockers.push_back(layout_->reason(wait, nodes));
  if (out.blockers.empty()) return out;
  const sched::Forecast forecast =
      sched::forecast(*core_, jobs_->now, sched::ForecastOptions{.jobs = {job}});
  if (!forecast.starts.empty()) out.expected = forecast.starts.front().start;
  out.is_whole = forecast.is_whole;
  return out;
}

std::vector<JobId> SchedulingSnapshot::watched() const {
  std::vector<JobId> out;
  if (candidate_) out.push_back(candidate_->id);
  for (const auto& job : in_scheduling_order(*jobs_)) {
    if (job->state != JobState::kPending && job->state != JobState::kHeld) continue;
    if (out.size() >= kMostWatched) break;
    out.push_back(job->id);
  }
  return out;
}

Result<Outcome> SchedulingSnapshot::what_if(const Wish& wish) const {
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
