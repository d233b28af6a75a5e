// A case as text that parse_case reads back: how a generated case that failed is told.
#pragma once

#include <string>

#include "sim/scenario/case.h"

namespace artel::scenario {

/// Everything but the expected states and the presets of classes, which jobs have resolved.
std::string print_case(const Case& scenario);

}  // namespace artel::scenario
