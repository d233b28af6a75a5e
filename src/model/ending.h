// Why something ended: every end has an actor and a cause.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/units.h"

namespace artel {

/// Who brought the end about. The order is stored: append only.
enum class Actor : std::uint8_t {
  kNone,         // not ended
  kApplication,  // the program itself
  kUser,         // owner, lead or operator; the name is given
  kLimit,        // the time limit
  kPreemption,
  kNode,  // a node or its daemon was lost
  kHealth,
  kLaunch,  // the run could not be started
  kSystem,  // the controller by a rule, named in the text
};

/// What happened. The order is stored: append only.
enum class CauseCode : std::uint8_t {
  kNone,
  kExit,       // the program ended by itself with `exit_code`
  kSignal,     // a rank was ended by `signal`
  kAbort,      // MPI_Abort with `exit_code`
  kLeftEarly,  // a rank left an MPI run without MPI_Finalize
  kCancel,
  kTimeLimit,
  kOutOfMemory,
  kNodeLost,
  kStepLost,  // the step daemon of a node died
  kPrepareRefused,
  kPrepareTimeout,
  kExecFailed,    // program missing, not executable, bad interpreter
  kOutputFailed,  // output file could not be opened
  kRetriesSpent,
  kUnknown,  // said by a newer version; counts as a failure
  kPreempted,
  kDependencyNeverMet,
  kDeadline,
  kMaxWait,
  kHold,     // somebody holds the job
  kRequeue,  // somebody ended the run; the job waits again
};

/// The first cause of an end and where it happened. Unused numbers are absent.
struct Cause {
  Actor actor = Actor::kNone;
  CauseCode code = CauseCode::kNone;
  std::string actor_name;  // "alice" for kUser
  std::string node;
  std::optional<std::uint32_t> rank;
  std::int32_t exit_code{};
  std::int32_t signal{};
  std::string text;  // the sentence for people: "rank 3 on hgx02 was killed by signal 9 (KILL)"

  bool operator==(const Cause&) const = default;
};

/// Ranks that lose a peer leave by themselves, and their word may be heard before that of the
/// peer's node. So a cause by which a rank was killed goes before one by which a rank left, and
/// the loss of a node before what its peers died of.
bool goes_before(const Cause& killed, const Cause& left);

std::string_view actor_name(Actor actor);
std::string_view cause_name(CauseCode code);
/// "KILL" for 9; "signal 77" where there is no name.
std::string signal_name(int signal);
/// The sentence for people made from the other fields, used where nothing better is known.
std::string describe(const Cause& cause);

}  // namespace artel
