// What is free when.
#include <algorithm>
#include <limits>

#include "reference/placement.h"

namespace artel::reference {

namespace {

constexpr Minute kForEver = std::numeric_limits<Minute>::max();

/// Somebody on a node from a time until a time.
struct Occupant {
  Minute from = 0;
  Minute end = kForEver;
  const std::vector<Share>* shares = nullptr;
  bool exclusive = false;
};

/// Running jobs until their limit, signalled ones until the end of grace, claims from now on,
/// plans.
std::vector<Occupant> occupants(const World& world, const Interval& interval) {
  std::vector<Occupant> found;
  for (const Job& job : world.jobs) {
    Occupant one{.from = world.now, .shares = &job.shares, .exclusive = job.spec.exclusive};
    if (job.assumed_gone) continue;
    if (job.stage == Stage::kRunning) {
      one.end = job.limit_end.value_or(kForEver);
    } else if (job.stage == Stage::kSignalled && !interval.signalled_gone) {
      one.end = std::min(job.limit_end.value_or(kForEver), job.grace_end);
    } else if (job.stage == Stage::kClaiming) {
      one.end = end_of_run(job, expected_start(world, job)).value_or(kForEver);
    } else {
      continue;
    }
    found.push_back(one);
  }
  for (const Planned& plan : interval.plans) {
    Occupant one{.from = plan.start,
                 .end = plan.end.value_or(kForEver),
                 .shares = &plan.shares,
                 .exclusive = world.jobs[plan.job].spec.exclusive};
    if (interval.plans_at_any_time) one.from = std::numeric_limits<Minute>::min();
    if (interval.plans_at_any_time) one.end = kForEver;
    found.push_back(one);
  }
  return found;
}

/// What the node offers at one time.
Room room_at(const Node& node, const std::vector<Occupant>& occupants, Minute at) {
  Room room{.is_open = true, .gpus = node.spec.gpus, .cpus = node.spec.cpus};
  for (const Occupant& one : occupants) {
    if (at < one.from || at >= one.end) continue;
    for (const Share& share : *one.shares) {
      if (share.node != node.spec.name) continue;
      room.gpus -= share.gpus;
      room.cpus -= share.cpus;
      room.is_empty = false;
      if (one.exclusive) room.is_open = false;  // X2
    }
  }
  return room;
}

/// Rule R2, and no place for anybody but its own jobs while it lasts.
bool is_reserved(const World& world, const Node& node, const Interval& interval) {
  return std::ranges::any_of(world.reservations, [&](const Reservation& one) {
    const bool on_it = std::ranges::find(one.nodes, node.spec.name) != one.nodes.end();
    const bool before = interval.end && *interval.end <= one.spec.start;
    const bool after = interval.from >= one.spec.end;
    return on_it && !before && !after && one.spec.name != interval.inside;
  });
}

bool is_outside(const World& world, const Node& node, const std::string& reservation) {
  if (reservation.empty()) return false;
  const auto& nodes = find_reservation(world, reservation)->nodes;
  return std::ranges::find(nodes, node.spec.name) == nodes.end();
}

Room room_for(const World& world, const Node& node, const Interval& interval,
              const std::vector<Occupant>& all) {
  if (!node.healthy || is_outside(world, node, interval.inside)) return {};
  if (is_reserved(world, node, interval)) return {};
  Room least = room_at(node, all, interval.from);
  for (const Occupant& one : all) {
    if (one.from <= interval.from || (interval.end && one.from >= *interval.end)) continue;
    const Room room = room_at(node, all, one.from);
    least.is_open = least.is_open && room.is_open;
    least.is_empty = least.is_empty && room.is_empty;
    least.gpus = std::min(least.gpus, room.gpus);
    least.cpus = std::min(least.cpus, room.cpus);
  }
  return least;
}

}  // namespace

std::vector<Room> rooms(const World& world, const Interval& interval) {
  const std::vector<Occupant> all = occupants(world, interval);
  std::vector<Room> found;
  for (const Node& node : world.nodes) found.push_back(room_for(world, node, interval, all));
  return found;
}

void keep_only(const World& world, std::vector<Room>& rooms,
               const std::function<bool(const Node&)>& keep) {
  for (std::size_t i = 0; i < rooms.size(); ++i) {
    if (!keep(world.nodes[i])) rooms[i] = {};
  }
}

std::optional<Minute> end_of_run(const Job& job, Minute start) {
  if (!job.spec.walltime) return std::nullopt;
  return start + *job.spec.walltime;
}

Minute expected_start(const World& world, const Job& claim) {
  Minute start = world.now;
  for (const Job& job : world.jobs) {
    if (job.stage != Stage::kSignalled) continue;
    for (const Share& share : claim.shares) {
      if (std::ranges::find(job.shares, share.node, &Share::node) == job.shares.end()) continue;
      start = std::max(start, std::min(job.grace_end, job.limit_end.value_or(kForEver)));
    }
  }
  return start;
}

bool can_start(const World& world, const Job& claim) {
  std::vector<Occupant> others;
  for (const Job& job : world.jobs) {
    const bool holds = job.stage == Stage::kRunning || job.stage == Stage::kSignalled;
    const bool older = job.stage == Stage::kClaiming && job.claim_number < claim.claim_number;
    if (holds || older) {
      others.push_back({.shares = &job.shares, .exclusive = job.spec.exclusive});
    }
  }
  for (const Share& share : claim.shares) {
    const Room room = room_at(node_named(world, share.node), others, world.now);
    if (!room.is_open || room.gpus < share.gpus || room.cpus < share.cpus) return false;
    if (claim.spec.exclusive && !room.is_empty) return false;
  }
  return true;
}

}  // namespace artel::reference
