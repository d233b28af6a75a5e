#include "sched/screen.h"

#include <algorithm>

namespace artel::sched {

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
    const std::int64_t whole = std::int64_t{in_leaf[leaf] / segment} * segment;
    if (request.locality != Locality::kBlock) {
      in_domain.front() += whole;
      continue;
    }
    for (const std::uint32_t block : state.blocks_of_leaf[leaf]) in_domain[block] += whole;
  }
  return std::ranges::max(in_domain);
}

}  // namespace artel::sched
