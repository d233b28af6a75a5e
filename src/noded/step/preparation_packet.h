// One packet from the preparing child to its daemon: a refusal, or the account with open files
// beside it.
//
// Both ends are one program of one build. Private to preparation.cc and its test.
#pragma once

#include "noded/step/preparation.h"

namespace artel::step {

void send_outcome(int channel, const PreparationOutcome& outcome);

/// A refusal that says so where the child died without an answer.
PreparationOutcome receive_outcome(int channel);

}  // namespace artel::step
