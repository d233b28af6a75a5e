// What a step of the agent core wants done outside. In contrast to the controller nothing waits for
// a commit, but order counts: records are saved before the messages of the same step are sent.
#pragma once

#include <optional>
#include <vector>

#include "model/agent_protocol.h"
#include "model/step_protocol.h"
#include "noded/core/contacts.h"

namespace artel::noded {

/// What the agent keeps of one attempt on its disk until the controller has committed the end.
struct AttemptRecord {
  LaunchSpec spec;
  NodePhase phase = NodePhase::kPreparing;
  std::optional<NodeEnd> end;
  bool refused{};

  bool operator==(const AttemptRecord&) const = default;
};

/// Start a step daemon for the attempt, connect to it and send it StepPrepare.
struct SpawnStep {
  LaunchSpec spec;
};
/// Connect to the step daemon of an attempt that an earlier agent process left; its first
/// StepStatus or step_lost() settles it.
struct AdoptStep {
  AttemptKey key;
};
/// Queued by the adapter until the daemon is connected; dropped with step_lost().
struct SendStep {
  AttemptKey key;
  ToStep message;
};
/// Kill whatever is left of the attempt (its step daemon died), then call swept().
struct SweepProcesses {
  AttemptKey key;
};
struct SaveRecord {
  AttemptRecord record;
  bool sync{};  // must survive power loss: the controller is away and may stay away
};
struct DropRecord {
  AttemptKey key;
};

/// Keep whom we exchange probes with, so that it survives power loss, before anything is sent to
/// the controller.
struct SavePeers {
  std::vector<ProbePeer> peers;
};

/// Keep it so that it survives the end of this process.
struct SaveContacts {
  KeptContacts contacts;
};

struct Effects {
  std::vector<SaveRecord> saves;
  std::optional<SavePeers> peers;
  std::optional<SaveContacts> contacts;
  std::vector<SpawnStep> spawns;
  std::vector<AdoptStep> adopts;
  std::vector<SendStep> step_sends;
  std::vector<SweepProcesses> sweeps;
  std::vector<DropRecord> drops;
  std::vector<FromAgent> controller_sends;  // empty while there is no connection
};

}  // namespace artel::noded
