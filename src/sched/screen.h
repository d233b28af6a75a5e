// Quick answers "certainly not", so that most waiting jobs cost next to nothing in a walk.
#pragma once

#include <map>
#include <vector>

#include "sched/evictable.h"
#include "sched/place.h"

namespace artel::sched {

/// Whether the job could be placed now as far as the nodes of each part and of the required level
/// go. Never false where there is a place.
[[nodiscard]] bool may_fit(const State& state, const Job& job, const Variant& variant);
/// The most nodes of one domain of the required level, in whole segments (P5), of nodes by leaf. A
/// leaf that several blocks share counts in each: then it is an upper bound.
[[nodiscard]] std::int64_t most_in_domain(const State& state,
                                          const std::vector<std::uint32_t>& in_leaf,
                                          const Request& request);
/// All nodes that could take a part of it now, for place(). In the order of names.
[[nodiscard]] std::vector<NodeIndex> open_nodes(const State& state, const Job& job,
                                                const Variant& variant);

}  // namespace artel::sched
