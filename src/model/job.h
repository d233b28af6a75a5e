// A job as the controller keeps and shows it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/units.h"
#include "model/attempt.h"
#include "model/ending.h"
#include "model/job_spec.h"
#include "model/job_state.h"

namespace artel {

/// Why a job waits. The order is stored: append only. Names follow the scheduling semantics, rule
/// Z1.
enum class WaitCode : std::uint8_t {
  kNone,
  kNotConsidered,  // submitted since the last pass
  kHeld,
  kResources,  // not enough free nodes, GPUs, CPUs or memory
  kBackfill,   // could be placed but for a planned start of a job before it
  kNodesDown,  // enough nodes exist, but too few are up
  kRequeued,   // waits to be tried again until a time
};

/// The present reason of a waiting job, with numbers.
struct WaitReason {
  WaitCode code = WaitCode::kNone;
  std::uint32_t nodes_wanted{};
  std::uint32_t nodes_free{};  // that fit the request now
  JobId behind;                // for kBackfill: whose planned start is protected
  std::optional<Time> planned_start;

  bool operator==(const WaitReason&) const = default;
};

/// An attempt's part on one node as the controller keeps it.
struct NodePart {
  NodeShare share;
  NodePhase phase = NodePhase::kPreparing;
  std::uint16_t port{};  // where its step daemon listens for the others; 0 before it is ready
  std::optional<NodeEnd> end;

  bool operator==(const NodePart&) const = default;
};

struct Attempt {
  AttemptKey key;
  Time allocated_at;
  std::optional<Time> started_at;  // first process
  std::optional<Time> ended_at;    // last node freed
  std::optional<Time> limit_end;   // when the time limit is reached
  std::uint16_t master_port{};
  std::string step_key;                   // secret shared by the step daemons of this attempt
  JobState outcome = JobState::kPending;  // final state once it is known, else kPending
  Cause cause;                            // first cause of the end
  bool start_ordered{};         // a rank may have run: the next attempt waits for every node
  std::vector<NodePart> parts;  // in gang order: index 0 holds rank 0

  bool operator==(const Attempt&) const = default;
};

/// How often budgets were charged.
struct RetriesUsed {
  std::uint32_t application{};
  std::uint32_t node{};
  std::uint32_t launch{};

  bool operator==(const RetriesUsed&) const = default;
};

/// One job of one task. (An array's tasks get a record of their own when they start.)
struct Job {
  JobId id;
  std::shared_ptr<const JobSpec> spec;
  JobState state = JobState::kPending;
  Time submitted_at;
  std::optional<Time> ended_at;
  WaitReason wait;
  Cause cause;  // of the final state
  RetriesUsed retries;
  AttemptNo last_attempt;                  // 0 before the first
  std::shared_ptr<const Attempt> attempt;  // the latest one; null before the first
  std::vector<NodeId> excluded;            // nodes that failed this job
};

std::string_view wait_code_name(WaitCode code);
/// The sentence for people: "needs 4 nodes, 2 are free; planned start 2026-11-30T02:10:00Z".
std::string describe(const WaitReason& reason);

}  // namespace artel
