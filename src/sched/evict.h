// Plans of victims: V1 to V6, F3.
#pragma once

#include <optional>
#include <vector>

#include "sched/place.h"

namespace artel::sched {

struct Eviction {
  std::vector<JobId> victims;
  std::vector<Share> shares;  // where the job will start
  /// When the minimum run times of all victims are over, and whose is over last (A3).
  Time free_from{};
  JobId last_protected{};
};

/// Whether minimum run times count (A3). Without them the answer says whether they alone are in the
/// way.
enum class Protection : std::uint8_t { kCounts, kIgnored };

struct EvictionSearch {
  std::optional<Eviction> plan;
  /// Somewhere nobody has to leave, room comes free there. That is no plan of victims, but a
  /// planned start that takes the room can make one.
  bool room_comes = false;
};

/// The cheapest set of victims after which `job` starts at its smallest size in this flavor. The
/// state is changed while it is made and is the same afterwards. kIgnored: nothing is found where
/// no minimum run time counts.
[[nodiscard]] EvictionSearch make_eviction(State& state, const Job& job, FlavorId flavor,
                                           const PlanBook& plans, Protection protection);

/// B2 for a job whose reason is Protected: the running jobs that only their minimum run time keeps
/// from being its victims, and when each is gone after that and its grace.
[[nodiscard]] Leaving protected_ends(State& state, const Job& job, FlavorId flavor);

}  // namespace artel::sched
