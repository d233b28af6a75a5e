// A node as configured, as announced by its agent, and as the controller sees it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/units.h"
#include "model/resources.h"

namespace artel {

/// From cluster.d: what the node should be.
struct NodeConfig {
  std::string name;
  std::string address;  // where other nodes reach it
  NodeResources resources;
  bool simulated{};  // the agent announces the configured resources instead of what the machine has
  std::string leaf = {};   // the switch or rail group that it hangs on; empty: all such are one
  std::string block = {};  // of leaves
  std::string owner = {};  // the team that alone may use it; empty: all
  std::vector<std::string> features = {};  // words that jobs may ask for

  bool operator==(const NodeConfig&) const = default;
};

/// What an agent says of its node at each connect.
struct Inventory {
  std::string boot_id;
  NodeResources resources;
  bool simulated{};
  std::string version;      // of the agent
  std::string containment;  // how processes are tracked: "subreaper", "cgroup2", "systemd"
  std::uint32_t agent_pid{};

  bool operator==(const Inventory&) const = default;
};

/// Whether the agent is in contact. What the node does follows from what is placed on it.
enum class NodeContact : std::uint8_t {
  kUnknown,  // not heard since the controller started
  kUp,
  kLost,  // contact broken off; its attempts are assumed to go on
};

struct Node {
  NodeId id;
  NodeConfig config;
  NodeContact contact = NodeContact::kUnknown;
  Inventory inventory;
  Time contact_since;
  std::uint32_t strikes{};  // refused launches by different jobs in a row
  bool drained{};
  std::string drain_reason;
  NodeResources used;  // held by attempts

  bool operator==(const Node&) const = default;
};

std::string_view node_contact_name(NodeContact contact);
/// As operators say it: "idle", "mixed", "allocated", "draining", "drained", "down", "unknown".
std::string_view node_state_name(const Node& node);

}  // namespace artel
