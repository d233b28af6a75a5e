// Model types to columns and back, in one fixed order for each table. Columns that cannot be
// understood are complaints, not guesses.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "ctld/core/store.h"
#include "ctld/store/sql.h"
#include "model/job.h"

namespace artel::ctld {

#define ARTEL_CAUSE_COLUMNS                                                                      \
  "cause_actor, cause_code, cause_name, cause_node, cause_rank, cause_exit_code, cause_signal, " \
  "cause_text"
/// What changes in a job's life, after its id.
#define ARTEL_JOB_COLUMNS                                                                          \
  "state, final, ended_ms, wait_code, wait_nodes_wanted, wait_nodes_free, wait_behind, "           \
  "planned_start_ms, " ARTEL_CAUSE_COLUMNS                                                         \
  ", retries_application, retries_node, retries_launch, last_attempt, excluded_nodes, evictions, " \
  "backoff_until_ms, retry_at_ms"
/// The whole row of a job with its spec, which tasks share with their array.
#define ARTEL_SELECT_JOB                                                   \
  "SELECT spec, id, submitted_ms, job.array, job.task, " ARTEL_JOB_COLUMNS \
  " FROM job LEFT JOIN job_spec ON job_spec.job = iif(job.array = 0, job.id, job.array) WHERE "
#define ARTEL_ATTEMPT_COLUMNS                                                             \
  "job, task, attempt, allocated_ms, started_ms, ended_ms, limit_end_ms, start_ordered, " \
  "master_port, step_key, "                                                               \
  "outcome, " ARTEL_CAUSE_COLUMNS
#define ARTEL_PART_COLUMNS                                                                  \
  "job, task, attempt, node_index, node, gpus, gpu_count, cpus, memory_bytes, whole_node, " \
  "phase, port, started_ms, ended_ms, " ARTEL_CAUSE_COLUMNS ", is_origin, cpu_ms, max_rss_bytes"

/// Gives a node's name for its id.
using NameOf = std::function<const std::string&(NodeId)>;

/// ARTEL_CAUSE_COLUMNS
void bind_cause(sql::Statement& statement, const Cause& cause);
void bind_job(sql::Statement& statement, const Job& job, const NameOf& names);
void bind_attempt(sql::Statement& statement, const Attempt& attempt);
void bind_part(sql::Statement& statement, const AttemptKey& key, std::size_t index,
               const NodePart& part, const NameOf& names);

/// Whether this version knows the enumerator.
bool is_known(JobState state);
bool is_known(NodePhase phase);
bool is_known(WaitCode code);
bool is_known(Actor actor);
bool is_known(CauseCode code);
bool is_known(DrainSource source);
bool is_known(ReasonClass reason_class);

/// One row, read column by column from `first`. Keeps the first complaint.
class Fields {
 public:
  explicit Fields(const sql::Statement& statement, int first = 0)
      : statement_(statement), next_(first) {}

  std::int64_t integer() { return statement_.integer(next_++); }
  std::optional<std::int64_t> maybe();
  std::string text() { return std::string(statement_.text(next_++)); }
  double real() { return statement_.real(next_++); }
  Time time() { return time_from_ms(integer()); }
  std::optional<Time> maybe_time();
  bool flag() { return integer() != 0; }
  template <typename Number>
  Number number(std::string_view column) {
    const std::int64_t value = integer();
    if (!std::in_range<Number>(value)) complain(column, value);
    return static_cast<Number>(value);
  }
  template <typename Enum>
  Enum word(std::string_view column) {
    const std::int64_t value = integer();
    if (value < 0 || value > UINT8_MAX || !is_known(static_cast<Enum>(value)))
      complain(column, value);
    return static_cast<Enum>(value);
  }
  void complain(std::string_view column, std::int64_t value);
  [[nodiscard]] const std::string& complaint() const { return complaint_; }

 private:
  const sql::Statement& statement_;
  int next_;
  std::string complaint_;
};

/// Calls `on_row(Fields&)` for each row of the query. An error that it returns ends the walk; it
/// may return nothing.
template <typename OnRow>
Result<> for_each_row(sql::Statement& query, OnRow on_row) {
  for (;;) {
    const auto row = query.step();
    if (!row) return fail(row);
    if (!*row) return {};
    Fields fields(query);
    if constexpr (std::is_void_v<decltype(on_row(fields))>) {
      on_row(fields);
    } else if (const Result<> done = on_row(fields); !done) {
      return done;
    }
  }
}

/// ARTEL_CAUSE_COLUMNS
Cause read_cause(Fields& fields);
/// ARTEL_JOB_COLUMNS; `excluded` gets the names.
void read_job(Fields& fields, Job& job, std::vector<std::string>& excluded);
/// Of a row of ARTEL_SELECT_JOB, but the tasks of an array. A complaint, or "".
std::string read_whole_job(const sql::Statement& row, Job& job, std::vector<std::string>& excluded);
/// ARTEL_ATTEMPT_COLUMNS
Attempt read_attempt(Fields& fields);

struct StoredPart {
  AttemptKey key;
  std::uint32_t index{};
  std::string node;
  NodePart part;  // without its share's node
};
/// ARTEL_PART_COLUMNS
StoredPart read_part(Fields& fields);

}  // namespace artel::ctld
