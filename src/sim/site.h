// The site of the simulated world: nodes, a quota tree in which there is always somebody to evict,
// and jobs that fit into it.
#pragma once

#include <cstdint>

#include "ctld/core/controller.h"
#include "sim/random.h"

namespace artel::sim {

/// Nodes of 8 GPUs. Team a and b are promised a node each, c nothing; queues with limits per user
/// and strict order; evictions come soon and often.
ctld::ControllerConfig world_site(std::uint32_t nodes);

/// Others that the same jobs fit into.
TeamsConfig other_terms(Random& random);

/// Where the job belongs and what it is, so that it is always a good submission.
void choose_line(JobSpec& spec, Random& random);

}  // namespace artel::sim
