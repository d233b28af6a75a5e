// Failing on purpose, so that tests can watch what a launcher does with a rank that dies.

#pragma once

#include "options.h"
#include "world.h"

namespace artel::workload {

/// On the fault's rank: says so on stderr and does it; returns only for kWarn. Elsewhere returns at
/// once.
void fail_on_purpose(const PlannedFault& fault, const World& world);

}  // namespace artel::workload
