// A configured node as the controller keeps it. Private to ctld/core.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "ctld/core/free_amounts.h"
#include "model/agent_protocol.h"
#include "model/node.h"

namespace artel::ctld {

/// What the probe peers of a silent node are asked: have you heard it since?
struct Inquiry {
  Time asked;
  std::set<NodeId> open;  // peers that have not answered yet
  Time heard;             // the latest that anybody heard of it
};

/// A configured node with its session and what is free on it.
struct NodeEntry {
  Node node;
  FreeAmounts free;
  bool usable = false;  // as the core was told
  std::optional<SessionId> session;
  std::set<AttemptKey>
      strays;  // alive on the node but not ours: nothing is placed there until they are gone
  Time heard;  // nobody heard of it later, as far as is known
  std::set<NodeId> peers;          // whom its agent may exchange probes with
  bool has_unknown_peers = false;  // some of them are not configured
  bool ends_by_itself = false;     // its agent has peers, so it ends what runs when it hears nobody
  std::vector<ProbePeer> told;     // in this session
  std::optional<Inquiry> inquiry;
  std::set<std::uint16_t> ports;  // master ports in use
  std::uint16_t next_port{};
};

/// Whether jobs may be placed there now.
[[nodiscard]] inline bool is_usable(const NodeEntry& on) {
  return on.node.contact == NodeContact::kUp && on.node.drains.empty() && on.strays.empty();
}

}  // namespace artel::ctld
