// A small cluster and tree for the tests of the scheduling core.
#pragma once

#include <string>
#include <vector>

#include "sched/scheduler.h"

namespace artel::sched::bed {

inline constexpr std::int64_t kGpu = 1000;
inline constexpr FlavorId kFlavor{0};
inline Time at_minute(int minute) { return Time{} + std::chrono::minutes{minute}; }

/// Nodes of 8 GPUs and 64 cores, four in a leaf, all leaves in one block.
inline Setup cluster(std::uint32_t nodes) {
  Setup setup;
  setup.flavors = {"h100"};
  for (std::uint32_t i = 0; i < nodes; ++i) {
    setup.nodes.push_back({.name = "n" + std::to_string(100 + i),
                           .leaf = "l" + std::to_string(10 + i / 4),
                           .block = "b",
                           .flavor = kFlavor,
                           .gpus = 8 * kGpu,
                           .cores = 64,
                           .memory = 512,
                           .owner = {}});
  }
  setup.tree.emplace_back();
  setup.policy.protect_priority = Duration{};
  return setup;
}

/// A team below the root with a guarantee in GPUs.
inline QuotaId add_team(Setup& setup, const std::string& name, std::int64_t guarantee) {
  QuotaFacts team;
  team.name = name;
  team.is_team = true;
  team.guarantee = Amounts{guarantee * kGpu, 0};
  setup.tree.push_back(team);
  return QuotaId{static_cast<std::uint32_t>(setup.tree.size() - 1)};
}

/// `nodes` x `gpus`, an hour, of user 1.
inline JobFacts job(std::uint64_t id, QuotaId queue, std::uint32_t nodes, std::int64_t gpus) {
  JobFacts facts;
  facts.id = JobId{id};
  facts.queue = queue;
  facts.user = UserId{1};
  facts.request.parts = {Part{.nodes = nodes, .gpus = gpus * kGpu}};
  facts.request.limit = std::chrono::hours{1};
  facts.grace = std::chrono::minutes{2};
  return facts;
}

/// Passes until nothing changes.
inline std::vector<Decision> rest(Scheduler& scheduler, Time now) {
  std::vector<Decision> all;
  while (true) {
    const auto made = scheduler.pass(now);
    if (made.empty()) return all;
    all.insert(all.end(), made.begin(), made.end());
  }
}

inline bool runs(const Scheduler& scheduler, std::uint64_t id) {
  return scheduler.stage(JobId{id}) == Stage::kRunning;
}

}  // namespace artel::sched::bed
