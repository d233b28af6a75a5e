#include "model/node.h"

#include <array>
#include <cstddef>

namespace artel {

std::string_view node_contact_name(NodeContact contact) {
  static constexpr std::array<std::string_view, 3> kNames = {"unknown", "up", "lost"};
  return kNames.at(static_cast<std::size_t>(contact));
}

std::string_view node_state_name(const Node& node) {
  const NodeResources& has = node.config.resources;
  const bool used = node.used.cpus > 0 || node.used.gpus > 0 || node.used.memory.value > 0;
  if (node.contact == NodeContact::kUnknown) return "unknown";
  if (node.contact == NodeContact::kLost) return "down";
  if (node.drained) return used ? "draining" : "drained";
  if (!used) return "idle";
  const bool full = node.used.cpus >= has.cpus && node.used.gpus >= has.gpus;
  return full ? "allocated" : "mixed";
}

}  // namespace artel
