#include "cli/job_exit.h"

#include "client.pb.h"
#include "model/ending.h"
#include "model/job_state.h"
#include "wire/step/types_wire.h"

namespace artel::cli {
namespace {

constexpr int kExitFailure = 1;

/// What a program's own code looks like after wait(2): never 0 for a job that failed.
int program_code(std::int32_t code) {
  const int low = static_cast<int>(static_cast<std::uint32_t>(code) & 0xFFU);
  return low == 0 ? kExitFailure : low;
}

int failed_code(const Cause& cause) {
  switch (cause.code) {
    case CauseCode::kExit:
    case CauseCode::kAbort:
      return program_code(cause.exit_code);
    case CauseCode::kSignal:
      return kExitSignalBase + cause.signal;
    case CauseCode::kExecFailed:
      return kExitNoProgram;
    case CauseCode::kPrepareRefused:
    case CauseCode::kPrepareTimeout:
    case CauseCode::kOutputFailed:
      return kExitLaunch;
    case CauseCode::kNodeLost:
    case CauseCode::kStepLost:
      return kExitNodeFail;
    default:
      return kExitFailure;
  }
}

}  // namespace

int job_exit_code(const v1::JobView& job) {
  constexpr int kKill = 9;
  const Cause cause = wire::from_proto(job.cause());
  const auto state = parse_job_state(job.state());
  if (!state || !is_final(*state)) return kExitFailure;
  switch (*state) {
    case JobState::kCompleted:
      return 0;
    case JobState::kCancelled:
      return kExitCancelled;
    case JobState::kTimeout:
      return kExitTimeout;
    case JobState::kOutOfMemory:
      return kExitSignalBase + kKill;
    case JobState::kNodeFail:
      return kExitNodeFail;
    case JobState::kPreempted:
      return kExitPreempted;
    case JobState::kBootFail:
      return cause.code == CauseCode::kExecFailed ? kExitNoProgram : kExitLaunch;
    case JobState::kDeadline:
      return kExitDeadline;
    default:
      return failed_code(cause);
  }
}

bool is_final_state(std::string_view state) {
  const auto known = parse_job_state(state);
  return known && is_final(*known);
}

}  // namespace artel::cli
