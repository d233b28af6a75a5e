// The replay: virtual time goes from event to event, a policy decides at each.
//
// At an instant all that ends leaves first, then what is submitted joins the queue in the order of
// the source, then the policy is asked. So a result depends on the workload and the policy only.
// One thread; time is measured by a clock that the caller brings.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "base/result.h"
#include "sim/trace/policy.h"
#include "sim/trace/task.h"

namespace artel::trace {

/// A stay on the machine.
struct Stay {
  TaskIndex task{};
  Seconds from{};
  Seconds to{};
  bool evicted{};
  Seconds lost{};  // work that has to be done again
};

struct TaskOutcome {
  Seconds start{};  // of the first stay
  Seconds end{};
  std::uint32_t evictions{};
  bool refused{};  // never ran
};

struct Outcome {
  std::vector<TaskOutcome> tasks;  // by TaskIndex
  std::vector<Stay> stays;         // by end
  std::vector<std::int64_t> pass_ns;
  /// What was free on partly held nodes, from each time on; only where the policy places.
  std::vector<std::pair<Seconds, Milli>> stranded;
};

struct ReplayOptions {
  /// A job saves its work every so often; an evicted one goes on from there. nullopt: it begins
  /// anew.
  std::optional<Seconds> checkpoint_every;
  /// Nanoseconds of some steady clock; none: passes are not timed.
  std::function<std::int64_t()> clock_ns;
  /// Told now and then how many tasks are over. None: nobody is told.
  std::function<void(std::size_t over)> progress;
};

/// Until the last task is over. Error: kInvalidArgument where the policy decides what is
/// impossible, or leaves tasks waiting for ever.
Result<Outcome> replay(const Problem& problem, Policy& policy, const ReplayOptions& options);

}  // namespace artel::trace
