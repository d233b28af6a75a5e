// What of changed team files can be taken over while jobs wait and run.
//
// The tree of quotas stays as it is for the life of a controller: jobs, claims and the past refer
// to its nodes by number. Terms on it may change, and so may all that is looked at only when a job
// is submitted. What else has changed needs a start, which makes a new tree and loses no job
// either.
#pragma once

#include <utility>
#include <vector>

#include "base/result.h"
#include "ctld/core/layout.h"
#include "model/teams.h"
#include "sched/facts.h"

namespace artel::ctld {

using NewTerms = std::vector<std::pair<sched::QuotaId, sched::QuotaChange>>;

/// The nodes whose terms differ, in the order of `after`. Error: kConfig with one line for each
/// difference that needs a start of the controller; then nothing should be taken over.
Result<NewTerms> new_terms(const TeamsConfig& before, const TeamsConfig& after,
                           const Layout& layout);

}  // namespace artel::ctld
