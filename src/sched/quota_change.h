// What a change of terms does to a node of the quota tree, for all who keep such nodes.
#pragma once

#include "sched/facts.h"

namespace artel::sched {

/// What the change leaves out stays.
void apply(const QuotaChange& change, QuotaFacts& facts);

}  // namespace artel::sched
