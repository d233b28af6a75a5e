// What people ask "what if" about, in the numbers of the scheduling core. Private to ctld/core.
#pragma once

#include "base/result.h"
#include "ctld/core/layout.h"
#include "ctld/core/scheduling_snapshot.h"
#include "sched/what_if.h"

namespace artel::ctld {

/// `candidate` may be null. Error: kNotFound naming the nearest, kInvalidArgument.
Result<sched::Edit> edit_of(const Wish& wish, const Layout& layout, const Snapshot& jobs,
                            const sched::JobFacts* candidate);

}  // namespace artel::ctld
