// Tasks of an array that have no record of their own, as the array knows them.
#pragma once

#include <memory>

#include "model/job.h"

namespace artel {

/// The task with this number of `array`, which waits, is held or ended without having run. Null: it
/// has a record of its own, or the array has no such task.
std::shared_ptr<const Job> task_of_array(const Job& array, JobId id);

}  // namespace artel
