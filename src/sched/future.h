// When nodes come free, for planned starts (B2).
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "sched/place.h"

namespace artel::sched {

/// From when on a node could take what is asked, whatever is planned or reserved there.
struct Release {
  Time from;
  NodeIndex node{};
};

/// The releases for all that have asked, of one walk. A node that never comes free is left out.
class Releases {
 public:
  explicit Releases(const State& state) : state_(state) {}
  /// For a part of the job, ascending. Valid until a node changes. O(nodes log nodes) for the first
  /// who asks, O(nodes) after a change.
  const std::vector<Release>& of(const Job& job, FlavorId flavor, const Part& part);
  /// Others are on the node now, or are there until another time.
  void changed(NodeIndex node);

 private:
  struct List {
    std::vector<Release> releases;
    std::vector<NodeIndex> changed;
  };
  void bring_up_to_date(List& list, const Opening& opening) const;

  const State& state_;
  std::map<std::uint64_t, List> lists_;  // by Opening::number
};

/// What a search for the start of a plan knows of the others.
struct Beside {
  const PlanBook& plans;
  Releases& releases;
  const Leaving& leaving;
};

/// Which nodes take a part of a job for its time limit if it starts there, as time goes on: what
/// ends makes room, what is planned or reserved takes it again.
///
/// It goes from one change of one node to the next, in the order of time, so a start that is near
/// costs little however large the cluster is.
class Timeline {
 public:
  /// For a part of the job; stands at the present. Keeps references.
  Timeline(const State& state, const Job& job, FlavorId flavor, const Part& part,
           const Beside& beside);

  void advance(Time time);
  /// The next time at which the nodes may be others; nullopt: never.
  [[nodiscard]] std::optional<Time> next_change() const;
  /// The most nodes of one domain of the required level, in whole segments.
  [[nodiscard]] std::int64_t most() const;
  /// Adds the nodes.
  void add_to(RankSet& nodes) const;
  [[nodiscard]] FlavorId flavor() const { return flavor_; }

 private:
  /// A node with more on it than work: when it may change.
  struct Busy {
    NodeIndex node{};
    std::vector<Time> changes;  // ascending
    std::size_t next = 0;
  };

  [[nodiscard]] bool is_plain(NodeIndex node) const;
  [[nodiscard]] bool fits_at(NodeIndex node, Time time) const;
  [[nodiscard]] std::vector<Time> changes_of(const Release& release) const;
  void watch(const Release& release);
  void look_at(Busy& busy, Time time);
  void set(NodeIndex node, bool fits);
  void add_leaving();

  const State& state_;
  const Job& job_;
  FlavorId flavor_;
  Part part_;
  const Beside& beside_;
  const std::vector<Release>& releases_;
  std::size_t next_release_ = 0;
  RankSet leaves_early_;
  std::deque<Busy> busy_;
  std::vector<std::pair<Time, Busy*>> queue_;  // a heap, the earliest first
  RankSet fits_;
  std::uint32_t count_ = 0;
  std::vector<std::uint32_t> in_leaf_;
};

}  // namespace artel::sched
