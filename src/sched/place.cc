#include "sched/place.h"

#include <algorithm>
#include <tuple>

namespace artel::sched {
namespace {

using Nodes = std::vector<NodeIndex>;

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
    rooms_.resize(state.nodes.size());
    std::int64_t least = parts_.front().gpus;
    for (const Part& part : parts_) least = std::min(least, part.gpus);
    for (const NodeIndex i : nodes_for(state, job)) {
      const Node& node = state.nodes[i];
      if (node.flavor != variant.flavor || !rooms.may_have(node, least)) continue;
      if (is_in(node, where.domain)) rooms_[i] = rooms.at(i);
    }
    used_.assign(state.nodes.size(), false);
  }

  std::optional<std::vector<Share>> run() {
    if (where_.anywhere) return place_in(usable_nodes(false), true);
    const Nodes own = usable_nodes(true);
    if (!own.empty()) {
      if (auto shares = place_among(own)) return shares;
    }
    return place_among(usable_nodes(false));
  }

 private:
  [[nodiscard]] bool fits(NodeIndex node, const Part& part) const {
    return !used_[node] && is_candidate(state_, job_, variant_.flavor, part, node, rooms_[node]);
  }
  [[nodiscard]] bool fits_any(NodeIndex node) const {
    return std::ranges::any_of(parts_, [&](const Part& part) { return fits(node, part); });
  }

  /// Nodes that could take some part, in the order of names.
  [[nodiscard]] Nodes usable_nodes(bool only_dedicated) const {
    Nodes found;
    for (const NodeIndex node : nodes_for(state_, job_)) {
      if (only_dedicated && !state_.nodes[node].owner) continue;
      if (rooms_[node].open && fits_any(node)) found.push_back(node);
    }
    return found;
  }

  [[nodiscard]] std::uint32_t count(const Nodes& among, const Part& part) const {
    const auto fitting = static_cast<std::uint32_t>(
        std::ranges::count_if(among, [&](NodeIndex node) { return fits(node, part); }));
    return fitting / job_.request->segment * job_.request->segment;  // P5
  }

  /// P3: fewest free GPUs first, then name.
  void take(const Nodes& among, const Part& part, std::uint32_t wanted,
            std::vector<Share>& shares) {
    Nodes fitting;
    for (const NodeIndex node : among) {
      if (fits(node, part)) fitting.push_back(node);
    }
    const auto key = [&](NodeIndex node) {
      return std::tuple(rooms_[node].gpus, state_.nodes[node].rank);
    };
    const auto last = fitting.begin() + wanted;
    std::ranges::partial_sort(fitting, last, {}, key);
    for (auto node = fitting.begin(); node != last; ++node) {
      used_[*node] = true;
      shares.push_back(share_on(*node, part));
    }
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
    std::ranges::stable_sort(sorted, {}, [&](NodeIndex n) { return state_.nodes[n].leaf; });
    std::vector<Nodes> leaves;
    for (const NodeIndex node : sorted) {
      if (leaves.empty() || state_.nodes[leaves.back().front()].leaf != state_.nodes[node].leaf) {
        leaves.emplace_back();
      }
      leaves.back().push_back(node);
    }
    return leaves;
  }

  /// Of the leaves that can take all that is left the one with the fewest usable nodes, else the
  /// one with the most. Null: none has any.
  const Nodes* next_leaf(const std::vector<Nodes>& leaves, const Part& part,
                         std::uint32_t left) const {
    const Nodes* tightest = nullptr;
    const Nodes* largest = nullptr;
    std::uint32_t fewest = 0;
    std::uint32_t most = 0;
    for (const Nodes& leaf : leaves) {
      const std::uint32_t has = count(leaf, part);
      if (has >= left && (tightest == nullptr || has < fewest)) {
        tightest = &leaf;
        fewest = has;
      }
      if (has > most) {
        largest = &leaf;
        most = has;
      }
    }
    return tightest != nullptr ? tightest : largest;
  }

  bool place_part(const std::vector<Nodes>& leaves, const Part& part, std::vector<Share>& shares) {
    std::uint32_t left = part.nodes;
    while (left > 0) {
      const Nodes* leaf = next_leaf(leaves, part, left);
      if (leaf == nullptr) return false;
      const std::uint32_t now = std::min(left, count(*leaf, part));
      take(*leaf, part, now, shares);
      left -= now;
    }
    return true;
  }

  bool place_anywhere(const Nodes& domain, const Part& part, std::vector<Share>& shares) {
    const auto has = std::ranges::count_if(domain, [&](NodeIndex n) { return fits(n, part); });
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
    for (const Share& share : shares) used_[share.node.value] = false;
    if (!placed) return std::nullopt;
    return shares;
  }

  [[nodiscard]] std::int64_t free_gpus(const Nodes& domain) const {
    std::int64_t sum = 0;
    for (const NodeIndex node : domain) sum += rooms_[node].gpus;
    return sum;
  }

  /// P2: the first level with a domain that takes the whole job; the one with the fewest free GPUs.
  std::optional<std::vector<Share>> place_among(const Nodes& among) {
    std::uint32_t wanted = 0;
    for (const Part& part : parts_) wanted += part.nodes;
    if (among.size() < wanted) return std::nullopt;
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
        if (domain.size() < wanted) continue;
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
    for (const NodeIndex node : among) {
      Leaf& leaf = leaves[state_.nodes[node].leaf];
      ++leaf.count;
      leaf.free += rooms_[node].gpus;
    }
    const std::uint32_t segment = job_.request->segment;
    const Leaf* best = nullptr;
    for (const Leaf& leaf : leaves) {
      if (leaf.count / segment * segment < part.nodes || leaf.count == 0) continue;
      if (best == nullptr || leaf.free < best->free) best = &leaf;
    }
    if (best == nullptr) return std::nullopt;
    Nodes members;
    for (const NodeIndex node : among) {
      if (&leaves[state_.nodes[node].leaf] == best) members.push_back(node);
    }
    std::vector<Share> shares;
    take(members, part, part.nodes, shares);
    for (const Share& share : shares) used_[share.node.value] = false;
    return shares;
  }

  [[nodiscard]] std::vector<Nodes> domains(const Nodes& among, Locality level) const {
    if (level == Locality::kLeaf) return by_leaf(among);
    if (level == Locality::kAny) return {among};
    std::vector<Nodes> blocks(state_.blocks.size());
    for (const NodeIndex node : among) blocks[state_.nodes[node].block].push_back(node);
    return blocks;
  }

  const State& state_;
  const Job& job_;
  Variant variant_;
  const Rooms& room_of_;
  Place where_;
  std::vector<Part> parts_;
  std::vector<Room> rooms_;
  std::vector<bool> used_;
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

bool is_candidate(const State& state, const Job& job, FlavorId flavor, const Part& part,
                  NodeIndex node, const Room& room) {
  const Node& on = state.nodes[node];
  if (!room.open || on.flavor != flavor) return false;
  if (on.owner && !is_below(state, job.queue, *on.owner)) return false;
  if (job.request->exclusive) {  // M3
    return room.empty && on.gpus >= part.gpus && on.cores >= part.cores && on.memory >= part.memory;
  }
  if (room.gpus < part.gpus || (is_share(part.gpus) ? room.share : room.whole) < part.gpus) {
    return false;
  }
  const Need need = need_on(on, part);
  return room.cores >= need.cores && room.memory >= need.memory;
}

std::optional<std::vector<Share>> place(const State& state, const Job& job, const Variant& variant,
                                        const Rooms& rooms, const Place& where) {
  return Search(state, job, variant, rooms, where).run();
}

}  // namespace artel::sched
