// Small workloads for tests.
#pragma once

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "sim/trace/metrics.h"
#include "sim/trace/policy.h"
#include "sim/trace/replay.h"
#include "sim/trace/task.h"

namespace artel::trace {

/// A job of `size` CPUs.
struct Line {
  Seconds submit{};
  Milli size{};
  Seconds run{};
  Seconds limit{};  // 0: none
  std::string team{};
};

inline Workload workload_of(const std::vector<Line>& lines) {
  Workload workload;
  workload.name = "test";
  Names names(workload.names);
  for (const Line& line : lines) {
    Job job;
    job.id = "j" + std::to_string(workload.jobs.size() + 1);
    job.submit = line.submit;
    job.runtime = line.run;
    if (line.limit > 0) job.limit = line.limit;
    job.cpus = line.size * kMilli;
    job.team = names.index_of(line.team);
    workload.jobs.push_back(job);
  }
  return workload;
}

inline Problem problem_of(const Workload& workload, Milli capacity) {
  auto problem = make_problem(workload, {Resource::kCpus, capacity * kMilli, std::nullopt});
  REQUIRE(problem);
  return std::move(*problem);
}

inline Outcome replay_with(const Problem& problem, Policy& policy,
                           const ReplayOptions& options = {}) {
  auto outcome = replay(problem, policy, options);
  if (!outcome) FAIL(outcome.error().text);
  return std::move(*outcome);
}

inline std::vector<Seconds> starts_of(const Outcome& outcome) {
  std::vector<Seconds> starts;
  for (const TaskOutcome& task : outcome.tasks) starts.push_back(task.start);
  return starts;
}

/// Starts of the jobs under a policy over one pool.
inline std::vector<Seconds> starts(const std::string& policy, Milli capacity,
                                   const std::vector<Line>& lines) {
  const Workload workload = workload_of(lines);
  const Problem problem = problem_of(workload, capacity);
  const auto made = make_policy(policy, problem);
  REQUIRE(made);
  return starts_of(replay_with(problem, **made));
}

}  // namespace artel::trace
