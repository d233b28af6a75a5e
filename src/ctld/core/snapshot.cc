#include "ctld/core/snapshot.h"

#include <algorithm>
#include <tuple>

namespace artel::ctld {

std::shared_ptr<const Job> Snapshot::find(JobId id) const {
  const auto id_of = [](const std::shared_ptr<const Job>& job) { return job->id; };
  const auto it = std::ranges::lower_bound(jobs, id, {}, id_of);
  if (it != jobs.end() && (*it)->id == id) return *it;
  const auto done = std::ranges::find(recent, id, id_of);
  return done == recent.end() ? nullptr : *done;
}

std::vector<std::shared_ptr<const Job>> in_scheduling_order(const Snapshot& snapshot) {
  auto jobs = snapshot.jobs;
  std::ranges::sort(jobs, {}, [](const std::shared_ptr<const Job>& job) {
    return std::tuple(!is_placed(job->state),
                      -std::int64_t{job->spec->class_priority} - job->spec->priority,
                      job->submitted_at, job->id);
  });
  return jobs;
}

}  // namespace artel::ctld
