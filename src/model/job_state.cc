#include "model/job_state.h"

#include <array>
#include <cstddef>

namespace artel {
namespace {

constexpr std::array<std::string_view, 16> kNames = {
    "HELD",       "STAGING",   "PENDING",   "ALLOCATED", "PREPARING", "RUNNING",
    "COMPLETING", "COMPLETED", "FAILED",    "CANCELLED", "TIMEOUT",   "OUT_OF_MEMORY",
    "NODE_FAIL",  "PREEMPTED", "BOOT_FAIL", "DEADLINE"};

bool is_waiting(JobState state) { return state <= JobState::kPending; }

}  // namespace

std::string_view job_state_name(JobState state) {
  return kNames.at(static_cast<std::size_t>(state));
}

std::optional<JobState> parse_job_state(std::string_view name) {
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) return static_cast<JobState>(i);
  }
  return std::nullopt;
}

bool is_final(JobState state) { return state >= JobState::kCompleted; }

bool is_placed(JobState state) {
  return state >= JobState::kAllocated && state <= JobState::kCompleting;
}

bool may_follow(JobState from, JobState to) {
  if (from == to || is_final(from)) return false;
  if (is_waiting(from)) {
    // A waiting job has nothing to end: it is placed, moved between the waiting states or
    // cancelled.
    return is_waiting(to) || to == JobState::kAllocated || to == JobState::kCancelled ||
           to == JobState::kDeadline || to == JobState::kBootFail || to == JobState::kNodeFail;
  }
  // Placed: forward only; every end passes through COMPLETING, and a requeue leaves from there.
  if (from == JobState::kCompleting) return is_final(to) || to == JobState::kPending;
  return is_placed(to) && to > from;
}

}  // namespace artel
