// What stands in the way of one job at one point of a walk: V3's plans of victims, the plans that
// bind it, and its reasons (Z1 to Z3). The walk asks for the first reason, an explanation for all;
// both are made by the same checks.
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "sched/checks.h"
#include "sched/evict.h"
#include "sched/screen.h"

namespace artel::sched {

/// Planned starts in the order in which they were made.
struct Plans {
  explicit Plans(std::size_t nodes) : on_nodes(nodes) {}
  const Planned& add(Planned plan) {
    all.push_back(std::move(plan));
    on_nodes.add(all.back());
    return all.back();
  }

  std::deque<Planned> all;  // addresses stay
  PlanBook on_nodes;
};

class Outlook {
 public:
  /// Keeps references. The state is changed while a plan of victims is made and is the same
  /// afterwards.
  Outlook(State& state, const Plans& plans, const Evictable& evictable)
      : state_(state), plans_(plans), no_plans_(state.nodes.size()), evictable_(evictable) {}

  struct Found {
    FlavorId flavor;
    Eviction plan;
  };
  struct Search {
    std::optional<Found> found;
    bool room_comes = false;  // as of EvictionSearch, in some flavor
  };
  /// V3, in the job's order of flavors.
  [[nodiscard]] Search find_eviction(const Job& job) const;

  /// B3, ascending by address.
  [[nodiscard]] PlanFilter binding_plans(const Job& job, const Charge& charge) const;

  /// Variants that fail no quota check of a reason of its own, from large to small.
  [[nodiscard]] std::vector<Variant> allowed_variants(const Job& job) const;
  [[nodiscard]] bool ever_within(const Job& job) const;

  /// Of a job that is eligible, is not stopped by a strict queue and cannot start.
  [[nodiscard]] Wait first_reason(const Job& job) const;
  /// Z3, of such a job: those that first_reason() chooses from, and those behind.
  void all_reasons(const Job& job, std::vector<Wait>& reasons) const;

 private:
  using Shares = std::optional<std::vector<Share>>;

  [[nodiscard]] Variant first_variant(const Job& job) const;
  [[nodiscard]] Wait quota_wait(const Failure& failure) const;
  [[nodiscard]] QuotaId largest_keeper(const Shortage& shortage) const;
  [[nodiscard]] Search find_eviction(const Job& job, const PlanBook& plans,
                                     Protection protection) const;
  /// A3: whether minimum run times alone are in the way.
  [[nodiscard]] std::optional<Wait> protected_wait(const Job& job) const;
  /// Backfill, Reservation, Topology or Resources, of a job that fails no quota check.
  [[nodiscard]] Wait room_wait(const Job& job, const std::vector<Variant>& allowed) const;
  /// The same of one that fails some, as if it did not; nullopt: there is room.
  [[nodiscard]] std::optional<Wait> room_wait_beside_quota(const Job& job) const;
  [[nodiscard]] Wait backfill_wait(const Job& job, const Variant& variant,
                                   const std::vector<Share>& shares) const;
  [[nodiscard]] Wait reservation_wait(const Job& job, const std::vector<Share>& shares,
                                      const std::vector<Reservation>& reservations) const;
  [[nodiscard]] Wait short_of_nodes(Reason reason, const Job& job,
                                    const std::vector<Variant>& allowed) const;
  /// `binding`: the plans that count; null: none.
  [[nodiscard]] Shortage node_shortage(const Job& job, const Variant& variant,
                                       const PlanFilter* binding) const;
  [[nodiscard]] std::vector<NodeIndex> nodes_now(const Job& job, FlavorId flavor, const Part& part,
                                                 const PlanFilter* binding) const;
  [[nodiscard]] Shares place_regardless(const Job& job, const std::vector<Variant>& allowed,
                                        bool anywhere, Variant* which) const;
  [[nodiscard]] const Planned* first_broken(const Job& job, const Variant& variant,
                                            const std::vector<Share>& shares) const;

  State& state_;
  const Plans& plans_;
  const PlanBook no_plans_;
  const Evictable& evictable_;
};

/// Preempting: who has to leave and takes longest.
[[nodiscard]] Wait claim_wait(const State& state, const Job& claim);

}  // namespace artel::sched
