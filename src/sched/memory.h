// What a driver keeps for the core over its own restarts, and tells to a Scheduler that was just
// made.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sched/scheduler.h"

namespace artel::sched {

/// What the core knows of a job's evictions (A4).
struct EvictionRecord {
  std::uint32_t evictions{};
  Time backoff_until;

  bool operator==(const EvictionRecord&) const = default;
};

/// Nodes that are held for a job until the last of them is free (A1). Claims start in the order of
/// their numbers (O0).
struct Claim {
  JobId job;
  std::uint64_t number{};
  std::vector<Share> shares;

  bool operator==(const Claim&) const = default;
};

/// A job as its driver remembers it.
struct Remembered {
  JobFacts job;  // with what it says of a job that is told again
  EvictionRecord evicted;
  std::optional<Time> retry_at;  // as of requeue()
  std::vector<NodeId> marks;     // as of mark()
  Stage stage = Stage::kPending;
  std::vector<Share> shares;      // unless pending
  Time start;                     // of its run, claims have none
  std::optional<Time> limit_end;  // of its run
  Time grace_end;                 // if signalled
  std::uint64_t claim{};          // Claim::number
};

}  // namespace artel::sched
