// Rules P2 to P5.
#include "reference/placement.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "reference/eligible.h"

namespace artel::reference {

namespace {

using scenario::Component;
using NodeIndex = std::size_t;

/// One search for a place: the nodes that are left are marked by `used`.
struct Search {
  const World& world;
  const Job& job;
  std::string flavor;
  const std::vector<Room>& rooms;
  std::int64_t segment;
  std::vector<bool> used;
};

/// Rule P2: a candidate for a part of the job. Rules X1, N3.
bool is_candidate(const Search& search, NodeIndex i, const Component& part) {
  const Node& node = search.world.nodes[i];
  if (search.used[i] || node.spec.flavor != search.flavor) return false;
  if (node.owner && !is_below(search.world, search.job.quota, *node.owner)) return false;
  if (!admits_node(search.job, node)) return false;
  return share_on(search.world, search.job, part, node, search.rooms[i]).has_value();
}

/// Candidates, P3: fewest free GPUs first, then name.
std::vector<NodeIndex> candidates(const Search& search, const std::vector<NodeIndex>& among,
                                  const Component& part) {
  std::vector<NodeIndex> found;
  for (const NodeIndex i : among) {
    if (is_candidate(search, i, part)) found.push_back(i);
  }
  std::ranges::sort(found, {}, [&](NodeIndex i) {
    return std::tuple(search.rooms[i].milli, search.world.nodes[i].spec.name);
  });
  return found;
}

/// P5: rounded down to whole segments.
std::int64_t usable(const Search& search, const std::vector<NodeIndex>& among,
                    const Component& part) {
  const auto count = static_cast<std::int64_t>(candidates(search, among, part).size());
  return count / search.segment * search.segment;
}

void take(Search& search, const std::vector<NodeIndex>& among, const Component& part,
          std::int64_t count, std::vector<Share>& shares) {
  const auto found = candidates(search, among, part);
  for (std::int64_t k = 0; k < count; ++k) {
    const NodeIndex i = found[static_cast<std::size_t>(k)];
    search.used[i] = true;
    shares.push_back(
        *share_on(search.world, search.job, part, search.world.nodes[i], search.rooms[i]));
  }
}

std::map<std::string, std::vector<NodeIndex>> by_leaf(const Search& search,
                                                      const std::vector<NodeIndex>& among) {
  std::map<std::string, std::vector<NodeIndex>> leaves;
  for (const NodeIndex i : among) leaves[search.world.nodes[i].spec.leaf].push_back(i);
  return leaves;
}

/// P4: the leaf that takes all that is left and has the fewest usable nodes, else the one with the
/// most; ties by name. Null: none has any.
const std::vector<NodeIndex>* next_leaf(const Search& search,
                                        const std::map<std::string, std::vector<NodeIndex>>& leaves,
                                        const Component& part, std::int64_t left) {
  const std::vector<NodeIndex>* tightest = nullptr;
  const std::vector<NodeIndex>* largest = nullptr;
  std::int64_t fewest = 0;
  std::int64_t most = 0;
  for (const auto& [name, nodes] : leaves) {
    const std::int64_t count = usable(search, nodes, part);
    if (count >= left && (tightest == nullptr || count < fewest)) {
      tightest = &nodes;
      fewest = count;
    }
    if (count > most) {
      largest = &nodes;
      most = count;
    }
  }
  return tightest != nullptr ? tightest : largest;
}

/// Places one part on nodes of a domain; in a leaf by P3, which is P4 with one leaf.
bool place_part(Search& search, const std::vector<NodeIndex>& domain, const Component& part,
                std::vector<Share>& shares) {
  const auto leaves = by_leaf(search, domain);
  std::int64_t left = part.nodes;
  while (left > 0) {
    const auto* leaf = next_leaf(search, leaves, part, left);
    if (leaf == nullptr) return false;
    const std::int64_t count = std::min(left, usable(search, *leaf, part));
    take(search, *leaf, part, count, shares);
    left -= count;
  }
  return true;
}

/// Without regard to leaves: any nodes.
bool place_anywhere(Search& search, const std::vector<NodeIndex>& domain, const Component& part,
                    std::vector<Share>& shares) {
  if (static_cast<std::int64_t>(candidates(search, domain, part).size()) < part.nodes) return false;
  take(search, domain, part, part.nodes, shares);
  return true;
}

/// Rule G5: parts in their order on different nodes.
std::optional<std::vector<Share>> place_in(Search search, const std::vector<NodeIndex>& domain,
                                           const std::vector<Component>& parts, bool anywhere) {
  std::vector<Share> shares;
  for (const Component& part : parts) {
    const bool placed = anywhere ? place_anywhere(search, domain, part, shares)
                                 : place_part(search, domain, part, shares);
    if (!placed) return std::nullopt;
  }
  return shares;
}

std::int64_t free_gpus(const Search& search, const std::vector<NodeIndex>& domain,
                       const std::vector<Component>& parts) {
  std::int64_t sum = 0;
  for (const NodeIndex i : domain) {
    const bool fits_any = std::ranges::any_of(
        parts, [&](const Component& part) { return is_candidate(search, i, part); });
    if (fits_any) sum += search.rooms[i].milli;
  }
  return sum;
}

/// Rule P2: the first level with a domain that can take the whole job.
std::optional<std::vector<Share>> place_among(const Search& search,
                                              const std::vector<NodeIndex>& among,
                                              const std::vector<Component>& parts) {
  const scenario::Topology widest = search.job.spec.topology;
  for (const int level : {0, 1, 2}) {
    if (level > 0 && widest == scenario::Topology::kLeaf) break;
    if (level > 1 && widest == scenario::Topology::kBlock) break;
    std::map<std::string, std::vector<NodeIndex>> domains;
    for (const NodeIndex i : among) {
      const scenario::Node& node = search.world.nodes[i].spec;
      domains[level == 0 ? node.leaf : level == 1 ? node.block : ""].push_back(i);
    }
    std::optional<std::vector<Share>> best;
    std::int64_t least = 0;
    for (const auto& [name, domain] : domains) {
      const auto shares = place_in(search, domain, parts, false);
      const std::int64_t free = free_gpus(search, domain, parts);
      if (!shares || (best && free >= least)) continue;
      best = shares;
      least = free;
    }
    if (best) return best;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::vector<Share>> place(const World& world, const Job& job, const Variant& variant,
                                        const std::vector<Room>& rooms, bool anywhere) {
  const Search search{.world = world,
                      .job = job,
                      .flavor = variant.flavor,
                      .rooms = rooms,
                      .segment = job.spec.segment,
                      .used = std::vector<bool>(world.nodes.size(), false)};
  const std::vector<Component> parts = parts_of(job, variant.size);
  std::vector<NodeIndex> all;
  std::vector<NodeIndex> dedicated;
  for (NodeIndex i = 0; i < world.nodes.size(); ++i) {
    all.push_back(i);
    const auto owner = world.nodes[i].owner;
    if (owner && is_below(world, job.quota, *owner)) dedicated.push_back(i);
  }
  if (anywhere) return place_in(search, all, parts, true);
  if (!dedicated.empty()) {
    if (auto shares = place_among(search, dedicated, parts)) return shares;
  }
  return place_among(search, all, parts);
}

}  // namespace artel::reference
