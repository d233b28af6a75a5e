// Quick answers "certainly not", so that most waiting jobs cost next to nothing in a walk.
#pragma once

#include <map>
#include <vector>

#include "sched/place.h"

namespace artel::sched {

/// What of other jobs an eviction could take at the most. Kept up to date by the walk.
class Evictable {
 public:
  explicit Evictable(const State& state);

  void started(const Job& job);
  void signalled(const Job& job);
  /// Whether V1, V2 or F3 could give the job anything at all.
  [[nodiscard]] bool may_evict(const Job& job, const Charge& charge) const;

 private:
  void add(const Job& job, int sign);

  const State& state_;
  std::vector<Amounts> held_;              // by quota node: by preemptible running jobs below
  std::vector<std::int64_t> jobs_;         // by quota node: how many
  std::map<QuotaId, std::int32_t> least_;  // by pool: the lowest priority among them, or lower
};

/// Whether the job could be placed now as far as the nodes of each part and of the required level
/// go. Never false where there is a place.
[[nodiscard]] bool may_fit(const State& state, const Job& job, const Variant& variant);
/// The most nodes of one domain of the required level, in whole segments (P5), of nodes by leaf.
[[nodiscard]] std::int64_t most_in_domain(const State& state,
                                          const std::vector<std::uint32_t>& in_leaf,
                                          const Request& request);
/// All nodes that could take a part of it now, for place(). In the order of names.
[[nodiscard]] std::vector<NodeIndex> open_nodes(const State& state, const Job& job,
                                                const Variant& variant);

}  // namespace artel::sched
