// The scheduling core as a policy: the same code that decides in artel-ctld.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "base/result.h"
#include "model/node.h"
#include "sim/trace/policy.h"
#include "sim/trace/teams.h"

namespace artel::trace {

/// What the core has to know beside the jobs.
struct Site {
  std::vector<NodeConfig> nodes;  // empty: as many nodes of `node_size` units as the capacity needs
  Teams teams;
  std::uint64_t node_size = 1;
  Seconds grace = 60;
  std::optional<Seconds> checkpoint_every;  // told to the core, which evicts what loses least
};

/// The problem outlives it. Error: kConfig where teams and nodes do not go together.
Result<std::unique_ptr<Policy>> make_artel(const Problem& problem, const Site& site);

}  // namespace artel::trace
