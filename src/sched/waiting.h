// When a job may be looked at at all: W1 to W6, what it waits for (D), the slots of its array (J2),
// and when it is given up (T1, W4, D6).
#pragma once

#include <vector>

#include "sched/state.h"

namespace artel::sched {

/// Why a pending job is not eligible (W1), but for its array's slots. kNone: it is.
[[nodiscard]] Wait obstacle(const State& state, const Job& job);
[[nodiscard]] inline bool is_eligible(const State& state, const Job& job) {
  return obstacle(state, job).reason == Reason::kNone;
}

/// J2, in this pass: what it gave away stays given away until the next.
[[nodiscard]] bool has_slot(const State& state, const Job& job);
void take_slot(State& state, const Job& job);
void begin_slots(State& state);

/// W4: the last instant at which it may start; nullopt: it has no deadline.
[[nodiscard]] std::optional<Time> latest_start(const Job& job);

/// D2: kNotFound, naming the part of the list.
[[nodiscard]] Result<> check_dependencies(const State& state, const JobFacts& facts);
/// A job that has just become known: its name, array, dependencies and waiting time.
void enter(State& state, Job& job, const JobFacts& facts);
/// The job has started; in the first time somebody may wait for that.
void note_start(State& state, Job& job);
/// The job is over and forgotten. Who waits for it is looked at by resolve().
void finish(State& state, JobId id, bool completed);
/// D4, D6, for all whose dependencies may have changed, and on along the chains. Jobs that wait for
/// what cannot be are given up.
void resolve(State& state);
/// T1, W4: those whose time has come; with `missed`, only deadlines that are past.
void end_waits(State& state, bool missed);
/// After its stage or its hold has changed: puts the job among those that wait and those whose
/// waiting ends, or takes it out.
void watch_wait(State& state, Job& job);

}  // namespace artel::sched
