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

}  // namespace artel::sched
