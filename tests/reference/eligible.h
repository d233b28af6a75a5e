// Rules W1, N: which jobs may be looked at, and on which nodes.
#pragma once

#include <string>

#include "reference/world.h"

namespace artel::reference {

/// N1, N2, N4: the job's own lists and expression.
bool admits_node(const Job& job, const Node& node);
/// The node refused the job or failed under it (N4).
void mark_node(const World& world, Job& job, const std::string& node);

/// Why a pending job is not looked at: Held, Dependency, BeginTime, Features, NodesDown; empty: it
/// is eligible, but for its array's slots (J2).
std::string obstacle(const World& world, const Job& job);

}  // namespace artel::reference
