// The environment of a rank, made from nothing: what a login gives, what the user passes, what
// Artel and the launch need. README.md lists the variables.
//
// Pure; the caller says what the machine has.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/agent_protocol.h"
#include "noded/step/account.h"

namespace artel::step {

/// What of the machine changes a rank's environment.
struct Machine {
  bool has_mlx{};  // InfiniBand or RoCE devices that UCX takes by itself
  std::uint32_t cores = 1;
};

struct RankContext {
  const LaunchSpec& spec;
  const Account& account;
  const std::vector<StepPeer>& peers;  // in gang order
  Machine machine;
  bool simulated_node{};
};

/// Ranks of this node: 1 for a script on the first node and 0 on the others, else ranks_per_node.
std::uint32_t local_ranks(const LaunchSpec& spec);
/// Number in the gang of a local rank.
std::uint32_t rank_number(const LaunchSpec& spec, std::uint32_t local);
std::uint32_t world_size(const LaunchSpec& spec);

/// "NAME=value", sorted by name. `pmix` are the variables of the PMIx server for this rank; they
/// win over all.
std::vector<std::string> rank_environment(const RankContext& context, std::uint32_t local,
                                          const Environment& pmix);

}  // namespace artel::step
