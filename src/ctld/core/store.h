// The controller's port to its store: state tables, written in batches, read once at the start.
//
// Rows are whole records; a write replaces the row of the same key. One batch is one transaction:
// after commit() returned well, all of it is durable; after a failure the process must end (an
// fsync is never retried).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/units.h"
#include "model/attempt.h"
#include "model/job.h"
#include "model/node.h"
#include "sched/memory.h"

namespace artel::ctld {

/// The job's row: everything of Job but its attempt and, of an array, what EndedTasksRow has.
/// `spec` is written with `is_new`, and again with `has_new_spec`; a task of an array has that of
/// the array.
struct JobRow {
  Job job;
  bool is_new{};
  bool has_new_spec{};
};

/// Some tasks of an array have ended without having been jobs. Numbered from 0 on; the last one is
/// written again when more tasks are put to it. Read as part of the array's job.
struct EndedTasksRow {
  JobId array;
  std::uint32_t number{};
  EndedTasks ended;
};

/// The attempt's row and the rows of its parts, one a node. An attempt is closed by `ended_at`, a
/// part by `end`.
struct AttemptRow {
  Attempt attempt;
};

/// What outlives restarts of a node's record.
struct NodeRow {
  std::string name;
  std::string boot_id;
  std::vector<Strike> strikes;
  std::vector<Drain> drains;
  std::uint16_t probe_port{};
  std::vector<std::string> peers = {};  // whom its agent may exchange probes with
};

/// For audit and streams; appended, never read to rebuild state.
struct EventRow {
  Time at;
  std::string kind;   // "submit", "cancel", "allocate", "start", "end", ...
  JobId job;          // 0: none
  std::string actor;  // user name, node name or "artel-ctld"
  std::string text;
};

/// F2: decayed use above the guarantee of a node of the quota tree, named by its path, or decayed
/// usage of a user, as a share of the cluster at `at`.
struct PastRow {
  enum class Of : std::uint8_t { kQuota, kUser };
  Of of = Of::kQuota;
  std::string name;
  double past{};
  Time at;

  bool operator==(const PastRow&) const = default;
};

/// A claim; without shares it is there no more.
struct ClaimRow {
  sched::Claim claim;

  bool operator==(const ClaimRow&) const = default;
};

using StoreWrite =
    std::variant<JobRow, AttemptRow, NodeRow, EventRow, PastRow, ClaimRow, EndedTasksRow>;

/// What a start needs: jobs that are not final with their latest attempt, nodes, counters.
struct StoredState {
  Incarnation incarnation;        // of this start, already durable
  JobId last_job;                 // the highest number given out
  std::vector<Job> jobs;          // not final, ascending id; arrays are among them
  std::vector<JobId> unreadable;  // set aside: not final, but their rows cannot be read
  JobId lost_first;               // with lost_last: numbers given out after a restored backup was
  JobId lost_last;                // made; 0: none. What runs of these jobs is left alone
  std::vector<NodeRow> nodes;
  std::vector<PastRow> past;
  std::vector<sched::Claim> claims;  // nodes that are not configured any more are left out
  /// Thousandths of GPUs x ms of ended attempts by team; of those teams only that were asked for.
  std::map<std::string, double> used_gpu_ms;
  /// (uid, token, job) of submissions that may still be repeated, oldest first.
  struct Token {
    std::uint32_t uid{};
    std::string token;
    JobId job;
    Time at;
  };
  std::vector<Token> tokens;
  Time latest;  // at which the last event was written; see first_time()
};

class Store {
 public:
  Store() = default;
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;
  virtual ~Store() = default;

  /// Reads the state and takes the next incarnation number. Called once, first.
  virtual Result<StoredState> load() = 0;
  /// Writes the rows in order, durably, all or none.
  virtual Result<> commit(const std::vector<StoreWrite>& rows) = 0;
};

}  // namespace artel::ctld
