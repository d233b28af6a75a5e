// The earliest instant worth looking at for a planned start (B2).
#pragma once

#include <optional>

#include "sched/place.h"

namespace artel::sched {

/// Before this instant the job cannot be placed for its time limit: too few nodes of any one domain
/// fit. It is a bound, not an answer: topology and later plans may still be in the way. nullopt:
/// the work it waits for has no end. O(nodes).
[[nodiscard]] std::optional<Time> earliest_possible(const State& state, const Job& job,
                                                    const Variant& variant, const PlanBook& plans,
                                                    const Leaving* leaving = nullptr);

/// So many nodes could take the job's part now if there were no plans and no marks (N4); for jobs
/// of one part.
[[nodiscard]] std::uint32_t nodes_now(const State& state, const Job& job, FlavorId flavor);

}  // namespace artel::sched
