// The conversations of a step daemon (artel-stepd) as plain types: with its agent over a local
// socket, and with the step daemons of the other nodes of the gang. `wire` maps them to protobuf
// frames.
//
// Agent and step daemon: the agent creates and listens on <state>/step/<key>.sock, starts the
// daemon with the listening socket as its descriptor 3 and connects; an agent that was restarted
// connects again. The daemon answers every connection with StepStatus first. It stays until
// StepForget.
//
// Step daemons among each other: a star. Each daemon with node_index > 0 dials the first node's
// daemon once it is told to start, proves that it knows the attempt's key, and keeps the connection
// until GangDone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/units.h"
#include "model/agent_protocol.h"
#include "model/attempt.h"

namespace artel {

inline constexpr std::uint32_t kStepProtocolVersion = 1;

// Agent to step daemon
// ----------------------------------------------------------------------------------------------

/// What a node's name service says of the owner of a job.
struct UserAccount {
  std::string home;
  std::string shell;
  std::vector<std::uint32_t> groups;  // supplementary, the primary one included
  bool operator==(const UserAccount&) const = default;
};

struct StepPrepare {
  LaunchSpec spec;
  std::string directory;  // private to this attempt, owned by root: sockets, script, spooled output
  bool simulated_node{};  // several nodes share this machine: keep MPI off shared memory between
                          // "nodes"
  std::optional<UserAccount> account;  // of the owner; unset: the daemon looks it up
  bool operator==(const StepPrepare&) const = default;
};
struct StepStart {
  std::vector<StepPeer> peers;
  bool operator==(const StepStart&) const = default;
};
struct StepStop {
  Cause cause;
  bool immediately{};
  bool operator==(const StepStop&) const = default;
};
/// The end is recorded elsewhere: exit.
struct StepForget {
  bool operator==(const StepForget&) const = default;
};

using ToStep = std::variant<StepPrepare, StepStart, StepStop, StepForget>;

// Step daemon to agent
// ----------------------------------------------------------------------------------------------

/// First message on each connection, and after each change of phase. kPreparing: waits for
/// StepPrepare or prepares; kReady: `port` is set; kRunning: `started` is set; kEnded: `end` is
/// set, nothing of the attempt is left but the daemon.
struct StepStatus {
  std::uint32_t version = kStepProtocolVersion;
  AttemptKey key;
  NodePhase phase = NodePhase::kPreparing;
  std::uint16_t port{};
  std::optional<Time> started;
  std::optional<NodeEnd> end;
  bool refused{};  // with kEnded: prepare failed, no process was started
  bool operator==(const StepStatus&) const = default;
};

using FromStep = StepStatus;

// Step daemon to step daemon
// ----------------------------------------------------------------------------------------

/// First message of the dialling daemon: a random challenge of 32 bytes.
struct PeerHello {
  std::uint32_t version = kStepProtocolVersion;
  AttemptKey key;
  std::uint32_t node_index{};
  std::string challenge;
  bool operator==(const PeerHello&) const = default;
};
/// The first node's answer: its own challenge, and HMAC(step_key, "root" || challenge of the peer
/// || node_index).
struct PeerWelcome {
  std::string challenge;
  std::string proof;
  bool operator==(const PeerWelcome&) const = default;
};
/// HMAC(step_key, "peer" || challenge of the root || node_index). Nothing else is read before it is
/// verified.
struct PeerProof {
  std::string proof;
  bool operator==(const PeerProof&) const = default;
};
/// One node's part of a collective of PMIx, or (from the root) all parts concatenated.
struct FencePart {
  std::string signature;     // of the participants
  std::uint64_t sequence{};  // per signature
  bool collect{};
  std::int32_t status{};  // PMIx status; 0 is success
  std::string blob;
  bool operator==(const FencePart&) const = default;
};
/// Asks for the data of one rank; routed through the root.
struct ModexRequest {
  std::uint64_t request{};
  std::uint32_t from_node{};
  std::uint32_t rank{};
  bool operator==(const ModexRequest&) const = default;
};
struct ModexReply {
  std::uint64_t request{};
  std::uint32_t to_node{};
  std::int32_t status{};
  std::string blob;
  bool operator==(const ModexReply&) const = default;
};
/// The gang must end. Sent to the root by the node where it happened; the first one that the root
/// sees is passed to all.
struct GangAbort {
  Cause cause;
  bool operator==(const GangAbort&) const = default;
};
/// To the root: all local ranks have ended well. From the root: all nodes have.
struct GangDone {
  std::uint32_t node_index{};
  bool operator==(const GangDone&) const = default;
};
/// Output of a node other than the first, whole lines where possible.
struct OutputLines {
  bool is_error{};  // standard error, where it has a file of its own
  std::string bytes;
  bool operator==(const OutputLines&) const = default;
};

/// From the first node: so many more bytes of the receiver's output are in the files of the job. A
/// node sends no more than a window ahead of it, so that messages never wait behind output that a
/// file system does not take.
struct OutputTaken {
  std::uint64_t bytes{};
  bool operator==(const OutputTaken&) const = default;
};

using PeerMessage = std::variant<PeerHello, PeerWelcome, PeerProof, FencePart, ModexRequest,
                                 ModexReply, GangAbort, GangDone, OutputLines, OutputTaken>;

}  // namespace artel
