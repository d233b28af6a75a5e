// The engines that the rules are tested on.
#pragma once

#include <string>
#include <vector>

#include "sim/scenario/engine.h"

namespace artel::rules {

struct Tested {
  std::string name;
  scenario::EngineMaker make;
  bool knows_all = false;  // the rules W to U too; else their streams are not played
};

const std::vector<Tested>& engines();

}  // namespace artel::rules
