// Attempts as stored, with the names of their nodes: what the start and the readers share.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "ctld/store/records.h"
#include "ctld/store/sql.h"

namespace artel::ctld {

struct StoredAttempts {
  std::vector<HistoryAttempt> attempts;  // oldest first
  std::string complaint;                 // of the first row that cannot be understood; empty: none
};

/// All attempts of the job, or only number `only` of its first task.
Result<StoredAttempts> read_attempts(sql::Database& database, JobId job,
                                     std::optional<AttemptNo> only);

}  // namespace artel::ctld
