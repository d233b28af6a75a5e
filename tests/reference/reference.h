// A plain interpreter of the scheduling rules (src/sched/RULES.md): slow, and meant to be
// obviously right. It shares no code with the scheduling core; the two must agree in every state.
#pragma once

#include <memory>

#include "sim/scenario/engine.h"

namespace artel::reference {

/// Keeps a reference to the case.
std::unique_ptr<scenario::Engine> make_reference(const scenario::Case& scenario);

}  // namespace artel::reference
