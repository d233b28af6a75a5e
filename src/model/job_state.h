// States of a job and which may follow which.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace artel {

/// Final states use Slurm's names. The order is stored: append only.
enum class JobState : std::uint8_t {
  kHeld,
  kStaging,
  kPending,
  kAllocated,   // gang chosen, resources booked
  kPreparing,   // every node checks and gets ready
  kRunning,     // the first process runs
  kCompleting,  // processes are ending, nodes return one by one
  kCompleted,
  kFailed,
  kCancelled,
  kTimeout,
  kOutOfMemory,
  kNodeFail,
  kPreempted,
  kBootFail,
  kDeadline,
};

/// "PENDING", "COMPLETED", ...
std::string_view job_state_name(JobState state);
std::optional<JobState> parse_job_state(std::string_view name);

/// Nothing follows a final state.
bool is_final(JobState state);
/// Holds resources on nodes.
bool is_placed(JobState state);
/// Whether the controller may move a job from one state to the other.
bool may_follow(JobState from, JobState to);

}  // namespace artel
