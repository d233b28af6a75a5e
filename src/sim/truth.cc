#include "sim/truth.h"

#include <fmt/format.h>

#include <algorithm>

namespace artel::sim {

void Truth::report(std::string what) {
  if (!broken_) broken_ = std::move(what);
}

void Truth::ready(const LaunchSpec& spec) { ready_[spec.key].insert(spec.nodes[spec.node_index]); }

void Truth::ranks_started(const LaunchSpec& spec) {
  ++starts_;
  const std::string& node = spec.nodes[spec.node_index];
  if (ready_[spec.key].size() != spec.nodes.size()) {
    report(fmt::format("S2: {} runs on {} before all of its nodes were ready", format_key(spec.key),
                       node));
  }
  if (finished_.contains(spec.key.job)) {
    report(fmt::format("{} runs on {} although its job ended well before", format_key(spec.key),
                       node));
  }
  for (const auto& [place, devices] : alive_) {
    const auto& [key, where] = place;
    if (key.job == spec.key.job && key != spec.key) {
      report(fmt::format("S4: {} runs on {} while {} runs on {}", format_key(spec.key), node,
                         format_key(key), where));
    }
    if (where != node || key == spec.key) continue;
    const bool shared =
        std::ranges::any_of(spec.gpus, [&](std::uint16_t gpu) { return devices.contains(gpu); });
    if (shared) {
      report(fmt::format("S5: {} got a GPU of {} that {} still uses", format_key(spec.key), node,
                         format_key(key)));
    }
  }
  alive_[{spec.key, node}] = {spec.gpus.begin(), spec.gpus.end()};
}

void Truth::unreachable(const std::string& node) {
  std::erase_if(finished_, [&](const auto& entry) {
    return std::ranges::find(entry.second, node) != entry.second.end();
  });
}

std::vector<AttemptKey> Truth::alive_on(const std::string& node) const {
  std::vector<AttemptKey> keys;
  for (const auto& [place, devices] : alive_) {
    if (place.second == node) keys.push_back(place.first);
  }
  return keys;
}

void Truth::ranks_gone(const LaunchSpec& spec) {
  alive_.erase({spec.key, spec.nodes[spec.node_index]});
}

}  // namespace artel::sim
