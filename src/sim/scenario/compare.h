// What of an expectation does not hold in a state, told so that a person can read it.
#pragma once

#include <string>
#include <vector>

#include "sim/scenario/case.h"
#include "sim/scenario/player.h"

namespace artel::scenario {

/// One thing that is not as expected.
struct Difference {
  Minute t = 0;
  int line = 0;      // of the expected state in its file; 0: none
  std::string what;  // "running a1"
  std::string expected;
  std::string got;
  std::string note;  // of the expected state
};

std::vector<Difference> compare(const Case& scenario, const Expectation& want, const State& got);
/// Everything in which two states differ. `line` and `note` are empty.
std::vector<Difference> compare(const State& left, const State& right);

/// A table: time, what, expected and got side by side, the note below.
std::string render(const std::vector<Difference>& differences);

}  // namespace artel::scenario
