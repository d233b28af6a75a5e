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
  std::string stepd;  // path of artel-stepd; empty: beside this program
  std::string version;
};

/// Takes over the node's state and runs until a signal. Error: kConfig, kWrongState (another agent
/// runs), kPermissionDenied, kStorage, kIo, kLaunch.
Result<> run_agent(const AgentOptions& options, SpawnServer helper);

}  // namespace artel::noded
