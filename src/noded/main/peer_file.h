// The agent's list of probe peers on its disk. It holds secrets, so only root may read it.
#pragma once

#include <filesystem>
#include <vector>

#include "base/result.h"
#include "model/agent_protocol.h"

namespace artel::noded {

/// Empty where none was kept. Error: kIo, kStorage, kProtocol for a file that is none.
Result<std::vector<ProbePeer>> load_peers(const std::filesystem::path& state);
/// On the disk when it returns. Error: kStorage.
Result<> save_peers(const std::filesystem::path& state, const std::vector<ProbePeer>& peers);

}  // namespace artel::noded
