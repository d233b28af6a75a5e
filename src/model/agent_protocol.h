// The conversation between controller and agent as plain types: what both pure cores speak.
// `wire` maps it to protobuf. Commands are idempotent and carry the attempt's key.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/units.h"
#include "model/attempt.h"
#include "model/job_spec.h"
#include "model/node.h"

namespace artel {

/// All that a node needs to get an attempt ready. Nothing is started by it.
struct LaunchSpec {
  AttemptKey key;
  std::string cluster;
  std::string job_name;
  Owner owner;
  LaunchKind launch = LaunchKind::kPlain;  // resolved, never kAuto
  std::vector<std::string> nodes;          // names in gang order
  std::uint32_t node_index{};              // of the receiver in `nodes`
  std::uint32_t ranks_per_node = 1;
  std::string script;
  std::vector<std::string> argv;
  Environment environment;
  std::string working_directory;
  std::string output;  // absolute, pattern already replaced; empty when attached
  std::string error;   // the same; empty: with output
  bool attached{};
  std::optional<Duration> time_limit;
  Duration grace{};
  std::vector<std::uint16_t> gpus;  // device indexes on the receiver
  std::uint32_t cpus{};
  Bytes memory;
  std::uint16_t master_port{};  // on the first node
  std::string step_key;         // secret of this attempt's step daemons

  bool operator==(const LaunchSpec&) const = default;
};

/// Where the step daemon of one node of the gang listens.
struct StepPeer {
  std::string node;
  std::string address;
  std::uint16_t port{};

  bool operator==(const StepPeer&) const = default;
};

// Controller to agent
// -----------------------------------------------------------------------------------------------

struct Prepare {
  LaunchSpec spec;
  bool operator==(const Prepare&) const = default;
};
/// A node that the receiver exchanges probes with, once a second in both directions.
struct ProbePeer {
  std::string node;
  std::string address;
  std::uint16_t port{};
  std::string key;  // secret of the two; filled in on the way by whoever holds the nodes' keys

  bool operator==(const ProbePeer&) const = default;
};
/// The receiver's probe peers from now on; answered by PeersWatched.
struct WatchPeers {
  std::vector<ProbePeer> peers;
  bool operator==(const WatchPeers&) const = default;
};
/// What does the receiver know of this node? Answered by PeerSeen.
struct AskPeer {
  std::string node;
  Time asked;  // comes back with the answer
  bool operator==(const AskPeer&) const = default;
};

/// All nodes are ready: start the ranks. `peers` in gang order.
struct StartAttempt {
  AttemptKey key;
  std::vector<StepPeer> peers;
  bool operator==(const StartAttempt&) const = default;
};
/// End it, whatever phase it is in; an attempt that the agent does not know counts as ended.
struct EndAttempt {
  AttemptKey key;
  Cause cause;
  bool immediately{};  // KILL at once instead of TERM, grace, KILL
  bool operator==(const EndAttempt&) const = default;
};
/// The end is committed: the agent may forget the attempt.
struct ForgetAttempt {
  AttemptKey key;
  bool operator==(const ForgetAttempt&) const = default;
};

using ToAgent = std::variant<Prepare, StartAttempt, EndAttempt, ForgetAttempt, WatchPeers, AskPeer>;

// Agent to controller
// -----------------------------------------------------------------------------------------------

/// What an agent holds of one attempt, in the Hello.
struct HeldAttempt {
  AttemptKey key;
  NodePhase phase = NodePhase::kPreparing;
  std::uint16_t port{};
  std::optional<Time> started;
  std::optional<NodeEnd> end;  // where phase is kEnded
  bool operator==(const HeldAttempt&) const = default;
};

/// Full state at each connect.
struct AgentHello {
  std::string node;
  Inventory inventory;
  std::vector<HeldAttempt> attempts;
  std::vector<std::string> peers = {};  // whom it exchanges probes with
  bool operator==(const AgentHello&) const = default;
};

struct AttemptReady {
  AttemptKey key;
  std::uint16_t port{};
  bool operator==(const AttemptReady&) const = default;
};
/// The node cannot prepare it; nothing of it is left there.
struct AttemptRefused {
  AttemptKey key;
  Cause cause;
  bool operator==(const AttemptRefused&) const = default;
};
struct AttemptStarted {
  AttemptKey key;
  Time at;
  bool operator==(const AttemptStarted&) const = default;
};
/// Re-sent until ForgetAttempt comes.
struct AttemptEnded {
  AttemptKey key;
  NodeEnd end;
  bool operator==(const AttemptEnded&) const = default;
};

/// The probe peers of the sender are these and no others any more.
struct PeersWatched {
  std::vector<std::string> peers;
  bool operator==(const PeersWatched&) const = default;
};
/// What probes say of a node. The order is that of the wire: append only.
enum class PeerState : std::uint8_t {
  kAlive,
  kNoAgent,     // the machine answers that nobody listens there: ranks may go on
  kSilent,      // nothing
  kNotWatched,  // it is no probe peer of the sender
  kNotHeard,    // it may still count on the sender being away, see noded/core/contacts.h
};
struct PeerSeen {
  std::string node;
  Time asked;
  PeerState state = PeerState::kNotWatched;
  Duration silent_for{};  // at least: since the node was heard, or since the sender listens
  bool operator==(const PeerSeen&) const = default;
};

using FromAgent = std::variant<AttemptReady, AttemptRefused, AttemptStarted, AttemptEnded,
                               PeersWatched, PeerSeen>;

}  // namespace artel
