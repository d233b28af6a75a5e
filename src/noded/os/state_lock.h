// One agent a state folder: an exclusive lock that goes with the process.
//
// Thread: any, one at a time.
#pragma once

#include <filesystem>

#include "base/result.h"
#include "noded/os/files.h"

namespace artel::noded {

/// Locks <state>/lock until the descriptor is closed and writes the caller's pid into it. Error:
/// kWrongState naming the holder's pid, kStorage.
Result<Descriptor> lock_state(const std::filesystem::path& state);

}  // namespace artel::noded
