// A node as configured, as announced by its agent, and as the controller sees it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
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
  std::uint16_t probe_port{};  // where it hears other nodes' probes; 0: it takes part in none

  bool operator==(const Inventory&) const = default;
};

/// Whether the agent is in contact. What the node does follows from what is placed on it.
enum class NodeContact : std::uint8_t {
  kUnknown,  // not heard since the controller started
  kUp,
  kLost,  // contact broken off; its attempts are assumed to go on
};

/// Who keeps a node out of service. Each lifts its own drain only; an operator lifts all of them.
/// The order is stored: append only.
enum class DrainSource : std::uint8_t {
  kOperator,
  kReboot,     // an operator's that ends when the node has booted anew
  kInventory,  // the node has less than configured; until it has it again
  kLeftovers,  // processes that cannot be killed; until the node has booted anew
  kStrikes,    // launches failed in a row
  kRecord,     // the node's record in the store cannot be read
};

/// Whose problem it is, which alone says who acts. The order is stored: append only.
enum class ReasonClass : std::uint8_t { kNode, kHardware, kSoftware, kUser, kMaintenance };

struct Drain {
  DrainSource source = DrainSource::kOperator;
  ReasonClass reason_class = ReasonClass::kNode;
  std::string who;  // user or "artel-ctld"
  std::string text;
  Time since;

  bool operator==(const Drain&) const = default;
};

/// A launch that failed because of the node.
struct Strike {
  JobId job;
  Time at;

  bool operator==(const Strike&) const = default;
};

struct Node {
  NodeId id;
  NodeConfig config;
  NodeContact contact = NodeContact::kUnknown;
  Inventory inventory;
  Time contact_since;
  std::vector<Strike> strikes;  // one of a job, oldest first, since the last run that ended well
  std::vector<Drain> drains;  // at most one of a source, ascending; nothing new while there is any
  NodeResources used;         // held by attempts

  bool operator==(const Node&) const = default;
};

std::string_view node_contact_name(NodeContact contact);
/// As operators say it: "idle", "mixed", "allocated", "draining" (drained, but in use), "drained",
/// "maintenance" (drained for it, and not in use), "down", "unknown".
std::string_view node_state_name(const Node& node);

/// "operator", "reboot", "inventory", ...
std::string_view drain_source_name(DrainSource source);
/// "node", "hardware", "software", "user", "maintenance"
std::string_view reason_class_name(ReasonClass reason_class);
/// Error: kInvalidArgument with the words that there are.
Result<ReasonClass> parse_reason_class(std::string_view name);
/// "hardware: 7 of 8 GPUs (artel-ctld)"
std::string describe(const Drain& drain);

}  // namespace artel
