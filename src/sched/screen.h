// Quick answers "certainly not", so that most waiting jobs cost next to nothing in a walk.
#pragma once

#include <map>
#include <tuple>

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

/// How many nodes could take a shape at this instant; only falls until it is forgotten.
class RoomScreen {
 public:
  explicit RoomScreen(const State& state) : state_(state) {}

  [[nodiscard]] bool may_fit(const Job& job, const Variant& variant);
  /// Room has become free.
  void forget() { nodes_.clear(); }

 private:
  const State& state_;
  std::map<std::tuple<std::uint64_t, FlavorId, QuotaId, Sharer>, std::uint32_t> nodes_;
};

}  // namespace artel::sched
