// Tasks of an array that were cancelled while they waited, in few entries however many orders it
// took.
#pragma once

#include <cstddef>
#include <vector>

#include "model/job.h"

namespace artel::ctld {

/// Sets of tasks that are left by orders about some tasks have at most so many runs: they are
/// written with each start.
inline constexpr std::size_t kMaxTaskRuns = 8000;

/// Whether another `runs` may be added for an order about some tasks. An order about all of them
/// is the last one.
bool has_room(const std::vector<EndedTasks>& all, std::size_t runs);

/// Adds tasks to the last entry where it says the same of them, or says in general what was done
/// where there are many entries already, else as an entry of their own. Gives the entry's number.
std::size_t add_ended(std::vector<EndedTasks>& all, EndedTasks more);

}  // namespace artel::ctld
