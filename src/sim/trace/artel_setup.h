// Nodes, teams and jobs of a replay as facts of the scheduling core.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "sched/facts.h"
#include "sim/trace/artel_policy.h"

namespace artel::trace {

struct ArtelSetup {
  sched::Setup setup;
  /// The leaf of the quota tree for each name of a team, by index into Workload::names.
  std::map<std::uint32_t, sched::QuotaId> queues;
  Milli node_gpus{};  // of the largest node
};

Result<ArtelSetup> make_setup(const Problem& problem, const Site& site);

/// The shape in which a task runs: as in the trace where nodes are given, else on as few nodes as
/// its size needs.
sched::Request request_of(const Problem& problem, const Site& site, const ArtelSetup& setup,
                          TaskIndex task);

}  // namespace artel::trace
