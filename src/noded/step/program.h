// Finding and checking the program of a step before and at its start.
//
// The checks give an early and precise text; what counts is execve() in the rank.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/job_spec.h"

namespace artel::step {

inline constexpr std::string_view kDefaultPath = "/usr/local/bin:/usr/bin:/bin";

/// The job's own PATH, else the default.
std::string search_path(const Environment& environment);

/// The paths to try in order: the name itself where it has a slash, else one for each folder of
/// `path`. Relative and empty folders of `path` mean the working directory, as in a shell.
std::vector<std::string> program_candidates(const std::string& name, std::string_view path);

/// As the user, in the working directory: is there something executable? Error: kLaunch naming
/// program and node.
Result<> check_program(const std::string& name, std::string_view path, const std::string& node);

/// Whether the kernel can start the script: "#!" and an interpreter that exists, no byte order
/// mark, no carriage return at the end of its first line. Error: kLaunch.
Result<> check_script(std::string_view script, const std::string& node);

}  // namespace artel::step
