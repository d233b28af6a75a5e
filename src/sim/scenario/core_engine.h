// The scheduling core behind the interface that the player of cases drives.
#pragma once

#include <memory>

#include "sim/scenario/engine.h"

namespace artel::scenario {

/// Keeps a reference to the case.
std::unique_ptr<Engine> make_core_engine(const Case& scenario);

}  // namespace artel::scenario
