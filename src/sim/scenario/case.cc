// Look-ups in a case.
#include "sim/scenario/case.h"

#include <algorithm>

namespace artel::scenario {

std::optional<std::size_t> find_quota(const Case& scenario, const std::string& path) {
  for (std::size_t i = 1; i < scenario.tree.size(); ++i) {
    if (scenario.tree[i].path == path) return i;
  }
  return std::nullopt;
}

std::vector<Job> tasks_of(const Job& job) {
  if (!job.array) return {job};
  std::vector<Job> tasks(static_cast<std::size_t>(*job.array), job);
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    tasks[i].array.reset();
    tasks[i].array_id = job.id;
    tasks[i].index = static_cast<std::int64_t>(i);
    tasks[i].id = job.id + "_" + std::to_string(i);
    if (job.name.empty()) tasks[i].name = job.id;
  }
  return tasks;
}

bool admits_class(const Case& scenario, const Job& job) {
  for (std::size_t i = find_quota(scenario, job.queue).value_or(0); i != 0;
       i = scenario.tree[i].parent) {
    const auto& classes = scenario.tree[i].classes;
    if (classes) return std::ranges::find(*classes, job.job_class) != classes->end();
  }
  return true;
}

std::optional<Minute> latest_start(const Job& job) {
  if (!job.deadline || !job.walltime) return std::nullopt;
  return *job.deadline - *job.walltime;
}

Minute grace_of(const Case& scenario, const Job& job) {
  if (job.grace) return *job.grace;
  for (std::size_t i = find_quota(scenario, job.queue).value_or(0); i != 0;
       i = scenario.tree[i].parent) {
    if (scenario.tree[i].grace) return *scenario.tree[i].grace;
  }
  return scenario.policy.grace;
}

std::optional<Minute> idle_timeout_of(const Case& scenario, const Job& job) {
  for (std::size_t i = find_quota(scenario, job.queue).value_or(0); i != 0;
       i = scenario.tree[i].parent) {
    if (scenario.tree[i].idle_timeout) return scenario.tree[i].idle_timeout;
  }
  return std::nullopt;
}

}  // namespace artel::scenario
