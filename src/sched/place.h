// Where a job goes: P1 to P5, X1, X2, G5.
#pragma once

#include <optional>
#include <vector>

#include "sched/rooms.h"

namespace artel::sched {

/// One way to start a job: so many nodes of this flavor.
struct Variant {
  std::uint32_t size{};
  FlavorId flavor;
};

/// The domain that a plan of victims is made for (V6); nullopt: the cluster.
struct Domain {
  Locality level = Locality::kAny;
  std::uint32_t index{};
};
[[nodiscard]] bool is_in(const Node& node, const std::optional<Domain>& domain);

/// What the placement is told beside the request.
struct Place {
  std::optional<Domain> domain;
  bool anywhere = false;  // without regard to topology and segments
  /// In the order of names, with all nodes that could be candidates; null: those of nodes_for().
  const std::vector<NodeIndex>* among = nullptr;
};

/// Shares in the order of the parts; nullopt: there is no room.
[[nodiscard]] std::optional<std::vector<Share>> place(const State& state, const Job& job,
                                                      const Variant& variant, const Rooms& rooms,
                                                      const Place& where = {});

/// M3: all that the node has.
[[nodiscard]] Share whole_node(const State& state, NodeIndex node);

/// Who asks, as far as a node asks who it is.
struct Asker {
  QuotaId queue;
  bool exclusive{};
};
/// Whether a part fits on a node of its flavor with that room, owners included (P2).
[[nodiscard]] bool fits_on(const State& state, const Node& node, const Asker& asker,
                           const Part& part, const Room& room);
/// Whether a part fits on a node with that room, owners and flavors included (P2). Lists and
/// features (N3) are not looked at: callers walk over nodes_for().
[[nodiscard]] bool is_candidate(const State& state, const Job& job, FlavorId flavor,
                                const Part& part, NodeIndex node, const Room& room);

}  // namespace artel::sched
