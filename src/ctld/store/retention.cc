#include "ctld/store/retention.h"

#include <utility>

#include "ctld/store/export.h"

namespace artel::ctld {
namespace {

/// Small enough that a commit that waits behind the removal of so many jobs is late by a few
/// milliseconds only.
constexpr std::size_t kJobsInStep = 50;

}  // namespace

Result<Retention::Step> Retention::next(Time cut) {
  auto found = reader_->ended_before(cut, after_, kJobsInStep);
  if (!found) return fail(found);
  if (auto done = export_jobs(exports_, found->jobs); !done) return fail(done);
  Step step;
  for (const HistoryJob& job : found->jobs) step.purge.jobs.push_back(job.job.id);
  step.purge.events_before = cut;
  step.is_last = found->is_end;
  after_ = found->is_end ? JobId{} : found->last;
  return step;
}

}  // namespace artel::ctld
