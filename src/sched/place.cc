#include "sched/place.h"

#include <algorithm>
#include <tuple>

namespace artel::sched {
namespace {

/// A node that could take some part, and what it has.
struct Seen {
  NodeIndex node{};
  Room room;
  bool used = false;
};
/// In the order of names.
using Nodes = std::vector<Seen*>;

/// One search: rooms are looked up once a node, taken nodes are marked.
class Search {
 public:
  Search(const State& state, const Job& job, const Variant& variant, const Rooms& rooms,
         const Place& where)
      : state_(state),
        job_(job),
        variant_(variant),
        room_of_(rooms),
        where_(where),
        parts_(parts_of(*job.request, variant.size)) {
    std::int64_t least = parts_.front().gpus;
    for (const Part& part : parts_) {
      least = std::min(least, part.gpus);
      wanted_ += part.nodes;
    }
    for (const NodeIndex i : where.among != nullptr ? *where.among : nodes_for(state, job)) {
      const Node& node = state.nodes[i];
      if (node.flavor != variant.flavor || !rooms.may_have(node, least)) continue;
      if (!is_in(node, where.domain) || !admits(job, i)) continue;
      const Seen seen{.node = i, .room = rooms.at(i)};
      if (seen.room.open && fits_any(seen)) seen_.push_back(seen);
    }
  }

  std::optional<std::vector<Share>> run() {
    if (seen_.size() < wanted_) return std::nullopt;
    if (where_.anywhere) return place_in(usable_nodes(false), true);
    const Nodes own = usable_nodes(true);
    if (!own.empty()) {
      if (auto shares = place_among(own)) return shares;
    }
    return place_among(usable_nodes(false));
  }

 private:
  [[nodiscard]] bool fits(const Seen& seen, const Part& part) const {
    return !seen.used && is_candidate(state_, job_, variant_.flavor, part, seen.node, seen.room);
  }
  [[nodiscard]] bool fits_any(const Seen& seen) const {
    return std::ranges::any_of(parts_, [&](const Part& part) { return fits(seen, part); });
  }

  [[nodiscard]] Nodes usable_nodes(bool only_dedicated) {
    Nodes found;
    if (only_dedicated && !state_.has_owners) return found;
    found.reserve(seen_.size());
    for (Seen& seen : seen_) {
      if (!only_dedicated || state_.nodes[seen.node].owner) found.push_back(&seen);
    }
    return found;
  }

  [[nodiscard]] std::uint32_t leaf_of(const Seen* seen) const {
    return state_.nodes[seen->node].leaf;
  }

  [[nodiscard]] std::uint32_t count(const Nodes& among, const Part& part) const {
    const auto fitting = static_cast<std::uint32_t>(
        std::ranges::count_if(among, [&](const Seen* seen) { return fits(*seen, part); }));
    return fitting / job_.request->segment * job_.request->segment;  // P5
  }

  /// P3: fewest free GPUs first, then name.
  void take(const Nodes& among, const Part& part, std::uint32_t wanted,
            std::vector<Share>& shares) {
    Nodes fitting;
    for (Seen* seen : among) {
      if (fits(*seen, part)) fitting.push_back(seen);
    }
    const auto key = [&](const Seen* seen) {
      return std::tuple(seen->room.gpus, state_.nodes[seen->node].rank);
    };
    const auto last = fitting.begin() + wanted;
    std::ranges::partial_sort(fitting, last, {}, key);
    for (auto seen = fitting.begin(); seen != last; ++seen) {
      (*seen)->used = true;
      shares.push_back(share_on((*seen)->node, part));
    }
  }

  void give_back_all() {
    for (Seen& seen : seen_) seen.used = false;
  }

  [[nodiscard]] Share share_on(NodeIndex node, const Part& part) const {
    const Node& on = state_.nodes[node];
    if (job_.request->exclusive) return whole_node(state_, node);
    const Need need = need_on(on, part);
    return {.node = NodeId{node},
            .gpus = part.gpus,
            .cores = need.cores,
            .memory = need.memory,
            .devices = room_of_.choose_devices(node, part.gpus)};
  }

  /// P4. Members of `among` by leaf, leaves in the order of names.
  [[nodiscard]] std::vector<Nodes> by_leaf(const Nodes& among) const {
    Nodes sorted = among;
    std::ranges::stable_sort(sorted, {}, [&](const Seen* seen) { return leaf_of(seen); });
    std::vector<Nodes> leaves;
    for (Seen* seen : sorted) {
      if (leaves.empty() || leaf_of(leaves.back().front()) != leaf_of(seen)) leaves.emplace_back();
      leaves.back().push_back(seen);
    }
    return leaves;
  }

  /// Of the leaves that can take all that is left the one with the fewest usable nodes, else the
  /// one with the most. `has`: how many nodes each takes. Nullopt: none has any.
  static std::optional<std::size_t> next_leaf(const std::vector<std::uint32_t>& has,
                                              std::uint32_t left) {
    std::optional<std::size_t> tightest;
    std::optional<std::size_t> largest;
    for (std::size_t leaf = 0; leaf < has.size(); ++leaf) {
      if (has[leaf] == 0) continue;
      if (has[leaf] >= left && (!tightest || has[leaf] < has[*tightest])) tightest = leaf;
      if (!largest || has[leaf] > has[*largest]) largest = leaf;
    }
    return tightest ? tightest : largest;
  }

  bool place_part(const std::vector<Nodes>& leaves, const Part& part, std::vector<Share>& shares) {
    std::vector<std::uint32_t> has;
    has.reserve(leaves.size());
    for (const Nodes& leaf : leaves) has.push_back(count(leaf, part));
    std::uint32_t left = part.nodes;
    while (left > 0) {
      const auto leaf = next_leaf(has, left);
      if (!leaf) return false;
      const std::uint32_t now = std::min(left, has[*leaf]);
      take(leaves[*leaf], part, now, shares);
      has[*leaf] = count(leaves[*leaf], part);
      left -= now;
    }
    return true;
  }

