#include "sim/gangs.h"

#include <algorithm>
#include <utility>

namespace artel::sim {

void Gangs::local_done(const std::string& node, const LaunchSpec& spec) {
  Gang& gang = gangs_[spec.key];
  gang.done.insert(node);
  if (gang.aborted || gang.done.size() < spec.nodes.size()) return;
  const Cause well{.actor = Actor::kApplication, .code = CauseCode::kExit};
  for (const auto& one : nodes_) one->gang_ends(spec.key, well, false);
}

void Gangs::recorded_well(const std::string& node, const LaunchSpec& spec) {
  Gang& gang = gangs_[spec.key];
  gang.recorded.insert(node);
  // A node that nobody can reach takes the news with it if it is given up.
  const bool is_told = std::ranges::all_of(spec.nodes, is_reachable_);
  if (gang.recorded.size() == spec.nodes.size() && is_told) truth_.finished(spec);
}

void Gangs::abort(const std::string& origin, const AttemptKey& key, const Cause& cause) {
  if (std::exchange(gangs_[key].aborted, true)) return;
  for (const auto& node : nodes_) {
    events_.after(random_.delay(0, 100),
                  [&node = *node, key, cause, is_origin = node->name() == origin] {
                    node.gang_ends(key, cause, is_origin);
                  });
  }
}

}  // namespace artel::sim
