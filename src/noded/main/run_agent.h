// From options to a running agent.
//
// Thread: main's.
#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"
#include "noded/os/spawner.h"

namespace artel::noded {

struct AgentOptions {
  std::filesystem::path config;  // folder
  std::string node;
  std::string version;
};

/// The step daemon's program; `option` empty: beside this one. Error: kConfig.
Result<std::filesystem::path> find_stepd(const std::string& option);

/// Takes over the node's state and runs until a signal. Error: kConfig, kWrongState (another agent
/// runs), kPermissionDenied, kStorage, kIo, kLaunch.
Result<> run_agent(const AgentOptions& options, SpawnServer helper);

}  // namespace artel::noded
