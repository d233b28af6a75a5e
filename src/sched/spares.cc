#include "sched/spares.h"

#include <algorithm>
#include <tuple>

#include "sched/booked.h"
#include "sched/books.h"

namespace artel::sched {
namespace {

bool is_lost(const std::vector<NodeIndex>& lost, const Share& share) {
  return std::ranges::find(lost, share.node.value) != lost.end();
}

/// H3: empty, healthy, unreserved, undedicated (or the owner's), of the flavor.
bool may_be_spare(const State& state, const Reservation& spares, const Node& node) {
  return node.healthy && node.reservations == 0 && node.holders.empty() &&
         (!spares.facts.flavor || node.flavor == *spares.facts.flavor) &&
         !is_others(state, spares.facts, node);
}

/// I2 with one more spare: non-preemptible use stays within G less the reservations.
bool keeps_production(const State& state, QuotaId owner, const Node& node) {
  return std::ranges::all_of(state.path(owner), [&](QuotaId id) {
    const Quota& quota = state.at(id);
    if (!quota.states) return true;
    for (std::size_t r = 0; r < quota.fixed.size(); ++r) {
      std::int64_t taken = quota.fixed[r] + quota.reserved[r];
      if (r == node.flavor.value) taken += node.gpus;
      if (r == state.cores()) taken += node.cores;
      if (quota.fixed[r] > 0 && taken > quota.guarantee[r]) return false;
    }
    return true;
  });
}

void fill(State& state, Reservation& spares) {
  const auto failed =
      std::erase_if(spares.nodes, [&](NodeIndex node) { return !state.nodes[node].healthy; });
  if (failed > 0) mark_maintenance(state);
  for (const NodeIndex i : state.by_name) {
    if (spares.nodes.size() >= spares.facts.count.value_or(0)) return;
    const Node& node = state.nodes[i];
    if (!may_be_spare(state, spares, node)) continue;
    if (!keeps_production(state, *spares.facts.owner, node)) continue;
    spares.nodes.push_back(i);
    std::ranges::sort(spares.nodes, {}, [&](NodeIndex n) { return state.nodes[n].rank; });
    mark_maintenance(state);
  }
}

/// The places that a job's lost nodes leave, and what stands in for them.
class Exchange {
 public:
  Exchange(const State& state, const Job& job, const std::vector<NodeIndex>& lost)
      : state_(state), job_(job) {
    for (const Share& share : job.shares) (is_lost(lost, share) ? gone_ : left_).push_back(share);
    std::ranges::sort(gone_, {},
                      [&](const Share& share) { return state_.nodes[share.node.value].rank; });
  }

  /// Own spares first (H2); the nodes lost beyond those, by name, are replaced or nothing is (H4).
  std::optional<std::vector<Share>> run() {
    const std::size_t wanted = job_.needed > left_.size() ? job_.needed - left_.size() : 0;
    if (wanted > gone_.size()) return std::nullopt;
    for (auto gone = gone_.end() - static_cast<std::ptrdiff_t>(wanted); gone != gone_.end();
         ++gone) {
      if (!stand_in(*gone)) return std::nullopt;
    }
    return in_order();
  }

  /// The nodes that are taken, with the reservations that they leave.
  [[nodiscard]] const std::vector<std::pair<ReservationId, NodeIndex>>& taken() const {
    return taken_;
  }

 private:
  /// Nearest owner first; the leaf of the lost node, its block, then by name.
  bool stand_in(const Share& gone) {
    const Node& lost = state_.nodes[gone.node.value];
    const auto& path = state_.path(job_.queue);
    std::optional<std::tuple<std::ptrdiff_t, bool, bool, std::uint32_t>> least;
    std::pair<ReservationId, NodeIndex> best;
    for (const Reservation& one : state_.reservations) {
      if (!one.facts.spares) continue;
      const auto owner = std::ranges::find(path, *one.facts.owner);
      if (owner == path.end()) continue;
      for (const NodeIndex i : one.nodes) {
        const Node& node = state_.nodes[i];
        const std::tuple key(owner - path.begin(), node.leaf != lost.leaf, node.block != lost.block,
                             node.rank);
        if ((least && key >= *least) || !fits(node, i, gone)) continue;
        least = key;
        best = {one.id, i};
      }
    }
    if (!least) return false;
    taken_.push_back(best);
    Share share = share_on(best.second, gone);
    left_.push_back(share);
    replaced_.emplace_back(gone.node, share);
    return true;
  }

  [[nodiscard]] bool fits(const Node& node, NodeIndex i, const Share& gone) const {
    const Node& lost = state_.nodes[gone.node.value];
    const bool is_taken =
        std::ranges::any_of(taken_, [&](const auto& one) { return one.second == i; });
    if (is_taken || !node.healthy || node.flavor != lost.flavor || !admits(job_, i)) return false;
    if (job_.request->segment > 1 && node.leaf != lost.leaf) return false;
    const bool in_domain = std::ranges::all_of(left_, [&](const Share& share) {
      const Node& other = state_.nodes[share.node.value];
      switch (job_.request->locality) {
        case Locality::kLeaf:
          return other.leaf == node.leaf;
        case Locality::kBlock:
          return other.block == node.block;
        case Locality::kAny:
          break;
      }
      return true;
    });
    if (!in_domain) return false;
    const Need need = need_on(node, part_of(gone));
    return node.gpus >= gone.gpus && node.cores >= need.cores && node.memory >= need.memory &&
           (node.shared || !is_share(gone.gpus));
  }

  /// What the lost node gave.
  static Part part_of(const Share& gone) {
    return {.nodes = 1, .gpus = gone.gpus, .cores = gone.cores, .memory = gone.memory};
  }

  [[nodiscard]] Share share_on(NodeIndex i, const Share& gone) const {
    const Node& node = state_.nodes[i];
    if (job_.request->exclusive) return whole_node(state_, i);
    const Need need = need_on(node, part_of(gone));
    Share share{.node = NodeId{i}, .gpus = gone.gpus, .cores = need.cores, .memory = need.memory};
    if (node.shared && gone.gpus > 0) {
      share.devices = Devices(node.gpus).choose(gone.gpus, sharer_of(state_, job_));
    }
    return share;
  }

  /// In the order of the shares before, so that ranks keep their places.
  [[nodiscard]] std::vector<Share> in_order() const {
    std::vector<Share> shares;
    for (const Share& share : job_.shares) {
      const auto other = std::ranges::find(replaced_, share.node, &Replaced::first);
      if (other != replaced_.end()) {
        shares.push_back(other->second);
      } else if (std::ranges::find(gone_, share) == gone_.end()) {
        shares.push_back(share);
      }
    }
    return shares;
  }

  using Replaced = std::pair<NodeId, Share>;
  const State& state_;
  const Job& job_;
  std::vector<Share> left_;  // and who stands in
  std::vector<Share> gone_;
  std::vector<Replaced> replaced_;
  std::vector<std::pair<ReservationId, NodeIndex>> taken_;
};

}  // namespace

void fill_spares(State& state) {
  for (Reservation& one : state.reservations) {
    if (one.facts.spares) fill(state, one);
  }
}

std::optional<std::vector<Share>> take_spares(State& state, const Job& job,
                                              const std::vector<NodeIndex>& lost) {
  Exchange exchange(state, job, lost);
  auto shares = exchange.run();
  if (!shares) return std::nullopt;
  for (const auto& [id, node] : exchange.taken())
    std::erase(find_reservation(state, id)->nodes, node);
  if (!exchange.taken().empty()) mark_maintenance(state);
  return shares;
}

}  // namespace artel::sched
