// The figures of a simulation for people.
#pragma once

#include <string>

#include "cli/context.h"
#include "sim/trace/report.h"

namespace artel::cli {

/// Policies side by side, then their teams, then what was left out.
std::string simulate_table(const trace::Report& report, const Terminal& terminal);

}  // namespace artel::cli
