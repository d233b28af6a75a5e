// Rules P (placement), X (exclusive, dedicated), R2, and what is free when.
#pragma once

#include <functional>

#include "reference/world.h"

namespace artel::reference {

/// What a node offers for the whole of an interval.
struct Room {
  bool is_open = false;
  bool is_empty = true;
  std::int64_t gpus = 0;
  std::int64_t cpus = 0;
};

/// The question of what is free.
struct Interval {
  Minute from = 0;
  std::optional<Minute> end;       // none: for ever
  std::vector<Planned> plans;      // that must not be disturbed
  bool signalled_gone = false;     // V3
  std::string inside;              // only nodes of this reservation, whose window does not matter
  bool plans_at_any_time = false;  // V3: planned nodes count as taken
};

/// By node.
std::vector<Room> rooms(const World& world, const Interval& interval);

/// Closes all nodes for which `keep` is false.
void keep_only(const World& world, std::vector<Room>& rooms,
               const std::function<bool(const Node&)>& keep);

/// Rules P2 to P5, G5, X. `anywhere`: without regard to topology and segments.
std::optional<std::vector<Share>> place(const World& world, const Job& job, const Variant& variant,
                                        const std::vector<Room>& rooms, bool anywhere = false);

/// End of a run of the job that starts at `start`.
std::optional<Minute> end_of_run(const Job& job, Minute start);
/// When a claim can start at the latest: the last end of grace on its nodes.
Minute expected_start(const World& world, const Job& claim);
/// Whether all nodes of a claim are free; older claims have the first right.
bool can_start(const World& world, const Job& claim);

}  // namespace artel::reference
