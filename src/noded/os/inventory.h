// What this machine is: boot id, CPUs, memory.
//
// Thread: all functions may be called from any thread.
#pragma once

#include <string>

#include "base/result.h"
#include "model/node.h"

namespace artel::noded {

/// The kernel's id of this boot. Error: kIo.
Result<std::string> read_boot_id();

/// What the agent announces: the configured resources of a simulated node, else what the machine
/// has. Error: kIo.
Result<Inventory> take_inventory(const NodeConfig& node, const std::string& version);

}  // namespace artel::noded
