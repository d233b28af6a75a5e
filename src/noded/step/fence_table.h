// The root's side of collectives: gathers the parts of all nodes that take part.
//
// Pure. A signature is "*" for all ranks, or the ranks in ascending order: "0,3,4".
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "model/step_protocol.h"

namespace artel::step {

/// The nodes whose ranks take part, ascending. Error: kProtocol for a signature of a wrong form or
/// an unknown rank.
Result<std::vector<std::uint32_t>> fence_nodes(std::string_view signature, std::uint32_t nodes,
                                               std::uint32_t ranks_per_node);

class FenceTable {
 public:
  /// A collective that is complete: what all `nodes` get.
  struct Complete {
    std::vector<std::uint32_t> nodes;
    FencePart result;
  };

  FenceTable(std::uint32_t nodes, std::uint32_t ranks_per_node)
      : nodes_(nodes), ranks_per_node_(ranks_per_node) {}

  /// Takes the part of `node`. Error: kProtocol for a node that does not take part or was heard
  /// already.
  Result<std::optional<Complete>> add(std::uint32_t node, FencePart part);

 private:
  struct Open {
    std::vector<std::uint32_t> nodes;
    std::map<std::uint32_t, FencePart> parts;  // by node: the order of the result
  };

  std::uint32_t nodes_;
  std::uint32_t ranks_per_node_;
  std::map<std::pair<std::string, std::uint64_t>, Open> open_;
};

}  // namespace artel::step
