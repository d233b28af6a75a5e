// Which nodes a job may use, and whether they could hold it: what candidates.h remembers.
//
// Private to src/sched.
#pragma once

#include <string>
#include <tuple>
#include <vector>

#include "sched/facts.h"
#include "sched/reason.h"

namespace artel::sched {

using NodeIndex = std::uint32_t;

/// Some of the nodes.
struct NodeSet {
  std::vector<bool> has;
  std::vector<NodeIndex> nodes;  // in the order of names
};

/// Whether a shape could be held by the nodes, all empty (Q6, N5), and by which.
struct Standing {
  std::vector<bool> placeable;  // by flavor, all nodes healthy; empty: not looked at
  Reason parked = Reason::kNone;
  std::vector<NodeIndex> place;  // of healthy nodes when it was looked at; empty: not looked at
  std::uint64_t recoveries{};    // State::recoveries then
};
/// The shape; the queue, where nodes have owners; the job, where it avoids nodes of its own (N4).
using StandingKey = std::tuple<std::uint64_t, QuotaId, JobId>;
/// The expression, nodes wanted, nodes avoided.
using NodeSetKey = std::tuple<std::string, std::vector<NodeId>, std::vector<NodeId>>;

}  // namespace artel::sched
