// Rules P (placement), X (exclusive, dedicated), M, U, R2, and what is free when.
#pragma once

#include <functional>
#include <set>

#include "reference/world.h"

namespace artel::reference {

/// A device of a node that is open for shares.
struct Device {
  std::int64_t free = kDevice;
  std::set<std::string> sharers;  // to whom it belongs (U4): one, or none
};

/// What a node offers for the whole of an interval.
struct Room {
  bool is_open = false;
  bool is_empty = true;
  std::int64_t milli = 0;  // thousandths of GPUs
  std::int64_t cpus = 0;
  std::int64_t memory = 0;      // MB
  std::vector<Device> devices;  // of a node that is open for shares
};

/// The question of what is free.
struct Interval {
  Minute from = 0;
  std::optional<Minute> end;              // none: for ever
  std::vector<Planned> plans;             // that must not be disturbed
  bool signalled_gone = false;            // V3
  bool plans_at_any_time = false;         // V3: planned nodes count as taken
  std::string inside;                     // only nodes of this reservation, whenever its window is
  std::map<std::size_t, Minute> leaving;  // running jobs that end by then (B2, Protected)
};

/// By node.
std::vector<Room> rooms(const World& world, const Interval& interval);
/// As if nothing ran and nothing was reserved.
std::vector<Room> empty_rooms(const World& world, bool only_healthy);

/// Closes all nodes for which `keep` is false.
void keep_only(const World& world, std::vector<Room>& rooms,
               const std::function<bool(const Node&)>& keep);

/// Who the job is on a shared device (U4).
std::string sharer_of(const World& world, const Job& job);
/// What the job holds on the node: M2, M3, U3. Nullopt: it does not fit.
std::optional<Share> share_on(const World& world, const Job& job, const scenario::Component& part,
                              const Node& node, const Room& room);

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
