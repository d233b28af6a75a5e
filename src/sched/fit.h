// Whether a request fits on a node, and what it then holds there.
#pragma once

#include <optional>

#include "model/resources.h"
#include "sched/cluster_view.h"

namespace artel::sched {

/// The request with its defaults filled in for this node: CPUs and memory by share of GPUs, else
/// one CPU per rank.
struct Demand {
  std::uint32_t gpus{};
  std::uint32_t cpus{};
  Bytes memory;
};

/// nullopt: the node could not hold it even when empty.
std::optional<Demand> demand_on(const NodeResources& total, const NodeRequest& request,
                                std::uint32_t ranks);

/// Whether the request fits on what is free now, regardless of `usable`.
bool fits_now(const NodeView& node, const NodeRequest& request, std::uint32_t ranks);

/// Takes the share from the node's free amounts. Requires fits_now.
NodeShare take(NodeView& node, const NodeRequest& request, std::uint32_t ranks);

/// Takes exactly this share, as an attempt already holds it.
void occupy(NodeView& node, const NodeShare& share);

/// Gives the share back.
void release(NodeView& node, const NodeShare& share);

}  // namespace artel::sched
