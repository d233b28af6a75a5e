// One pass over the pending jobs: the walk of part "Order of a pass" with rules G, B, A and Z.
#pragma once

#include "reference/placement.h"

namespace artel::reference {

/// Changes the world as decided. Empty: nothing changed; the reasons and planned starts are those
/// of this instant.
std::vector<scenario::Decision> run_pass(World& world);

/// What a job is charged that holds these shares.
Amounts charge_for(const World& world, const Job& job, const std::vector<Share>& shares);

/// The job has to leave: it is inside its grace, or gone at once (A1, A4).
void signal_job(World& world, Job& victim);

}  // namespace artel::reference
