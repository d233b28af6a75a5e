// What of other jobs an eviction could take at the most: a quick answer "certainly no plan", from
// sums, before anybody looks at jobs or nodes.
//
// Kept up to date by one walk. Private to src/sched.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "sched/state.h"

namespace artel::sched {

class Evictable {
 public:
  explicit Evictable(const State& state);

  /// After the job has started, or made its claim.
  void started(const Job& job);
  void claimed(const Job& job);
  /// Before the running job is signalled.
  void signalled(const Job& job);

  /// Whether V1, V2 or F3 could free what the job lacks at its smallest size in the flavor of the
  /// charge, whatever minimum run times say. O(depth), and what has changed since the last time.
  [[nodiscard]] bool may_evict(const Job& job, const Charge& charge) const;

 private:
  using ByPriority = std::map<std::int32_t, Displaceable>;

  void count_as_leaving(const Job& job);
  void add(const Job& job, int times);
  void changed(const Job& job);
  [[nodiscard]] bool may_fit(const Job& job, FlavorId flavor, std::int64_t emptied) const;
  [[nodiscard]] Displaceable of_others(const Job& job, const Charge& charge,
                                       const Displaceable& own) const;
  [[nodiscard]] Displaceable of_siblings(QuotaId quota) const;

  const State& state_;
  Amounts leaving_;                  // nodes of jobs in their grace, by flavor
  std::vector<Amounts> held_;        // by quota node: charges of displaceable jobs below
  std::vector<ByPriority> of_pool_;  // the same jobs by pool
  // What a quota node does not cover of them, and the sum of that over the children of a node; but
  // for those children in `stale_`.
  mutable std::vector<Displaceable> uncovered_;
  mutable std::vector<Displaceable> of_children_;
  mutable std::vector<std::set<QuotaId>> stale_;
};

}  // namespace artel::sched
