#include "property/rules/bed/engines.h"

#include "reference/reference.h"
#include "sim/scenario/core_engine.h"

namespace artel::rules {

const std::vector<Tested>& engines() {
  static const std::vector<Tested> all = {
      {.name = "core", .make = scenario::make_core_engine, .knows_all = true},
      {.name = "reference", .make = reference::make_reference, .knows_all = true}};
  return all;
}

}  // namespace artel::rules
