#include "sim/trace/task.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "sim/trace/cluster.h"

namespace artel::trace {
namespace {

bool asks_for(const Workload& workload, Resource resource) {
  return std::any_of(workload.jobs.begin(), workload.jobs.end(),
                     [resource](const Job& job) { return amount_of(job, resource) > 0; });
}

Resource choose_resource(const Workload& workload, const ProblemOptions& options) {
  if (options.resource) return *options.resource;
  if (workload.resource) return *workload.resource;
  for (const Resource resource : {Resource::kGpus, Resource::kCpus}) {
    if (asks_for(workload, resource)) return resource;
  }
  return Resource::kNodes;
}

Result<Milli> choose_capacity(const Workload& workload, const ProblemOptions& options,
                              const std::vector<NodeConfig>& nodes, Resource resource) {
  if (options.capacity) return *options.capacity;
  if (!nodes.empty()) return capacity_of(nodes, resource);
  if (workload.capacity && workload.resource == resource) return *workload.capacity;
  return fail(ErrorCode::kInvalidArgument,
              fmt::format("nothing says how many {} the machine of '{}' has; give --capacity N or "
                          "--cluster FILE",
                          resource_name(resource), workload.name));
}

void add_task(Problem& problem, const Job& job, std::uint32_t index) {
  Task task;
  task.job = index;
  task.submit = job.submit;
  task.size = amount_of(job, problem.resource);
  if (task.size == 0) {
    ++problem.needs_none;
    return;
  }
  if (task.size > problem.capacity) {
    ++problem.too_large;
    return;
  }
  if (!job.limit) ++problem.no_limit;
  task.limit = job.limit.value_or(job.runtime);
  task.run = std::min(job.runtime, task.limit);
  if (task.run < job.runtime) ++problem.cut;
  problem.tasks.push_back(task);
}

}  // namespace

Result<Problem> make_problem(const Workload& workload, const ProblemOptions& options,
                             const std::vector<NodeConfig>& nodes) {
  Problem problem;
  problem.workload = &workload;
  problem.resource = choose_resource(workload, options);
  const auto capacity = choose_capacity(workload, options, nodes, problem.resource);
  if (!capacity) return fail(capacity);
  problem.capacity = *capacity;
  const std::uint64_t most = options.first.value_or(std::numeric_limits<std::uint64_t>::max());
  std::uint32_t index = 0;
  for (const Job& job : workload.jobs) {
    if (problem.tasks.size() >= most) break;
    add_task(problem, job, index++);
  }
  if (problem.tasks.empty()) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("no job of '{}' asks for {} and fits on {} of them", workload.name,
                            resource_name(problem.resource), problem.capacity / kMilli));
  }
  return problem;
}

}  // namespace artel::trace
