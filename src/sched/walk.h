// One walk over the pending jobs: section 5 of RULES.md.
#pragma once

#include <vector>

#include "sched/state.h"

namespace artel::sched {

/// Starts, signals and claims of one pass; every pending job has its reason afterwards.
[[nodiscard]] std::vector<Decision> walk(State& state);

}  // namespace artel::sched
