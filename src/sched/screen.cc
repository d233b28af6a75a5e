#include "sched/screen.h"

#include <algorithm>

namespace artel::sched {

Evictable::Evictable(const State& state)
    : state_(state),
      held_(state.quotas.size(), Amounts(state.flavors + 1, 0)),
      jobs_(state.quotas.size(), 0) {
  for (const JobId id : state.active) {
    const Job& job = state.jobs.at(id);
    if (job.stage == Stage::kRunning) started(job);
  }
}

void Evictable::add(const Job& job, int sign) {
  const auto count = [&](QuotaId quota) {
    jobs_[quota.value] += sign;
    for_each(state_, job.charge,
             [&](std::size_t r, std::int64_t amount) { held_[quota.value][r] += sign * amount; });
  };
  for (const QuotaId quota : state_.path(job.queue)) count(quota);
  count(kRoot);
}

void Evictable::started(const Job& job) {
  if (!job.preemptible || job.inside) return;
  add(job, 1);
  const auto [least, is_first] = least_.try_emplace(job.pool, job.priority);
  if (!is_first) least->second = std::min(least->second, job.priority);
}

void Evictable::signalled(const Job& job) {
  if (job.preemptible && !job.inside) add(job, -1);
}

bool Evictable::may_evict(const Job& job, const Charge& charge) const {
  if (state_.policy.fair_preemption) return true;
  const auto least = least_.find(job.pool);
  if (least != least_.end() && least->second < job.priority) return true;
  // V1, from the pool upwards: what goes in between makes room for p further up.
  bool reaches_siblings = false;
  for (const QuotaId np : state_.path(job.pool)) {
    bool within = true;
    for_each(state_, charge, [&](std::size_t r, std::int64_t amount) {
      const std::int64_t leaves =
          reaches_siblings ? held_[np.value][r] - held_[job.pool.value][r] : 0;
      within = within && use(state_.at(np), r) + amount - leaves <= state_.at(np).guarantee[r];
    });
    if (!within) continue;
    const QuotaId around = state_.at(np).parent;
    if (jobs_[around.value] > jobs_[np.value]) return true;
    reaches_siblings = true;
  }
  return false;
}

bool may_fit(const State& state, const Job& job, const Variant& variant) {
  const std::vector<Part> parts = parts_of(*job.request, variant.size);
  const bool has_room = std::ranges::all_of(parts, [&](const Part& part) {
    return state.openings.of(state, job, variant.flavor, part).count >= part.nodes;
  });
  const bool in_any_shape = job.request->locality == Locality::kAny && job.request->segment == 1;
  if (!has_room || parts.size() > 1 || in_any_shape) return has_room;
  const Part& part = parts.front();
  return most_in_domain(state, state.openings.of(state, job, variant.flavor, part).in_leaf,
                        *job.request) >= part.nodes;
}

std::vector<NodeIndex> open_nodes(const State& state, const Job& job, const Variant& variant) {
  const std::vector<Part> parts = parts_of(*job.request, variant.size);
  if (parts.size() == 1) {
    return nodes_of(state, state.openings.of(state, job, variant.flavor, parts.front()).now);
  }
  RankSet any(state.nodes.size());
  for (const Part& part : parts) {
    state.openings.of(state, job, variant.flavor, part).now.for_each([&](std::uint32_t rank) {
      any.set(rank, true);
    });
  }
  return nodes_of(state, any);
}

std::int64_t most_in_domain(const State& state, const std::vector<std::uint32_t>& in_leaf,
                            const Request& request) {
  const std::uint32_t segment = request.segment;
  std::int64_t most = 0;
  if (request.locality == Locality::kLeaf) {
    for (const std::uint32_t nodes : in_leaf) {
      most = std::max(most, std::int64_t{nodes / segment} * segment);
    }
    return most;
  }
  std::vector<std::int64_t> in_domain(std::max<std::size_t>(state.blocks.size(), 1));
  for (std::size_t leaf = 0; leaf < in_leaf.size(); ++leaf) {
    const std::uint32_t block = state.nodes[state.leaves[leaf].front()].block;
    const std::size_t domain = request.locality == Locality::kBlock ? block : 0;
    in_domain[domain] += std::int64_t{in_leaf[leaf] / segment} * segment;
  }
  return std::ranges::max(in_domain);
}

}  // namespace artel::sched
