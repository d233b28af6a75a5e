// The options that describe a job: one table for `submit`, `run` and the directives of scripts.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "cli/syntax.h"
#include "model/job_spec.h"

namespace artel::cli {

/// Which job options a command has.
enum class JobOptions {
  kSubmit,
  kAttached,  // without output files: the output goes to the caller
};

std::vector<Option> job_options(JobOptions kind);

/// What a job gets where the user says nothing.
struct JobDefaults {
  std::string name;
  std::string output;
  std::string working_directory;
  Time now{};  // for times that count from the present
};

/// A variable of the caller's environment, nullopt where it is not set.
using EnvironmentLookup = std::function<std::optional<std::string>(const std::string&)>;

using GivenOptions = std::map<std::string, Given>;

/// Options of the command line over those of a script: single values replace, lists (--env) are
/// added up, later names win.
GivenOptions merge(GivenOptions script, const GivenOptions& command_line);

/// The spec without program, owner and token. Error: kInvalidArgument, beginning with the place of
/// the option.
Result<JobSpec> job_spec(const GivenOptions& given, const JobDefaults& defaults,
                         const EnvironmentLookup& environment);

}  // namespace artel::cli
