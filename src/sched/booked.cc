#include "sched/booked.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "sched/books.h"
#include "sched/checks.h"

namespace artel::sched {
namespace {

bool on_list(const std::vector<NodeIndex>& nodes, NodeIndex node) {
  return std::ranges::find(nodes, node) != nodes.end();
}

void sort_by_name(const State& state, std::vector<NodeIndex>& nodes) {
  std::ranges::sort(nodes, {}, [&](NodeIndex node) { return state.nodes[node].rank; });
}

/// Whether the job's limit passes that time.
bool passes(const State& state, const Job& job, Time time) {
  const auto end = job.stage == Stage::kClaiming
                       ? end_of_run(job, expected_start(state, job, job.shares))
                       : job.limit_end;
  return !end || *end > time;
}

/// R1's refusals at one node; `self` is left out.
bool conflicts(const State& state, const ReservationFacts& facts, ReservationId self,
               NodeIndex node) {
  const bool overlaps = std::ranges::any_of(state.reservations, [&](const Reservation& one) {
    const bool meet =
        one.facts.spares || (one.facts.start < facts.end && facts.start < one.facts.end);
    return one.id != self && meet && on_list(one.nodes, node);
  });
  if (overlaps) return true;
  return std::ranges::any_of(state.nodes[node].holders, [&](const Holder& holder) {
    return !holder.job->preemptible && passes(state, *holder.job, facts.start);
  });
}

/// GPUs of jobs on the node that pass the start.
std::int64_t burden(const State& state, const ReservationFacts& facts, NodeIndex node) {
  std::int64_t gpus = 0;
  for (const auto& [job, share] : state.nodes[node].holders) {
    if (job->stage != Stage::kSignalled && passes(state, *job, facts.start)) gpus += share.gpus;
  }
  return gpus;
}

struct Choice {
  std::int64_t burden{};
  std::vector<NodeIndex> nodes;
};

/// R1: so many of these nodes with the least burden.
std::optional<Choice> choose(const State& state, const ReservationFacts& facts,
                             const std::vector<NodeIndex>& among) {
  std::vector<std::tuple<std::int64_t, std::uint32_t, NodeIndex>> found;
  for (const NodeIndex i : among) {
    const Node& node = state.nodes[i];
    if (!node.healthy || (facts.flavor && node.flavor != *facts.flavor)) continue;
    if (is_others(state, facts, node) || conflicts(state, facts, ReservationId{}, i)) continue;
    found.emplace_back(burden(state, facts, i), node.rank, i);
  }
  std::ranges::sort(found);
  if (found.size() < *facts.count) return std::nullopt;
  Choice choice;
  for (std::uint32_t k = 0; k < *facts.count; ++k) {
    choice.burden += std::get<0>(found[k]);
    choice.nodes.push_back(std::get<2>(found[k]));
  }
  return choice;
}

std::optional<Choice> choose(const State& state, const ReservationFacts& facts) {
  if (!facts.one_leaf) return choose(state, facts, state.by_name);
  std::optional<Choice> best;
  for (const auto& leaf : state.leaves) {
    auto choice = choose(state, facts, leaf);
    if (choice && (!best || choice->burden < best->burden)) best = std::move(choice);
  }
  return best;
}

/// R5: the same leaf first, then by name.
std::optional<NodeIndex> replacement(const State& state, const Reservation& reservation,
                                     const Node& failed) {
  std::optional<NodeIndex> best;
  const auto key = [&](NodeIndex i) {
    return std::tuple(state.nodes[i].leaf != failed.leaf, state.nodes[i].rank);
  };
  for (const NodeIndex i : state.by_name) {
    const Node& node = state.nodes[i];
    if (!node.healthy || node.flavor != failed.flavor || !node.holders.empty()) continue;
    if (on_list(reservation.nodes, i) || is_others(state, reservation.facts, node)) continue;
    if (conflicts(state, reservation.facts, reservation.id, i)) continue;
    if (!best || key(i) < key(*best)) best = i;
  }
  return best;
}

void set_inside(State& state, Job& job, bool inside) {
  book(state, job, -1);
  job.inside = inside;
  book(state, job, 1);
}

/// Jobs that run inside count for nobody from its opening to its end.
void count_inside(State& state, ReservationId id, bool inside) {
  for (const JobId number : state.active) {
    Job& job = state.jobs.at(number);
    if (job.reservation != id || job.stage != Stage::kRunning || job.inside == inside) continue;
    set_inside(state, job, inside);
  }
}

/// R6: an early start is ordinary work.
bool may_start_early(const State& state, const Job& job, const Charge& charge) {
  if (quota_failure(state, job, charge, false)) return false;
  return state.now >= job.backoff_until || is_within_path(state, job.queue, charge);
}

/// Jobs inside count again, who names it is ordinary (R6).
void close(State& state, ReservationId id) {
  count_inside(state, id, false);
  for (auto& [number, job] : state.jobs) {
    if (job.reservation == id) job.reservation.reset();
  }
  std::erase_if(state.reservations, [&](const Reservation& one) { return one.id == id; });
}

/// H3: open from the begin, without an end.
ReservationId add_spares(State& state, const ReservationFacts& facts) {
  Reservation one{.id = ReservationId{++state.last_reservation}, .facts = facts, .nodes = {}};
  one.facts.start = {};
  one.facts.end = {};
  one.facts.nodes.clear();
  one.open = true;
  state.reservations.push_back(std::move(one));
  return state.reservations.back().id;
}

}  // namespace

bool is_others(const State& state, const ReservationFacts& facts, const Node& node) {
  if (!node.owner || facts.maintenance) return false;
  return !facts.owner || !is_below(state, *facts.owner, *node.owner);
}

void mark_maintenance(State& state) {
  for (Node& node : state.nodes) {
    node.in_maintenance = false;
    node.reservations = 0;
  }
  for (const Reservation& one : state.reservations) {
    for (const NodeIndex i : one.nodes) {
      ++state.nodes[i].reservations;
      if (one.open && one.facts.maintenance) state.nodes[i].in_maintenance = true;
    }
  }
  derive_capacity(state);
}

Result<ReservationId> add_reservation(State& state, const ReservationFacts& facts) {
  if (facts.spares) return add_spares(state, facts);
  Reservation one{.id = {}, .facts = facts, .nodes = {}};
  for (const NodeId node : facts.nodes) one.nodes.push_back(node.value);
  if (facts.count) {
    auto choice = choose(state, facts);
    if (!choice) {
      return fail(ErrorCode::kTryAgain,
                  "reservation: too few nodes are without another reservation and without work "
                  "that may not be evicted");
    }
    one.nodes = std::move(choice->nodes);
  }
  for (const NodeIndex node : one.nodes) {
    if (!conflicts(state, facts, ReservationId{}, node)) continue;
    return fail(ErrorCode::kTryAgain,
                "reservation: node '" + state.nodes[node].name +
                    "' has another reservation in that time, or work that may not be evicted and "
                    "whose limit passes the start");
  }
  sort_by_name(state, one.nodes);
  one.id = ReservationId{++state.last_reservation};
  state.reservations.push_back(std::move(one));
  mark_maintenance(state);
  return state.reservations.back().id;
}

Reservation* find_reservation(State& state, ReservationId id) {
  const auto one = std::ranges::find(state.reservations, id, &Reservation::id);
  return one == state.reservations.end() ? nullptr : &*one;
}

const Reservation* find_reservation(const State& state, ReservationId id) {
  return find_reservation(const_cast<State&>(state), id);
}

void end_reservations(State& state) {
  bool any = false;
  for (const Reservation& one : std::vector<Reservation>(state.reservations)) {
    if (one.facts.spares || one.facts.end > state.now) continue;
    any = true;
    close(state, one.id);
  }
  if (any) mark_maintenance(state);
}

void cancel_reservation(State& state, ReservationId id) {
  close(state, id);
  mark_maintenance(state);
}

void replace_failed_nodes(State& state) {
  bool any = false;
  for (Reservation& one : state.reservations) {
    if (!one.facts.count || one.facts.spares) continue;
    for (NodeIndex& node : one.nodes) {
      if (state.nodes[node].healthy) continue;
      const auto other = replacement(state, one, state.nodes[node]);
      if (!other) continue;
      node = *other;
      any = true;
    }
    sort_by_name(state, one.nodes);
  }
  if (any) mark_maintenance(state);
}

std::vector<JobId> jobs_in_the_way(const State& state, Stage stage) {
  std::vector<JobId> found;
  if (state.reservations.empty()) return found;
  for (const JobId id : state.active) {
    const Job& job = state.jobs.at(id);
    if (job.stage != stage || (stage == Stage::kRunning && !job.preemptible)) continue;
    const bool in_the_way = std::ranges::any_of(state.reservations, [&](const Reservation& one) {
      if (one.facts.spares || job.reservation == one.id) return false;
      if (state.now < one.facts.start - job.grace) return false;
      return passes(state, job, one.facts.start) &&
             std::ranges::any_of(job.shares, [&](const Share& share) {
               return on_list(one.nodes, share.node.value);
             });
    });
    if (in_the_way) found.push_back(id);
  }
  return found;
}

void open_reservations(State& state) {
  bool any = false;
  for (Reservation& one : state.reservations) {
    if (one.open || one.facts.start > state.now) continue;
    one.open = true;
    any = true;
    count_inside(state, one.id, true);
  }
  if (any) mark_maintenance(state);
}

WithoutReservations::WithoutReservations(State& state)
    : state_(state), reservations_(std::exchange(state.reservations, {})) {
  for (const JobId id : state.active) {
    if (state.jobs.at(id).inside) inside_.push_back(id);
  }
  for (const JobId id : inside_) set_inside(state, state.jobs.at(id), false);
  if (!reservations_.empty()) mark_maintenance(state);
}

WithoutReservations::~WithoutReservations() {
  state_.reservations = std::move(reservations_);
  for (const JobId id : inside_) set_inside(state_, state_.jobs.at(id), true);
  if (!state_.reservations.empty()) mark_maintenance(state_);
}

bool may_enter(const State& state, const Job& job) {
  const Reservation* one = find_reservation(state, *job.reservation);
  if (one == nullptr || one->facts.spares) return false;
  if (!one->facts.owner || !is_below(state, job.queue, *one->facts.owner)) {
    return false;
  }
  return one->facts.users.empty() || std::ranges::binary_search(one->facts.users, job.user);
}

std::optional<std::vector<Share>> place_inside(const State& state, const Job& job, FlavorId& flavor,
                                               std::uint32_t& size) {
  const Reservation& one = *find_reservation(state, *job.reservation);
  const auto end = end_of_run(job, state.now);
  if (!one.open && !one.facts.flex) return std::nullopt;
  if (!one.facts.flex && (!end || *end > one.facts.end)) return std::nullopt;
  if (!has_licences(state, *job.request, false)) return std::nullopt;
  const Interval interval{
      .from = state.now, .end = end, .inside = one.id, .sharer = sharer_of(state, job)};
  const Rooms rooms(state, interval, nullptr);
  for (const std::uint32_t nodes : sizes_of(*job.request)) {
    for (const FlavorId of : job.request->flavors) {
      const Charge charge = charge_of(state, *job.request, nodes, of);
      if (!one.open && !may_start_early(state, job, charge)) continue;
      if (auto shares = place(state, job, {nodes, of}, rooms)) {
        flavor = of;
        size = nodes;
        return shares;
      }
    }
  }
  return std::nullopt;
}

}  // namespace artel::sched
