// Which nodes could take what a job asks of one node, for all that have asked so far.
//
// Kept up to date by every start and end, so that who waits for room costs nothing while nothing
// changes. Reservations, planned starts and the nodes that a job avoids by itself (N4) are not
// looked at: where there are any the answer is an upper bound.
//
// Private to src/sched.
#pragma once

#include <bit>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "sched/facts.h"
#include "sched/standing.h"

namespace artel::sched {

struct State;
struct Job;

/// Some of the nodes, by rank: in the order of names.
class RankSet {
 public:
  explicit RankSet(std::size_t nodes = 0) : words_((nodes + 63) / 64) {}
  [[nodiscard]] bool has(std::uint32_t rank) const { return (words_[rank / 64] >> rank % 64) & 1U; }
  void set(std::uint32_t rank, bool is_in) {
    const std::uint64_t bit = std::uint64_t{1} << rank % 64;
    if (is_in) {
      words_[rank / 64] |= bit;
    } else {
      words_[rank / 64] &= ~bit;
    }
  }
  /// Calls `visit(rank)`, ascending.
  template <typename Visit>
  void for_each(Visit visit) const {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      for (std::uint64_t rest = words_[i]; rest != 0; rest &= rest - 1) {
        visit(static_cast<std::uint32_t>(i * 64) +
              static_cast<std::uint32_t>(std::countr_zero(rest)));
      }
    }
  }

 private:
  std::vector<std::uint64_t> words_;
};

/// What is asked of one node, and by whom.
struct Ask {
  FlavorId flavor;
  Part part;
  bool exclusive{};
  QuotaId queue;                          // the root where no node has an owner
  std::uint64_t sharer{};                 // where a share is asked for
  std::shared_ptr<const NodeSet> listed;  // N1, N2; null: all nodes
};

/// The nodes for one ask.
struct Opening {
  std::uint64_t number{};  // never used again
  Ask ask;
  RankSet now;
  std::uint32_t count{};               // of those
  std::vector<std::uint32_t> in_leaf;  // of those
  RankSet emptied;                     // of those that are healthy, if nothing were on them
  std::uint32_t emptied_count{};
};

class Openings {
 public:
  /// Of a part of the job. Stays until the next clear() or trim(). O(nodes) for the first who asks,
  /// which may not be while victims are assumed gone.
  const Opening& of(const State& state, const Job& job, FlavorId flavor, const Part& part);
  /// What is on the node is another now. O(asks).
  void changed(const State& state, NodeIndex node);
  void health_changed(const State& state, NodeIndex node);
  void clear();
  /// Forgets all where many have asked. Not in the middle of anything.
  void trim();

 private:
  using Key = std::tuple<FlavorId, std::int64_t, std::int64_t, std::int64_t, std::uint32_t, bool,
                         QuotaId, std::uint64_t, const NodeSet*>;

  std::deque<Opening> all_;
  std::map<Key, std::size_t> places_;
  std::uint64_t last_number_ = 0;
};

/// The nodes in the order of names.
[[nodiscard]] std::vector<NodeIndex> nodes_of(const State& state, const RankSet& ranks);

}  // namespace artel::sched
