// Rows of arrays: which of their tasks wait, are held or ended without having been jobs.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "ctld/core/store.h"
#include "ctld/store/sql.h"
#include "model/job.h"

namespace artel::ctld {

/// By what its row says.
[[nodiscard]] inline bool is_array(const Job& job) { return job.spec->array && !job.task; }

/// Beside the row of the job, which is the array as a whole.
Result<> write_array(sql::Database& database, const Job& array, bool is_new);
Result<> write_ended_tasks(sql::Database& database, const EndedTasksRow& row);

/// Gives the array its `tasks`, without the count of those that are jobs. A complaint where the
/// rows cannot be understood, else "".
Result<std::string> read_array(sql::Database& database, Job& array);
/// The last array with a lower number.
Result<std::optional<JobId>> array_before(sql::Database& database, JobId id);
/// Whether there are tasks of the array that are jobs.
Result<bool> has_tasks(sql::Database& database, JobId array);

}  // namespace artel::ctld
