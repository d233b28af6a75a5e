// The books: what jobs hold, on nodes and in the sums of the tree, and the time up to which use is
// counted. Private to src/sched.
#pragma once

#include <vector>

#include "sched/state.h"

namespace artel::sched {

// `job.charge` and `job.shares` are set before.

/// Adds the job's charge to the sums of its path (`sign` 1) or takes it off (-1). Jobs inside a
/// reservation count for nobody.
void book(State& state, const Job& job, int sign);
/// Puts the job on its nodes, or takes it off.
void hold(State& state, Job& job);
void drop(State& state, Job& job);
/// Takes the job off one of its nodes.
void take_off(State& state, const Job& job, NodeIndex node);
/// Covers of the path are to be made again.
void forget_covers(State& state, QuotaId queue);
/// use* of the path after a change at `quota`.
void update_star(State& state, QuotaId quota);

/// A running job holds these shares from now on (H5).
void exchange(State& state, Job& job, std::vector<Share> shares);
/// A job that runs or claims leaves the books and has its grace (A1, A4).
void signal(State& state, Job& job);
/// Takes a job out of whatever it holds; it is pending afterwards.
void release(State& state, Job& job);

/// Time goes on.
void advance(State& state, Time now);
/// Counts the past of F2 up to now: before anything that it is a mean of changes, and before it is
/// looked at.
void settle(State& state);

}  // namespace artel::sched
