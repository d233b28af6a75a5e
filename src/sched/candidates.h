// Which nodes a job may use at all (N1, N2, N4), and whether the nodes that exist and are up could
// ever hold it (N5).
//
// Sets of nodes are made once for all jobs with the same expression and lists. Whether a shape
// could be held is found out once and remembered with the nodes that would hold it: as long as
// these are up, no failure elsewhere changes the answer.
//
// Private to src/sched.
#pragma once

#include "sched/state.h"

namespace artel::sched {

/// U1, N1, H1: kInvalidArgument.
[[nodiscard]] Result<> check_request(const Request& request);
/// N1: kNeverFits for a word that no node has.
[[nodiscard]] Result<> check_words(const State& state, const Request& request);

/// Sets the nodes that the job may use; null stands for all.
void list_nodes(State& state, Job& job);
/// The words of a node have changed: all sets that depend on words are made anew.
void relist_nodes(State& state);

/// By flavor of the request: whether the smallest size finds a place when all nodes are healthy and
/// empty (Q6).
[[nodiscard]] const std::vector<bool>& placeable(State& state, const Job& job);

/// N4. The oldest marks are dropped as far as the job could not be held without their nodes.
void mark_node(State& state, Job& job, NodeIndex node);

/// N5, for all jobs whose answer may have changed: Job::parked.
void park(State& state);

}  // namespace artel::sched
