// Spares: nodes that wait to take the place of a failed one. H2 to H5.
//
// Private to src/sched.
#pragma once

#include <optional>

#include "sched/state.h"

namespace artel::sched {

/// H3: standing reservations are filled as far as there are nodes, once an instant.
void fill_spares(State& state);

/// H2, H4: what the job's next attempt holds if the run loses these nodes; the nodes of standing
/// reservations that it needs are taken out of them. Nullopt: it cannot go on, nothing has changed.
[[nodiscard]] std::optional<std::vector<Share>> take_spares(State& state, const Job& job,
                                                            const std::vector<NodeIndex>& lost);

}  // namespace artel::sched
