// How many nodes could take a part of one job while its victims leave, by domain.
//
// The count changes only on the nodes of the job that has just left or come back, so that a plan of
// a thousand victims costs as many looks at nodes as its victims hold, and not as many walks over
// the cluster.
//
// Private to src/sched.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "sched/place.h"

namespace artel::sched {

class Vacancy {
 public:
  /// As of now, with nobody assumed gone. `rooms` must see each node as it is at the earliest start
  /// that a plan could have, without those in their grace; keeps references.
  Vacancy(const State& state, const Job& job, const Variant& variant, const Rooms& rooms);

  /// After this one has left or come back.
  void look_again(const Job& changed);
  /// Whether so many nodes of the domain can take a part as the job needs, segments included (P5).
  ///
  /// Never false where place() would find a start in that domain. For a job of one part it is the
  /// whole answer: levels up to the required one lie inside the domain, and P4 goes from leaf to
  /// leaf taking whole segments, so it succeeds if and only if the whole segments are enough.
  [[nodiscard]] bool suffices(const std::optional<Domain>& domain) const {
    return suffices(usable_, domain);
  }

  /// The nodes that can take a part, in the order of names.
  [[nodiscard]] std::vector<NodeIndex> usable() const { return nodes_of(state_, is_usable_); }

  /// Whether the nodes suffice for each domain, were these gone as well.
  [[nodiscard]] std::vector<bool> suffices_without(std::span<Job* const> leaving) const;

 private:
  struct Counts {
    std::vector<std::uint32_t> of_unit;    // nodes that can take a part
    std::vector<std::uint32_t> of_domain;  // of those the ones in whole segments
  };
  [[nodiscard]] bool fits(NodeIndex node) const;
  void count(Counts& counts, NodeIndex node, bool more) const;
  [[nodiscard]] std::uint32_t domain_of(NodeIndex node) const;
  [[nodiscard]] bool suffices(const Counts& counts, const std::optional<Domain>& domain) const {
    return counts.of_domain[domain ? domain->index : 0] >= needed_;
  }
  void number_units();
  void look_at(NodeIndex node);
  [[nodiscard]] bool is_usable(NodeIndex node) const {
    return is_usable_.has(state_.nodes[node].rank);
  }
  [[nodiscard]] std::uint32_t unit_of(NodeIndex node) const;

  const State& state_;
  const Job& job_;
  Variant variant_;
  const Rooms& rooms_;
  std::vector<Part> parts_;
  std::uint32_t needed_ = 0;
  RankSet is_usable_;
  std::vector<std::uint32_t> unit_of_;  // by node, where a unit is neither a leaf nor a domain
  Counts usable_;
};

}  // namespace artel::sched