  bool place_anywhere(const Nodes& domain, const Part& part, std::vector<Share>& shares) {
    const auto has = std::ranges::count_if(domain, [&](const Seen* s) { return fits(*s, part); });
    if (has < part.nodes) return false;
    take(domain, part, part.nodes, shares);
    return true;
  }

  /// All parts on different nodes of the domain, or nothing (G5).
  std::optional<std::vector<Share>> place_in(const Nodes& domain, bool anywhere) {
    std::vector<Share> shares;
    const std::vector<Nodes> leaves = by_leaf(domain);
    const bool placed = std::ranges::all_of(parts_, [&](const Part& part) {
      return anywhere ? place_anywhere(domain, part, shares) : place_part(leaves, part, shares);
    });
    give_back_all();
    if (!placed) return std::nullopt;
    return shares;
  }

  [[nodiscard]] static std::int64_t free_gpus(const Nodes& domain) {
    std::int64_t sum = 0;
    for (const Seen* seen : domain) sum += seen->room.gpus;
    return sum;
  }

  /// P2: the first level with a domain that takes the whole job; the one with the fewest free GPUs.
  std::optional<std::vector<Share>> place_among(const Nodes& among) {
    if (among.size() < wanted_) return std::nullopt;
    if (parts_.size() == 1) {
      if (auto shares = place_in_best_leaf(among)) return shares;
      if (job_.request->locality == Locality::kLeaf) return std::nullopt;
    }
    for (const Locality level : {Locality::kLeaf, Locality::kBlock, Locality::kAny}) {
      if (level == Locality::kLeaf && parts_.size() == 1) continue;  // done
      if (level < job_.request->locality) break;
      std::optional<std::vector<Share>> best;
      std::int64_t least = 0;
      for (const Nodes& domain : domains(among, level)) {
        if (domain.size() < wanted_) continue;
        const std::int64_t free = free_gpus(domain);
        if (best && free >= least) continue;
        auto shares = place_in(domain, false);
        if (!shares) continue;
        best = std::move(shares);
        least = free;
      }
      if (best) return best;
    }
    return std::nullopt;
  }

  /// P2 at the level of leaves for a job of one part, in one walk over the nodes.
  std::optional<std::vector<Share>> place_in_best_leaf(const Nodes& among) {
    struct Leaf {
      std::uint32_t count{};
      std::int64_t free{};
    };
    const Part& part = parts_.front();
    std::vector<Leaf> leaves(state_.leaves.size());
    for (const Seen* seen : among) {
      Leaf& leaf = leaves[leaf_of(seen)];
      ++leaf.count;
      leaf.free += seen->room.gpus;
    }
    const std::uint32_t segment = job_.request->segment;
    const Leaf* best = nullptr;
    for (const Leaf& leaf : leaves) {
      if (leaf.count / segment * segment < part.nodes || leaf.count == 0) continue;
      if (best == nullptr || leaf.free < best->free) best = &leaf;
    }
    if (best == nullptr) return std::nullopt;
    Nodes members;
    for (Seen* seen : among) {
      if (&leaves[leaf_of(seen)] == best) members.push_back(seen);
    }
    std::vector<Share> shares;
    take(members, part, part.nodes, shares);
    give_back_all();
    return shares;
  }

  [[nodiscard]] std::vector<Nodes> domains(const Nodes& among, Locality level) const {
    if (level == Locality::kLeaf) return by_leaf(among);
    if (level == Locality::kAny) return {among};
    std::vector<Nodes> blocks(state_.blocks.size());
    for (Seen* seen : among) blocks[state_.nodes[seen->node].block].push_back(seen);
    return blocks;
  }

  const State& state_;
  const Job& job_;
  Variant variant_;
  const Rooms& room_of_;
  Place where_;
  std::vector<Part> parts_;
  std::uint32_t wanted_ = 0;
  std::vector<Seen> seen_;
};

}  // namespace

bool is_in(const Node& node, const std::optional<Domain>& domain) {
  if (!domain || domain->level == Locality::kAny) return true;
  return (domain->level == Locality::kLeaf ? node.leaf : node.block) == domain->index;
}

Share whole_node(const State& state, NodeIndex node) {
  const Node& on = state.nodes[node];
  return {.node = NodeId{node},
          .gpus = on.gpus,
          .cores = on.cores,
          .memory = on.memory,
          .devices = on.shared ? all_devices(on.gpus) : 0};
}

bool fits_on(const State& state, const Node& on, const Asker& asker, const Part& part,
             const Room& room) {
  if (!room.open) return false;
  if (on.owner && !is_below(state, asker.queue, *on.owner)) return false;
  if (asker.exclusive) {  // M3
    return room.empty && on.gpus >= part.gpus && on.cores >= part.cores && on.memory >= part.memory;
  }
  if (room.gpus < part.gpus || (is_share(part.gpus) ? room.share : room.whole) < part.gpus) {
    return false;
  }
  const Need need = need_on(on, part);
  return room.cores >= need.cores && room.memory >= need.memory;
}

bool is_candidate(const State& state, const Job& job, FlavorId flavor, const Part& part,
                  NodeIndex node, const Room& room) {
  const Node& on = state.nodes[node];
  return on.flavor == flavor && fits_on(state, on, {job.queue, job.request->exclusive}, part, room);
}

std::optional<std::vector<Share>> place(const State& state, const Job& job, const Variant& variant,
                                        const Rooms& rooms, const Place& where) {
  return Search(state, job, variant, rooms, where).run();
}

}  // namespace artel::sched
