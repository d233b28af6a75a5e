// The program of `-- command` and where the command runs from: checked here, so that a typing
// mistake is told at once.
#pragma once

#include <string>

#include "base/result.h"

namespace artel::cli {

/// The present directory. Error: kIo.
Result<std::string> present_directory();

/// The absolute path of a program as a shell would find it: a name without slash in `search_path`
/// (the value of PATH), other names relative to `directory`. Error: kNotFound or kInvalidArgument
/// naming it.
Result<std::string> find_program(const std::string& name, const std::string& directory,
                                 const std::string& search_path);

/// The last part of a path: the name of a job that has no other.
std::string base_name(const std::string& path);

}  // namespace artel::cli
