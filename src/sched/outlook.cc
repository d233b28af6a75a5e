#include "sched/outlook.h"

#include <algorithm>
#include <iterator>

#include "sched/booked.h"

namespace artel::sched {
namespace {

bool is_in_backoff(const State& state, const Job& job) { return state.now < job.backoff_until; }

/// The part of the job that each share is for, in the order of the shares.
std::vector<Part> parts_of_shares(const Request& request, std::uint32_t size) {
  std::vector<Part> each;
  for (const Part& part : parts_of(request, size)) each.insert(each.end(), part.nodes, part);
  return each;
}

bool is_binding(const State& state, const Planned& plan, const Job& later, const Charge& charge) {
  const Job& p = *plan.job;
  if (p.team == later.team || p.pool == later.pool) return true;
  const QuotaId lca = common_ancestor(state, p.pool, later.pool);
  const auto child = child_towards(state, lca, later.pool);
  return !child || !is_within(state, *child, charge);
}

}  // namespace

Outlook::Search Outlook::find_eviction(const Job& job) const {
  return find_eviction(job, plans_.on_nodes, Protection::kCounts);
}

Outlook::Search Outlook::find_eviction(const Job& job, const PlanBook& plans,
                                       Protection protection) const {
  Search search;
  if (job.evicted_at == state_.now) return search;  // A7
  for (const FlavorId flavor : job.request->flavors) {
    const Charge charge = charge_of(state_, *job.request, smallest_size(*job.request), flavor);
    if (is_in_backoff(state_, job) && !is_within_path(state_, job.queue, charge)) continue;
    if (!evictable_.may_evict(job, charge)) continue;
    EvictionSearch here = make_eviction(state_, job, flavor, plans, protection);
    search.room_comes = search.room_comes || here.room_comes;
    if (!here.plan) continue;
    search.found = Found{flavor, std::move(*here.plan)};
    break;
  }
  return search;
}

PlanFilter Outlook::binding_plans(const Job& job, const Charge& charge) const {
  PlanFilter binding;
  for (const Planned& plan : plans_.all) {
    if (is_binding(state_, plan, job, charge)) binding.push_back(&plan);
  }
  std::ranges::sort(binding);
  return binding;
}

std::vector<Variant> Outlook::allowed_variants(const Job& job) const {
  std::vector<Variant> allowed;
  for (const std::uint32_t size : sizes_of(*job.request)) {
    for (const FlavorId flavor : job.request->flavors) {
      const auto failure =
          quota_failure(state_, job, charge_of(state_, *job.request, size, flavor), false);
      if (!failure || failure->reason == Reason::kNone) allowed.push_back({size, flavor});
    }
  }
  return allowed;
}

bool Outlook::ever_within(const Job& job) const {
  for (const std::uint32_t size : sizes_of(*job.request)) {
    for (const FlavorId flavor : job.request->flavors) {
      if (is_within_path(state_, job.queue, charge_of(state_, *job.request, size, flavor))) {
        return true;
      }
    }
  }
  return false;
}

Wait Outlook::first_reason(const Job& job) const {
  const std::vector<Variant> allowed = allowed_variants(job);
  if (allowed.empty()) {
    const Variant variant = first_variant(job);
    const Charge charge = charge_of(state_, *job.request, variant.size, variant.flavor);
    return quota_wait(*quota_failure(state_, job, charge, false));
  }
  if (const auto wait = protected_wait(job)) return *wait;
  return room_wait(job, allowed);
}

void Outlook::all_reasons(const Job& job, std::vector<Wait>& reasons) const {
  if (is_in_backoff(state_, job) && !ever_within(job)) {
    reasons.push_back({.reason = Reason::kBackoff, .until = job.backoff_until});
  }
  const std::vector<Variant> allowed = allowed_variants(job);
  if (!allowed.empty()) {
    if (auto wait = protected_wait(job)) reasons.push_back(std::move(*wait));
    reasons.push_back(room_wait(job, allowed));
    return;
  }
  const Variant variant = first_variant(job);
  const Charge charge = charge_of(state_, *job.request, variant.size, variant.flavor);
  for (const Failure& failure : quota_failures(state_, job, charge)) {
    reasons.push_back(quota_wait(failure));
  }
  if (auto room = room_wait_beside_quota(job)) reasons.push_back(std::move(*room));
}

Variant Outlook::first_variant(const Job& job) const {
  return {smallest_size(*job.request), job.request->flavors.front()};
}

Wait Outlook::quota_wait(const Failure& failure) const {
  const bool lends = failure.reason == Reason::kLendLimit;
  return {.reason = failure.reason,
          .quota = lends ? largest_keeper(failure.shortage) : failure.quota,
          .shortage = failure.shortage};
}

/// Whose idle guarantee that nobody else may use is the largest, by name among equals.
QuotaId Outlook::largest_keeper(const Shortage& shortage) const {
  const std::size_t r =
      shortage.counted == Counted::kCores ? state_.cores() : shortage.flavor.value;
  QuotaId largest = kRoot;
  std::int64_t most = 0;
  for (const QuotaId child : state_.at(kRoot).children) {
    const Quota& quota = state_.at(child);
    const std::int64_t idle = quota.star[r] - use(quota, r);
    const bool by_name = idle == most && quota.facts.name < state_.at(largest).facts.name;
    if (idle <= 0 || (idle <= most && !by_name)) continue;
    largest = child;
    most = idle;
  }
  return largest;
}

std::optional<Wait> Outlook::protected_wait(const Job& job) const {
  const auto found = find_eviction(job, no_plans_, Protection::kIgnored).found;
  if (!found || found->plan.free_from <= state_.now) return std::nullopt;
  if (find_eviction(job, no_plans_, Protection::kCounts).found) return std::nullopt;
  return Wait{.reason = Reason::kProtected,
              .behind = found->plan.last_protected,
              .until = found->plan.free_from};
}

Outlook::Shares Outlook::place_regardless(const Job& job, const std::vector<Variant>& allowed,
                                          bool anywhere, Variant* which) const {
  const Rooms rooms(state_, interval_now(state_, job), nullptr);
  for (const Variant& variant : allowed) {
    const Charge charge = charge_of(state_, *job.request, variant.size, variant.flavor);
    if (quota_failure(state_, job, charge, false)) continue;
    const auto among = open_nodes(state_, job, variant);
    auto shares =
        place(state_, job, variant, rooms, {.domain = {}, .anywhere = anywhere, .among = &among});
    if (!shares) continue;
    if (which != nullptr) *which = variant;
    return shares;
  }
  return std::nullopt;
}

Wait Outlook::room_wait(const Job& job, const std::vector<Variant>& allowed) const {
  const bool fits = std::ranges::any_of(
      allowed, [&](const Variant& variant) { return may_fit(state_, job, variant); });
  Variant variant{};
  if (fits) {
    if (const auto shares = place_regardless(job, allowed, false, &variant)) {
      return backfill_wait(job, variant, *shares);
    }
  }
  if (state_.reservations.empty()) {
    const bool placed = place_regardless(job, allowed, true, nullptr).has_value();
    return short_of_nodes(placed ? Reason::kTopology : Reason::kResources, job, allowed);
  }
  const std::vector<Reservation> reservations = state_.reservations;
  const WithoutReservations unreserved(state_);
  const std::vector<Variant> then = allowed_variants(job);
  if (const auto shares = place_regardless(job, then, false, nullptr)) {
    return reservation_wait(job, *shares, reservations);
  }
  const bool placed = place_regardless(job, then, true, nullptr).has_value();
  return short_of_nodes(placed ? Reason::kTopology : Reason::kResources, job, then);
}

std::optional<Wait> Outlook::room_wait_beside_quota(const Job& job) const {
  const Variant variant = first_variant(job);
  const Interval interval = interval_now(state_, job);
  const Rooms rooms(state_, interval, nullptr);
  const auto among = open_nodes(state_, job, variant);
  if (const auto shares = place(state_, job, variant, rooms, {.among = &among})) {
    const Charge charge = charge_of(state_, *job.request, variant.size, variant.flavor);
    const PlanFilter binding = binding_plans(job, charge);
    const Rooms beside(state_, interval, &plans_.on_nodes, &binding);
    if (place(state_, job, variant, beside, {.among = &among})) return std::nullopt;
    return backfill_wait(job, variant, *shares);
  }
  const std::vector<Reservation> reservations = state_.reservations;
  if (!reservations.empty()) {
    const WithoutReservations unreserved(state_);
    const Rooms all(state_, interval, nullptr);
    if (const auto shares = place(state_, job, variant, all, {.among = &among})) {
      return reservation_wait(job, *shares, reservations);
    }
  }
  const bool placed =
      place(state_, job, variant, rooms, {.domain = {}, .anywhere = true, .among = &among})
          .has_value();
  return short_of_nodes(placed ? Reason::kTopology : Reason::kResources, job, {variant});
}

Wait Outlook::backfill_wait(const Job& job, const Variant& variant,
                            const std::vector<Share>& shares) const {
  Wait wait{.reason = Reason::kBackfill};
  const Charge charge = charge_of(state_, *job.request, variant.size, variant.flavor);
  const PlanFilter binding = binding_plans(job, charge);
  wait.shortage = node_shortage(job, variant, &binding);
  if (const Planned* broken = first_broken(job, variant, shares)) {
    wait.behind = broken->job->id;
    wait.until = broken->start;
  }
  return wait;
}

/// The first plan beside which, and beside those before it, these shares have no room.
const Planned* Outlook::first_broken(const Job& job, const Variant& variant,
                                     const std::vector<Share>& shares) const {
  const Charge charge = charge_of(state_, *job.request, variant.size, variant.flavor);
  const std::vector<Part> parts = parts_of_shares(*job.request, variant.size);
  const Interval interval = interval_now(state_, job);
  PlanFilter before;
  for (const Planned& plan : plans_.all) {
    if (!is_binding(state_, plan, job, charge)) continue;
    before.insert(std::ranges::upper_bound(before, &plan), &plan);
    const Rooms rooms(state_, interval, &plans_.on_nodes, &before);
    for (std::size_t i = 0; i < shares.size(); ++i) {
      const NodeIndex node = shares[i].node.value;
      const auto here = plans_.on_nodes.on(node);
      if (std::ranges::find(here, &plan, &PlannedHere::plan) == here.end()) continue;
      if (!is_candidate(state_, job, variant.flavor, parts[i], node, rooms.at(node))) return &plan;
    }
  }
  return nullptr;
}

Wait Outlook::reservation_wait(const Job& job, const std::vector<Share>& shares,
                               const std::vector<Reservation>& reservations) const {
  const auto end = end_of_run(job, state_.now);
  const auto stands_in_the_way = [&](const Reservation& one) {
    if (end && *end <= one.facts.start) return false;
    return std::ranges::any_of(shares, [&](const Share& share) {
      return std::ranges::find(one.nodes, share.node.value) != one.nodes.end();
    });
  };
  // Where none is on these nodes, what one counts against quota or capacity is in the way.
  auto which = std::ranges::find_if(reservations, stands_in_the_way);
  if (which == reservations.end()) which = std::ranges::find_if(reservations, &Reservation::open);
  if (which == reservations.end()) which = reservations.begin();
  std::optional<Time> until;
  if (!which->facts.spares) until = which->facts.end;
  return {.reason = Reason::kReservation, .reservation = which->id, .until = until};
}

Wait Outlook::short_of_nodes(Reason reason, const Job& job,
                             const std::vector<Variant>& allowed) const {
  Wait wait{.reason = reason};
  const Variant smallest = allowed.empty() ? first_variant(job) : allowed.back();
  // Of the flavors at the smallest size the one that lacks least.
  for (const Variant& variant : allowed) {
    if (variant.size != smallest.size) continue;
    const Shortage shortage = node_shortage(job, variant, nullptr);
    const auto lack = [](const Shortage& of) { return of.enough - of.have; };
    if (wait.shortage.counted == Counted::kNodes && lack(wait.shortage) <= lack(shortage)) continue;
    wait.shortage = shortage;
  }
  if (reason != Reason::kTopology) return wait;
  std::vector<std::uint32_t> in_leaf(state_.leaves.size());
  const Part part = parts_of(*job.request, smallest.size).front();
  for (const NodeIndex node : nodes_now(job, wait.shortage.flavor, part, nullptr)) {
    ++in_leaf[state_.nodes[node].leaf];
  }
  wait.shortage.have = most_in_domain(state_, in_leaf, *job.request);
  return wait;
}

/// Of the first part that has too few nodes, else of all together.
Shortage Outlook::node_shortage(const Job& job, const Variant& variant,
                                const PlanFilter* binding) const {
  Shortage shortage;
  const std::vector<Part> parts = parts_of(*job.request, variant.size);
  for (const Part& part : parts) {
    shortage = {.counted = Counted::kNodes,
                .flavor = variant.flavor,
                .licence = {},
                .asked = part.nodes,
                .enough = part.nodes};
    shortage.have = std::ssize(nodes_now(job, variant.flavor, part, binding));
    const Opening& opening = state_.openings.of(state_, job, variant.flavor, part);
    shortage.bound = opening.emptied_count;
    for (const NodeIndex node : job.marks) {  // N4
      if (opening.emptied.has(state_.nodes[node].rank)) --shortage.bound;
    }
    if (shortage.have < shortage.asked) return shortage;
  }
  if (parts.size() > 1) shortage.asked = shortage.enough = nodes_of(*job.request, variant.size);
  return shortage;
}

/// Nodes that take the part now.
std::vector<NodeIndex> Outlook::nodes_now(const Job& job, FlavorId flavor, const Part& part,
                                          const PlanFilter* binding) const {
  const Rooms rooms(state_, interval_now(state_, job),
                    binding == nullptr ? nullptr : &plans_.on_nodes, binding);
  std::vector<NodeIndex> nodes =
      nodes_of(state_, state_.openings.of(state_, job, flavor, part).now);
  std::erase_if(nodes, [&](NodeIndex node) {
    return !admits(job, node) || !is_candidate(state_, job, flavor, part, node, rooms.at(node));
  });
  return nodes;
}

Wait claim_wait(const State& state, const Job& claim) {
  Wait wait{.reason = Reason::kPreempting};
  for (const Share& share : claim.shares) {
    for (const auto& [job, held] : state.nodes[share.node.value].holders) {
      if (job->stage != Stage::kSignalled) continue;
      const Time end = *end_of_hold(state, *job);
      const bool first_of_equals = wait.until == end && job->id < wait.behind;
      if (wait.until && end <= *wait.until && !first_of_equals) continue;
      wait.until = end;
      wait.behind = job->id;
    }
  }
  return wait;
}

}  // namespace artel::sched
