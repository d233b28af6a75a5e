// When waiting jobs will start at the latest of what is known: the scheduler's own rules, played
// forward (replay.h). Unlike a planned start (B2) a forecast knows of the whole line, but binds
// nobody.
//
// Cost: one copy of the scheduler and one pass for each instant at which something ends or may
// change. It stops when all asked jobs have started, when nothing happens any more, at the horizon,
// or after `most_instants`, whichever comes first.
#pragma once

#include <optional>
#include <vector>

#include "sched/scheduler.h"

namespace artel::sched {

struct ForecastOptions {
  /// Empty: the first in line of each team.
  std::vector<JobId> jobs{};
  std::size_t most_instants = 1'000;
  Duration horizon{std::chrono::hours{24 * 30}};
};

struct Expected {
  JobId job;
  /// nullopt: not as far as was played, or not while jobs without a limit run.
  std::optional<Time> start;

  bool operator==(const Expected&) const = default;
};

struct Forecast {
  std::vector<Expected> starts;  // in the order of the options; else by job
  Time played_until;
  bool is_whole = false;  // more instants would add nothing
};

/// Jobs that are not known or do not wait are left out.
[[nodiscard]] Forecast forecast(const Scheduler& scheduler, Time now,
                                const ForecastOptions& options = {});

class Replay;
/// The same, from a replay to which facts may have been told.
[[nodiscard]] Forecast forecast(Replay& replay, const ForecastOptions& options);

}  // namespace artel::sched
