// From what is told of a job to what is kept of it.
//
// Private to src/sched.
#pragma once

#include <memory>

#include "sched/state.h"

namespace artel::sched {

/// kInvalidArgument: what is told makes no sense. What follows relies on it.
Result<> check_facts(const State& state, const JobFacts& facts);
/// kNeverFits: there are too few nodes, whatever they are.
Result<> check_size(const State& state, const Request& request);
/// Equal requests are kept once.
std::shared_ptr<const Shape> intern(State& state, const Request& request);
/// A pending job, as yet in no list.
Job job_of(const State& state, const JobFacts& facts, std::shared_ptr<const Shape> shape);

/// From now on it is one of the jobs that wait. list_nodes() was called for it.
Job& admit(State& state, Job job, const JobFacts& facts);

}  // namespace artel::sched
