// When nodes come free, for planned starts (B2).
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "sched/place.h"

namespace artel::sched {

/// From when on a node could take what is asked, whatever is planned or reserved there.
struct Release {
  Time from;
  NodeIndex node{};
};

/// From..until a node can take what is asked at every instant; no `until`: for ever.
struct Gap {
  Time from;
  std::optional<Time> until;
};

/// When nodes can take what all that have asked ask for, in one walk.
class Releases {
 public:
  /// Keeps references.
  Releases(const State& state, const PlanBook& plans) : state_(state), plans_(plans) {}

  /// For one ask. Nodes that never come free are left out.
  struct List {
    Ask ask;
    std::vector<Release> by_time;                       // ascending
    std::vector<std::optional<std::vector<Gap>>> gaps;  // by node, as far as they are known
    std::vector<NodeIndex> changed;                     // of which by_time does not know yet
  };
  /// For a part of the job. Stays where it is; by_time is up to date until a node changes. O(nodes
  /// log nodes) for the first who asks, O(nodes) after a change.
  List& of(const Job& job, FlavorId flavor, const Part& part);
  /// Beside work, plans and reservations. Not for nodes that are open for shares, where it matters
  /// which device is free all the time.
  const std::vector<Gap>& gaps(List& list, const Release& release) const;

  /// Forgets all where many have asked. Not while a search goes on.
  void trim();

  /// Others are on the node now, or are there until another time.
  void changed(NodeIndex node);
  /// A plan was made on the node.
  void planned(NodeIndex node);

  [[nodiscard]] const PlanBook& plans() const { return plans_; }

 private:
  void bring_up_to_date(List& list, const Opening& opening) const;
  [[nodiscard]] std::vector<Gap> find_gaps(const Ask& ask, const Release& release) const;

  const State& state_;
  const PlanBook& plans_;
  std::map<std::uint64_t, List> lists_;  // by Opening::number
};

/// What a search for the start of a plan knows of the others.
struct Beside {
  Releases& releases;
  const Leaving& leaving;
};

/// What is free for the job if it starts at that time.
[[nodiscard]] Rooms rooms_at(const State& state, const Job& job, const Beside& beside, Time time);

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
  /// The node fits from now on, or does not any more.
  struct Change {
    Time time;
    NodeIndex node{};
    bool fits{};
    auto operator<=>(const Change&) const = default;
  };

  [[nodiscard]] bool is_plain(NodeIndex node) const;
  [[nodiscard]] bool fits_at(NodeIndex node, Time time) const;
  void watch_gaps(const Release& release);
  void watch_by_looking(const Release& release);
  void expect(Time time, NodeIndex node, bool fits);
  void set(NodeIndex node, bool fits);
  void add_leaving();

  const State& state_;
  const Job& job_;
  FlavorId flavor_;
  Part part_;
  const Beside& beside_;
  Releases::List& releases_;
  std::size_t next_release_ = 0;
  RankSet leaves_early_;
  std::vector<Change> changes_;  // a heap, the earliest first
  RankSet fits_;
  std::uint32_t count_ = 0;
  std::vector<std::uint32_t> in_leaf_;
};

}  // namespace artel::sched
