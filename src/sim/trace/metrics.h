// What a replay was worth: waits, slowdown, use of the machine, shares of teams, what was lost.
//
// Definitions are those of artel-simulate(1). Unweighted means over all jobs; the wait ends with
// the first start; bounded slowdown with tau = 10 s is max(1, (end - submit) / max(run, tau)).
// Source: Feitelson 2001, "Metrics for parallel job scheduling and their convergence".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/trace/replay.h"
#include "sim/trace/task.h"
#include "sim/trace/teams.h"

namespace artel::trace {

struct Distribution {
  double mean{};
  std::int64_t median{};
  std::int64_t p90{};
  std::int64_t p99{};
  std::int64_t max{};
};
/// Of values in any order: the median is element n/2 of the sorted ones, p90 element 0.9 n.
Distribution distribution_of(std::vector<std::int64_t> values);

struct Summary {
  std::uint64_t jobs{};     // that ran
  std::uint64_t refused{};  // that the policy could never run
  Distribution wait_s;
  double started_at_once{};  // share of jobs without wait
  double mean_slowdown{};
  double utilisation{};           // from the first submit to the last end
  double utilisation_arrivals{};  // from the first submit to the last
  Seconds makespan_s{};           // first submit to last end
  double used_hours{};            // unit-hours
  std::uint64_t evictions{};
  double lost_hours{};  // unit-hours of work that had to be done again
  /// Share of the machine's time that was idle while a job waited.
  double idle_while_waiting{};
  /// Share of free units that lay on partly held nodes, over time; only where nodes matter.
  std::optional<double> fragmentation;
  std::uint64_t passes{};
  Distribution pass_ns;
};

struct TeamSummary {
  std::string name;
  std::uint64_t jobs{};
  double mean_wait_s{};
  double mean_slowdown{};
  double used_hours{};              // unit-hours
  double share{};                   // of all that was used
  double mean_used{};               // units, from the first submit to the last
  std::optional<double> guarantee;  // units
  /// Unit-hours that it was guaranteed and did not hold, while it had jobs for them: jobs that are
  /// not larger than the guarantee.
  double short_hours{};
  std::uint64_t evictions{};
};

/// A stretch of time, for plots.
struct Bucket {
  Seconds from{};
  double used{};     // share of the machine, mean over the stretch
  double waiting{};  // jobs in the queue, mean over the stretch
};

struct Metrics {
  std::string policy;
  Summary summary;
  std::vector<TeamSummary> teams;  // by name; empty where neither jobs nor teams file name any
  std::vector<Bucket> buckets;     // of equal length
  Seconds bucket_s{};
  std::vector<std::int64_t> sorted_waits;
  double run_s{};  // what the replay took; set by the caller
};

inline constexpr std::size_t kBuckets = 240;

Metrics measure(const Problem& problem, const Outcome& outcome, const Teams& teams);

/// max(1, response / max(run, 10 s)).
double bounded_slowdown(Seconds response, Seconds run);

}  // namespace artel::trace
