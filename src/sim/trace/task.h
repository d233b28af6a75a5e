// What a replay works on: jobs reduced to when they come, how long they run, how much they hold.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "model/node.h"
#include "sim/trace/workload.h"

namespace artel::trace {

/// Index into Problem::tasks: the order in which jobs were submitted.
using TaskIndex = std::uint32_t;

struct Task {
  std::uint32_t job{};  // index into Workload::jobs
  Seconds submit{};
  Seconds run{};    // until it ends by itself or is ended at its limit
  Seconds limit{};  // all that a policy knows of its length; at least `run`
  Milli size{};
};

/// One workload on one machine.
struct Problem {
  const Workload* workload{};  // outlives this
  Resource resource{};
  Milli capacity{};
  std::vector<Task> tasks;
  std::uint64_t too_large{};   // jobs that need more than the machine has; left out
  std::uint64_t needs_none{};  // jobs that ask for nothing of the resource; left out
  std::uint64_t no_limit{};    // tasks without a limit of their own: their limit is their run time
  std::uint64_t cut{};         // tasks that ran longer than their limit: ended there
};

struct ProblemOptions {
  std::optional<Resource> resource;    // else what the source says, else what its jobs ask for
  std::optional<Milli> capacity;       // else what the source says
  std::optional<std::uint64_t> first;  // only so many jobs
};

/// `nodes` may be empty. Error: kInvalidArgument where nothing says how large the machine is, or no
/// job is left.
Result<Problem> make_problem(const Workload& workload, const ProblemOptions& options,
                             const std::vector<NodeConfig>& nodes = {});

}  // namespace artel::trace
