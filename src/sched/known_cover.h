// What a guarantee covers (C2), as it is kept between changes, and what evictions could take of the
// rest.
//
// Private to src/sched.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "base/units.h"
#include "sched/facts.h"

namespace artel::sched {

struct State;
struct Job;

/// Running preemptible jobs, summed up: what evictions could free at the most.
struct Displaceable {
  std::int64_t jobs{};
  Amounts nodes;  // by flavor; a node counts once for each job on it
  Amounts held;   // charges

  void add(const Displaceable& other, int times);
  void add(const State& state, const Job& job, int times);
};

/// What a guarantee covers. Claims count as started now, so with any it holds for one instant.
struct KnownCover {
  std::set<std::uint64_t> jobs;
  std::vector<Job*> uncovered;                      // displaceable jobs below, by queue
  std::map<std::int32_t, Displaceable> could_free;  // the same summed up, by priority
  std::optional<Time> at;                           // of covers with claims
};

}  // namespace artel::sched
