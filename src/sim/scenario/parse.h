// From the text of a case to its value. The grammar is artel-scenario(5).
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "sim/scenario/case.h"

namespace artel::scenario {

/// `file` is only named in errors. Error kConfig: every mistake as `file:line: what`, one a line.
Result<Case> parse_case(const std::string& file, std::string_view text);

}  // namespace artel::scenario
