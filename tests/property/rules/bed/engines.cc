#include "property/rules/bed/engines.h"

#include "reference/reference.h"

namespace artel::rules {

const std::vector<Tested>& engines() {
  static const std::vector<Tested> all = {{"reference", reference::make_reference}};
  return all;
}

}  // namespace artel::rules
