// What nodes have and jobs ask for, all in integers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/units.h"

namespace artel {

/// What one node has. Device indexes of GPUs are 0..gpus-1.
struct NodeResources {
  std::uint32_t cpus{};
  Bytes memory;
  std::string gpu_type;  // empty where there is no GPU
  std::uint32_t gpus{};

  bool operator==(const NodeResources&) const = default;
};

/// What a component asks for on each of its nodes. With `whole_node` the amounts are floors: the
/// gang gets all that each node has, and nobody else is placed there.
struct NodeRequest {
  bool whole_node = true;
  GpuMilli gpus;         // thousandths of a device; whole devices today
  std::string gpu_type;  // empty: any
  std::uint32_t cpus{};  // 0: a share of the node by GPUs, else one per rank
  Bytes memory;          // 0: a share of the node by GPUs or CPUs

  bool operator==(const NodeRequest&) const = default;
};

/// What an attempt holds on one node.
struct NodeShare {
  NodeId node;
  std::vector<std::uint16_t> gpus;  // device indexes, ascending
  std::uint32_t cpus{};
  Bytes memory;
  bool whole_node{};

  bool operator==(const NodeShare&) const = default;
};

/// Names a licence and how many of it a job needs.
struct LicenceRequest {
  std::string name;
  std::uint32_t count{};

  bool operator==(const LicenceRequest&) const = default;
};

}  // namespace artel
