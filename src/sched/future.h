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

/// The releases for all that have asked, of one walk. A node that never comes free is left out.
class Releases {
 public:
  explicit Releases(const State& state) : state_(state) {}
  /// For a part of the job, ascending. Valid until the next call. O(nodes log nodes) for the first
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

/// Before this instant the job cannot be placed for its time limit: too few nodes of any one domain
/// fit. It is a bound, not an answer: topology and later plans may still be in the way. nullopt:
/// the work it waits for has no end. It looks at nodes in the order in which they come free, and
/// stops when none that is left could be earlier.
[[nodiscard]] std::optional<Time> earliest_possible(const State& state, const Job& job,
                                                    const Variant& variant, const Beside& beside);

/// All nodes that could take a part of the job at this time, for place(); in the order of names.
[[nodiscard]] std::vector<NodeIndex> nodes_free_at(const State& state, const Job& job,
                                                   const Variant& variant, const Beside& beside,
                                                   Time time);

}  // namespace artel::sched
