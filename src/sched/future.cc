#include "sched/future.h"

#include <algorithm>

namespace artel::sched {
namespace {

/// The times after now at which something on the node ends, ascending.
void ends_on(const State& state, NodeIndex node, const PlanBook& plans, const Leaving* leaving,
             std::vector<Time>& ends) {
  ends.clear();
  const auto add = [&](std::optional<Time> time) {
    if (time && *time > state.now) ends.push_back(*time);
  };
  // Who may leave at once, or is over its limit, is gone at any later time.
  const Time next = state.now + Duration{1};
  for (const Holder& holder : state.nodes[node].holders) {
    if (const auto end = end_of_hold(state, *holder.job, leaving)) add(std::max(*end, next));
  }
  for (const PlannedHere& here : plans.on(node)) add(here.plan->end);
  if (state.nodes[node].reservations > 0) {
    for (const Reservation& one : state.reservations) add(one.facts.end);
  }
  std::ranges::sort(ends);
}

std::size_t domain_of(const Node& node, Locality level) {
  if (level == Locality::kAny) return 0;
  return level == Locality::kLeaf ? node.leaf : node.block;
}

}  // namespace

std::optional<Time> earliest_possible(const State& state, const Job& job, const Variant& variant,
                                      const PlanBook& plans, const Leaving* leaving) {
  const Request& request = *job.request;
  if (request.parts.size() != 1) return state.now;
  const Part& part = request.parts.front();
  std::vector<std::vector<Time>> times(
      std::max({state.leaves.size(), state.blocks.size(), std::size_t{1}}));
  std::vector<Time> ends;
  const auto fits_at = [&](NodeIndex node, Time time) {
    const Rooms rooms(state,
                      {.from = time,
                       .end = end_of_run(job, time),
                       .sharer = sharer_of(state, job),
                       .leaving = leaving},
                      &plans);
    return is_candidate(state, job, variant.flavor, part, node, rooms.at(node));
  };
  for (const NodeIndex i : nodes_for(state, job)) {
    const Node& node = state.nodes[i];
    if (node.flavor != variant.flavor || !node.healthy || node.gpus < part.gpus) continue;
    auto& of_domain = times[domain_of(node, request.locality)];
    if (fits_at(i, state.now)) {
      of_domain.push_back(state.now);
      continue;
    }
    ends_on(state, i, plans, leaving, ends);
    const auto first = std::ranges::find_if(ends, [&](Time time) { return fits_at(i, time); });
    if (first != ends.end()) of_domain.push_back(*first);
  }
  const std::uint32_t wanted = nodes_of(request, variant.size);
  std::optional<Time> earliest;
  for (auto& of_domain : times) {
    if (of_domain.size() < wanted || wanted == 0) continue;
    const auto last = of_domain.begin() + (wanted - 1);
    std::ranges::nth_element(of_domain, last);
    if (!earliest || *last < *earliest) earliest = *last;
  }
  return earliest;
}

}  // namespace artel::sched
