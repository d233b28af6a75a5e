#include "sched/rooms.h"

#include <algorithm>

namespace artel::sched {
namespace {

void subtract(Room& room, const Share& share, bool exclusive) {
  room.gpus -= share.gpus;
  room.cores -= share.cores;
  room.memory -= share.memory;
  room.empty = false;
  if (exclusive) room.open = false;  // X2
}

void narrow(Room& least, const Room& room) {
  least.open = least.open && room.open;
  least.empty = least.empty && room.empty;
  least.gpus = std::min(least.gpus, room.gpus);
  least.cores = std::min(least.cores, room.cores);
  least.memory = std::min(least.memory, room.memory);
}

Room whole(const Node& node) {
  return {.open = true,
          .gpus = node.gpus,
          .cores = node.cores,
          .memory = node.memory,
          .whole = node.gpus};
}

Room free_now(const Node& node) {
  return {.open = node.exclusive == 0,
          .empty = node.holders.empty(),
          .gpus = node.free_gpus,
          .cores = node.free_cores,
          .memory = node.free_memory};
}

Time end_of_grace(const Job& job) {
  return job.limit_end ? std::min(*job.limit_end, job.grace_end) : job.grace_end;
}

std::int64_t licences_of(const Job& job, LicenceId licence) {
  std::int64_t count = 0;
  for (const auto& [wanted, number] : job.request->licences) {
    if (wanted == licence) count += number;
  }
  return count;
}

/// When those who leave have given back enough licences: at the latest with the last of them.
Time licences_free(const State& state, const Job& claim) {
  Time free = state.now;
  for (const auto& [licence, wanted] : claim.request->licences) {
    const std::size_t i = licence.value;
    const std::int64_t more = is_active(claim) ? 0 : wanted;
    std::int64_t lacking =
        state.licences_active[i] + state.licences_signalled[i] + more - state.licences[i];
    if (lacking <= 0) continue;
    std::vector<std::pair<Time, std::int64_t>> returned;
    for (const JobId id : state.signalled) {
      const Job& job = state.jobs.at(id);
      if (!job.shares.empty()) returned.emplace_back(end_of_grace(job), licences_of(job, licence));
    }
    std::ranges::sort(returned);
    for (auto one = returned.begin(); one != returned.end() && lacking > 0; ++one) {
      if (one->second == 0) continue;
      lacking -= one->second;
      free = std::max(free, one->first);
    }
  }
  return free;
}

/// A licence of somebody in its grace is not free yet; that of a later claim is.
bool may_take_licences(const State& state, const Job& claim) {
  return std::ranges::all_of(claim.request->licences, [&](const auto& wanted) {
    const std::size_t i = wanted.first.value;
    std::int64_t taken = state.licences_active[i] + state.licences_signalled[i];
    for (const JobId id : state.active) {
      const Job& other = state.jobs.at(id);
      if (other.stage != Stage::kClaiming || other.claim <= claim.claim) continue;
      taken -= licences_of(other, wanted.first);
    }
    return taken <= state.licences[i];
  });
}

bool is_on(const Reservation& reservation, NodeIndex node) {
  return std::ranges::find(reservation.nodes, node) != reservation.nodes.end();
}

}  // namespace

Interval interval_now(const State& state, const Job& job) {
  return {.from = state.now, .end = end_of_run(job, state.now), .sharer = sharer_of(state, job)};
}

void PlanBook::add(const Planned& plan) {
  for (const Share& share : plan.shares) on_[share.node.value].push_back({&plan, share});
  ++count_;
}

bool Rooms::counts(const Planned& plan) const {
  return only_ == nullptr || std::ranges::binary_search(*only_, &plan);
}

/// Calls `visit(job, share)` for who is on the node at that time.
template <typename Visit>
void Rooms::for_each_on(NodeIndex node, Time time, Visit visit) const {
  if (interval_.emptied != Emptied::kNo) return;
  for (const auto& [job, share] : state_.nodes[node].holders) {
    if (job->assumed_gone) continue;
    if (job->stage == Stage::kSignalled && interval_.signalled_gone) continue;
    if (time > state_.now) {
      const auto end = end_of_hold(state_, *job, interval_.leaving);
      if (end && time >= *end) continue;
    }
    visit(*job, share);
  }
  if (plans_ == nullptr) return;
  for (const auto& [plan, share] : plans_->on(node)) {
    const bool during = time >= plan->start && (!plan->end || time < *plan->end);
    if (!during && interval_.plans_count == PlansCount::kInTime) continue;
    if (counts(*plan)) visit(*plan->job, share);
  }
}

/// Calls `visit(time)` for the later times of the interval at which less may be free: only plans
/// begin later than now.
template <typename Visit>
void Rooms::for_each_later_start(NodeIndex node, Visit visit) const {
  if (plans_ == nullptr || interval_.plans_count == PlansCount::kAlways) return;
  for (const auto& [plan, share] : plans_->on(node)) {
    if (plan->start <= interval_.from || (interval_.end && plan->start >= *interval_.end)) continue;
    if (counts(*plan)) visit(plan->start);
  }
}

Room Rooms::at_time(NodeIndex node, Time time) const {
  const Node& of = state_.nodes[node];
  if (is_as_it_is(time) && state_.assumed == 0 && !is_planned(node)) return free_now(of);
  Room room = whole(of);
  for_each_on(node, time, [&](const Job& job, const Share& share) {
    subtract(room, share, job.request->exclusive);
  });
  return room;
}

Devices Rooms::devices_at(NodeIndex node, Time time) const {
  Devices devices(state_.nodes[node].gpus);
  for_each_on(node, time, [&](const Job& job, const Share& share) {
    devices.take(share, sharer_of(state_, job));
  });
  return devices;
}

Devices Rooms::devices(NodeIndex node) const {
  Devices least = devices_at(node, interval_.from);
  for_each_later_start(node, [&](Time start) { least.narrow(devices_at(node, start)); });
  return least;
}

std::uint64_t Rooms::choose_devices(NodeIndex node, std::int64_t gpus) const {
  if (!state_.nodes[node].shared || gpus == 0) return 0;
  return devices(node).choose(gpus, interval_.sharer);
}

/// R2, and no place for anybody but its own jobs while it lasts. Spares: never (H3).
bool Rooms::is_reserved(NodeIndex node) const {
  if (state_.nodes[node].reservations == 0) return false;
  return std::ranges::any_of(state_.reservations, [&](const Reservation& one) {
    if (one.facts.spares) return is_on(one, node);
    const bool before = interval_.end && *interval_.end <= one.facts.start;
    const bool after = interval_.from >= one.facts.end;
    return !before && !after && one.id != interval_.inside && is_on(one, node);
  });
}

Room Rooms::at(NodeIndex node) const {
  if (interval_.inside) {
    const auto one = std::ranges::find(state_.reservations, *interval_.inside, &Reservation::id);
    if (one == state_.reservations.end() || !is_on(*one, node)) return {};
  }
  if (interval_.emptied == Emptied::kNo && is_reserved(node)) return {};
  return beside_work(node);
}

Room Rooms::beside_work(NodeIndex node) const {
  const Node& of = state_.nodes[node];
  if (!of.healthy && interval_.emptied != Emptied::kAllNodes) return {};
  Room least = at_time(node, interval_.from);
  for_each_later_start(node, [&](Time start) { narrow(least, at_time(node, start)); });
  if (of.shared) {
    const Devices on = devices(node);
    least.whole = on.untouched();
    least.share = on.largest_share(interval_.sharer);
  } else {
    least.whole = least.gpus;
  }
  return least;
}

std::optional<Time> end_of_hold(const State& state, const Job& job, const Leaving* leaving) {
  if (job.stage == Stage::kSignalled) return end_of_grace(job);
  if (job.stage == Stage::kClaiming) {
    return end_of_run(job, expected_start(state, job, job.shares));
  }
  if (leaving == nullptr) return job.limit_end;
  const auto early = leaving->find(job.id);
  if (early == leaving->end()) return job.limit_end;
  return job.limit_end ? std::min(*job.limit_end, early->second) : early->second;
}

Time expected_start(const State& state, const Job& claim, const std::vector<Share>& shares) {
  Time start = licences_free(state, claim);
  for (const Share& share : shares) {
    for (const Holder& holder : state.nodes[share.node.value].holders) {
      const Job& job = *holder.job;
      if (job.stage == Stage::kSignalled) start = std::max(start, end_of_grace(job));
    }
  }
  return start;
}

bool can_start(const State& state, const Job& claim) {
  if (!may_take_licences(state, claim)) return false;
  return std::ranges::all_of(claim.shares, [&](const Share& share) {
    const NodeIndex node = share.node.value;
    const bool by_device = state.nodes[node].shared;
    Room room = whole(state.nodes[node]);
    Devices devices(by_device ? room.gpus : 0);
    for (const auto& [job, held] : state.nodes[node].holders) {
      if (job->stage == Stage::kClaiming && job->claim >= claim.claim) continue;
      subtract(room, held, job->request->exclusive);
      if (by_device) devices.take(held, sharer_of(state, *job));
    }
    return room.open && state.nodes[node].healthy && room.gpus >= share.gpus &&
           room.cores >= share.cores && room.memory >= share.memory &&
           (room.empty || !claim.request->exclusive) &&
           (!by_device || devices.can_take(share, sharer_of(state, claim)));
  });
}

}  // namespace artel::sched
