#include "ctld/core/snapshot.h"

#include <algorithm>
#include <iterator>
#include <tuple>

#include "model/array_task.h"

namespace artel::ctld {
namespace {

JobId id_of(const std::shared_ptr<const Job>& job) { return job->id; }

}  // namespace

std::shared_ptr<const Job> Snapshot::find_array(JobId id) const {
  const auto it = std::ranges::lower_bound(arrays, id, {}, id_of);
  return it != arrays.end() && (*it)->id == id ? *it : nullptr;
}

std::shared_ptr<const Job> Snapshot::find(JobId id) const {
  const auto it = std::ranges::lower_bound(jobs, id, {}, id_of);
  if (it != jobs.end() && (*it)->id == id) return *it;
  const auto done = std::ranges::find(recent, id, id_of);
  if (done != recent.end()) return *done;
  const auto above = std::ranges::upper_bound(arrays, id, {}, id_of);
  if (above == arrays.begin()) return nullptr;
  const std::shared_ptr<const Job>& array = *std::prev(above);
  if (array->id == id) return array;
  return task_of_array(*array, id);
}

std::vector<std::shared_ptr<const Job>> in_scheduling_order(const Snapshot& snapshot) {
  auto jobs = snapshot.jobs;
  std::ranges::copy_if(snapshot.arrays, std::back_inserter(jobs), [](const auto& array) {
    return !array->tasks->waiting.empty() || !array->tasks->held.empty();
  });
  std::ranges::sort(jobs, {}, [](const std::shared_ptr<const Job>& job) {
    return std::tuple(job->tasks != nullptr || !is_placed(job->state),
                      -std::int64_t{job->spec->class_priority} - job->spec->priority,
                      job->submitted_at, job->id);
  });
  return jobs;
}

}  // namespace artel::ctld
