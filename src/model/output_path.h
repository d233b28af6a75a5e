// Where the output of an attempt goes.
#pragma once

#include <string>

#include "model/attempt.h"
#include "model/job_spec.h"

namespace artel {

/// The pattern with %j job, %A array, %t task, %a attempt, %x name, %u user and %% replaced, made
/// absolute by the job's working directory. Unknown letters stay as written; unknown_placeholder()
/// finds them at submit.
std::string expand_pattern(const std::string& pattern, const JobSpec& spec, const AttemptKey& key);

/// Whether tasks of an array have a file each.
bool tells_tasks_apart(const std::string& pattern);

/// The first "%c" of the pattern that is not offered, or "".
std::string unknown_placeholder(const std::string& pattern);

}  // namespace artel
