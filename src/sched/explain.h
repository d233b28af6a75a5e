// Z3: everything that stands in the way of one job, made by the checks that the walk uses.
#pragma once

#include <vector>

#include "sched/state.h"

namespace artel::sched {

/// The reasons of Z1 that apply to the job, in that order. The state is changed while they are made
/// and is the same afterwards.
[[nodiscard]] std::vector<Wait> explain(State& state, JobId job);

}  // namespace artel::sched
