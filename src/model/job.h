// A job as the controller keeps and shows it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/units.h"
#include "model/attempt.h"
#include "model/ending.h"
#include "model/job_spec.h"
#include "model/job_state.h"
#include "model/wait.h"

namespace artel {

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

/// What the scheduler has to know again after a restart and cannot see elsewhere.
struct Standing {
  std::uint32_t evictions{};
  Time backoff_until;            // may not borrow before (A4)
  std::optional<Time> retry_at;  // after a failure: not tried again before

  bool operator==(const Standing&) const = default;
};

/// Tasks of an array that ended without ever having been a job of their own.
struct EndedTasks {
  IndexSet tasks;
  JobState state = JobState::kCancelled;
  Time ended_at;
  Cause cause;

  bool operator==(const EndedTasks&) const = default;
};

/// Where the tasks of an array are. Those that are nowhere here have a record of their own, from
/// their first start or claim on.
struct ArrayTasks {
  IndexSet waiting;
  IndexSet held;
  std::vector<EndedTasks> ended;
  std::uint32_t active{};  // have a record, are not final
  // How many have ended, those of `ended` included.
  std::uint32_t completed{};
  std::uint32_t cancelled{};
  std::uint32_t failed{};  // in any other way

  bool operator==(const ArrayTasks&) const = default;
};

/// What a job is a task of.
struct TaskOf {
  JobId array;
  TaskIndex index;

  bool operator==(const TaskOf&) const = default;
};

/// One job of one task, or an array as a whole, which has no attempt. An array's tasks get a record
/// of their own when they start; they share its spec.
struct Job {
  JobId id;
  std::shared_ptr<const JobSpec> spec;
  JobState state = JobState::kPending;
  Time submitted_at;
  std::optional<Time> ended_at;
  WaitReason wait;
  Cause cause;  // of the final state, or why it is held
  RetriesUsed retries;
  Standing standing;
  AttemptNo last_attempt;                   // 0 before the first
  std::shared_ptr<const Attempt> attempt;   // the latest one; null before the first
  std::vector<NodeId> excluded;             // nodes that failed this job
  std::optional<TaskOf> task;               // of an array
  std::shared_ptr<const ArrayTasks> tasks;  // of an array as a whole
};

}  // namespace artel
