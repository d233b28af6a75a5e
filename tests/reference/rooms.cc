// What is free when.
#include <algorithm>
#include <limits>

#include "reference/placement.h"

namespace artel::reference {

namespace {

constexpr Minute kForEver = std::numeric_limits<Minute>::max();
constexpr std::int64_t kMegabytes = 1000;

/// Somebody on a node from a time until a time.
struct Occupant {
  Minute from = 0;
  Minute end = kForEver;
  const std::vector<Share>* shares = nullptr;
  const Job* job = nullptr;
};

/// Until when a job that does not wait is counted on its nodes; nullopt: not at all.
std::optional<Minute> leaves_at(const World& world, const Job& job, const Interval& interval) {
  if (job.assumed_gone) return std::nullopt;
  if (job.stage == Stage::kRunning) {
    const Minute limit = job.limit_end.value_or(kForEver);
    const auto leaving = interval.leaving.find(job.number);
    return leaving == interval.leaving.end() ? limit : std::min(limit, leaving->second);
  }
  if (job.stage == Stage::kSignalled && !interval.signalled_gone) {
    return std::min(job.limit_end.value_or(kForEver), job.grace_end);
  }
  if (job.stage == Stage::kClaiming) {
    return end_of_run(job, expected_start(world, job)).value_or(kForEver);
  }
  return std::nullopt;
}

/// Running jobs until their limit, signalled ones until the end of grace, claims from now on,
/// plans.
std::vector<Occupant> occupants(const World& world, const Interval& interval) {
  std::vector<Occupant> found;
  for (const Job& job : world.jobs) {
    const auto end = leaves_at(world, job, interval);
    if (end) found.push_back({world.now, *end, &job.shares, &job});
  }
  for (const Planned& plan : interval.plans) {
    Occupant one{plan.start, plan.end.value_or(kForEver), &plan.shares, &world.jobs[plan.job]};
    if (interval.plans_at_any_time) one.from = std::numeric_limits<Minute>::min();
    if (interval.plans_at_any_time) one.end = kForEver;
    found.push_back(one);
  }
  return found;
}

Room whole_room(const Node& node) {
  Room room{.is_open = true,
            .milli = node.spec.gpus * kDevice,
            .cpus = node.spec.cpus,
            .memory = node.spec.memory * kMegabytes};
  if (node.spec.shared) room.devices.resize(static_cast<std::size_t>(node.spec.gpus));
  return room;
}

void take(const World& world, Room& room, const Occupant& one, const Share& share) {
  room.milli -= milli_of(share);
  room.cpus -= share.cpus;
  room.memory -= share.memory;
  room.is_empty = false;
  if (one.job->spec.exclusive) room.is_open = false;  // X2
  if (room.devices.empty()) return;
  for (const std::int64_t device : share.devices) {
    Device& on = room.devices[static_cast<std::size_t>(device)];
    on.free -= share.gpu_milli > 0 ? share.gpu_milli : kDevice;
    on.sharers.insert(sharer_of(world, *one.job));
  }
}

/// What the node offers at one time.
Room room_at(const World& world, const Node& node, const std::vector<Occupant>& occupants,
             Minute at) {
  Room room = whole_room(node);
  for (const Occupant& one : occupants) {
    if (at < one.from || at >= one.end) continue;
    for (const Share& share : *one.shares) {
      if (share.node == node.spec.name) take(world, room, one, share);
    }
  }
  return room;
}

/// What both rooms offer.
Room least_of(const Room& a, const Room& b) {
  Room least{.is_open = a.is_open && b.is_open,
             .is_empty = a.is_empty && b.is_empty,
             .milli = std::min(a.milli, b.milli),
             .cpus = std::min(a.cpus, b.cpus),
             .memory = std::min(a.memory, b.memory),
             .devices = a.devices};
  for (std::size_t i = 0; i < least.devices.size(); ++i) {
    least.devices[i].free = std::min(least.devices[i].free, b.devices[i].free);
    least.devices[i].sharers.insert(b.devices[i].sharers.begin(), b.devices[i].sharers.end());
  }
  return least;
}

/// Rule R2, and no place for anybody but its own jobs while it lasts. Spares: never (H3).
bool is_reserved(const World& world, const Node& node, const Interval& interval) {
  return std::ranges::any_of(world.reservations, [&](const Reservation& one) {
    const bool on_it = std::ranges::find(one.nodes, node.spec.name) != one.nodes.end();
    if (one.spec.spare) return on_it;
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
  Room least = room_at(world, node, all, interval.from);
  for (const Occupant& one : all) {
    if (one.from <= interval.from || (interval.end && one.from >= *interval.end)) continue;
    least = least_of(least, room_at(world, node, all, one.from));
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

std::vector<Room> empty_rooms(const World& world, bool only_healthy) {
  std::vector<Room> found;
  for (const Node& node : world.nodes) {
    found.push_back(node.healthy || !only_healthy ? whole_room(node) : Room{});
  }
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

namespace {

std::int64_t licenses_of(const Job& job, const std::string& name) {
  const auto entry = job.spec.licenses.find(name);
  return entry == job.spec.licenses.end() ? 0 : entry->second;
}

/// When those who leave have given back enough licenses.
Minute licenses_free(const World& world, const Job& claim) {
  Minute free = world.now;
  for (const auto& [name, wanted] : claim.spec.licenses) {
    std::int64_t lacking = wanted - world.licenses.at(name);
    std::vector<std::pair<Minute, std::int64_t>> returned;
    for (const Job& job : world.jobs) {
      if (job.number == claim.number) continue;
      if (is_active(job)) lacking += licenses_of(job, name);
      if (job.stage != Stage::kSignalled || licenses_of(job, name) == 0) continue;
      lacking += licenses_of(job, name);
      const Minute end = std::min(job.grace_end, job.limit_end.value_or(kForEver));
      returned.emplace_back(end, licenses_of(job, name));
    }
    std::ranges::sort(returned);
    for (const auto& [end, count] : returned) {
      if (lacking <= 0) break;
      lacking -= count;
      free = std::max(free, end);
    }
  }
  return free;
}

/// A licence of somebody in its grace is not free yet; that of a later claim is.
bool may_take_licenses(const World& world, const Job& claim) {
  return std::ranges::all_of(claim.spec.licenses, [&](const auto& wanted) {
    std::int64_t taken = wanted.second;
    for (const Job& job : world.jobs) {
      const bool is_later = job.stage == Stage::kClaiming && job.claim_number > claim.claim_number;
      const bool holds = is_active(job) || job.stage == Stage::kSignalled;
      if (job.number != claim.number && holds && !is_later) {
        taken += licenses_of(job, wanted.first);
      }
    }
    return taken <= world.licenses.at(wanted.first);
  });
}

}  // namespace

Minute expected_start(const World& world, const Job& claim) {
  Minute start = licenses_free(world, claim);
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
  if (!may_take_licenses(world, claim)) return false;
  std::vector<Occupant> others;
  for (const Job& job : world.jobs) {
    const bool holds = job.stage == Stage::kRunning || job.stage == Stage::kSignalled;
    const bool older = job.stage == Stage::kClaiming && job.claim_number < claim.claim_number;
    if (holds || older) others.push_back({.shares = &job.shares, .job = &job});
  }
  for (const Share& share : claim.shares) {
    const Room room = room_at(world, node_named(world, share.node), others, world.now);
    if (!room.is_open || room.milli < milli_of(share) || room.cpus < share.cpus) return false;
    if (room.memory < share.memory) return false;
    if (claim.spec.exclusive && !room.is_empty) return false;
    for (const std::int64_t device : share.devices) {
      const std::int64_t wanted = share.gpu_milli > 0 ? share.gpu_milli : kDevice;
      const Device& on = room.devices[static_cast<std::size_t>(device)];
      const bool is_others = std::ranges::any_of(
          on.sharers, [&](const std::string& other) { return other != sharer_of(world, claim); });
      if (on.free < wanted || is_others) return false;  // U4
    }
  }
  return true;
}

}  // namespace artel::reference
