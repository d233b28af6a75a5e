// What the store of a simulated controller must say at any time or in the end.
#pragma once

#include <string>

#include "base/units.h"
#include "sim/model_store.h"
#include "sim/truth.h"

namespace artel::sim {

/// S8: every attempt is closed, and no device was held by two attempts at once.
void check_books(const ModelStore& store, Truth& truth);
/// No ranks of attempts that ended before `then` by the books are left on the node.
void check_given_up(const ModelStore& store, Truth& truth, const std::string& node, Time then);

}  // namespace artel::sim
