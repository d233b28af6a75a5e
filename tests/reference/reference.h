// A plain interpreter of the scheduling rules (src/sched/RULES.md): slow, and meant to be
// obviously right. It shares no code with the scheduling core; the two must agree in every state.
#pragma once

#include <memory>

#include "sim/scenario/engine.h"

namespace artel::reference {

/// Rules that can be left out, for a comparison with an engine that does not follow them.
struct Rules {
  bool covered_work_stays = true;   // V2: a borrower displaces no covered work of its pool
  bool evicted_wait = true;         // A7
  bool plans_for_protected = true;  // B2, of a job whose reason is Protected
  bool parks = true;                // N4, N5: marks, Features, NodesDown
};

/// Keeps a reference to the case.
std::unique_ptr<scenario::Engine> make_reference(const scenario::Case& scenario);
std::unique_ptr<scenario::Engine> make_partial_reference(const scenario::Case& scenario,
                                                         Rules rules);

}  // namespace artel::reference
