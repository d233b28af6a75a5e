// Look-ups in a case.
#include "sim/scenario/case.h"

namespace artel::scenario {

std::optional<std::size_t> find_quota(const Case& scenario, const std::string& path) {
  for (std::size_t i = 1; i < scenario.tree.size(); ++i) {
    if (scenario.tree[i].path == path) return i;
  }
  return std::nullopt;
}

Minute grace_of(const Case& scenario, const Job& job) {
  if (job.grace) return *job.grace;
  for (std::size_t i = find_quota(scenario, job.queue).value_or(0); i != 0;
       i = scenario.tree[i].parent) {
    if (scenario.tree[i].grace) return *scenario.tree[i].grace;
  }
  return scenario.policy.grace;
}

std::optional<Minute> idle_timeout_of(const Case& scenario, const Job& job) {
  for (std::size_t i = find_quota(scenario, job.queue).value_or(0); i != 0;
       i = scenario.tree[i].parent) {
    if (scenario.tree[i].idle_timeout) return scenario.tree[i].idle_timeout;
  }
  return std::nullopt;
}

}  // namespace artel::scenario
