// What a start reads: jobs that are not final, nodes, counters, tokens.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "ctld/core/store.h"
#include "ctld/store/records.h"
#include "ctld/store/rows.h"
#include "ctld/store/sql.h"

namespace artel::ctld {

/// What ended attempts used by team, in thousandths of GPUs x ms; " AND ..." and " GROUP BY
/// job.team" follow.
#define ARTEL_SELECT_USED                                                                        \
  "SELECT job.team, sum(1000.0 * gpu_count * max(0, min(coalesce(n.ended_ms, a.ended_ms), "      \
  "a.ended_ms) - a.allocated_ms)) AS used FROM attempt a JOIN attempt_node n USING (job, task, " \
  "attempt) JOIN job ON job.id = a.job WHERE a.ended_ms IS NOT NULL"
/// With a team's name behind: the counter of what its removed jobs used.
#define ARTEL_USED_COUNTER "used:"

/// Reads everything but the incarnation. Jobs that cannot be understood are left out and told in
/// `set_aside`.
class Loader {
 public:
  Loader(sql::Database& database, const std::unordered_map<std::string, NodeId>& nodes,
         std::vector<SetAside>& set_aside)
      : database_(database), nodes_(nodes), set_aside_(set_aside) {}

  /// Tokens come back of the jobs submitted at most `token_memory` before the last one.
  Result<StoredState> load(Duration token_memory, bool count_used);

 private:
  Result<> load_lost(StoredState& state);
  Result<> load_latest(StoredState& state);
  Result<> load_jobs(StoredState& state);
  Result<std::vector<JobId>> live_ids();
  Result<std::vector<JobId>> ids_by(std::string_view query);
  /// False: set aside.
  Result<bool> load_job(JobId id, Job& job);
  Result<std::string> load_attempt(Job& job);
  /// False: one of its nodes is not configured.
  bool map_nodes(Attempt& attempt, const std::vector<std::string>& names, bool is_open);
  Result<> load_nodes(StoredState& state);
  Result<> load_drains(StoredState& state);
  void read_drain(Fields& fields, StoredState& state);
  void drain_unread(StoredState& state);
  Result<> load_strikes(StoredState& state);
  /// The node's row, made where there was none.
  static NodeRow& node_row(StoredState& state, const std::string& name);
  /// Notes damage of a table from which a start may do without some rows; other errors stay.
  Result<> tolerate(Result<> done, std::string_view kind, std::string_view name,
                    std::string_view meaning);
  Result<> load_past(StoredState& state);
  Result<> load_claims(StoredState& state);
  Result<> load_used(StoredState& state);
  Result<> add_removed_use(StoredState& state);
  Result<> load_used_by_job(StoredState& state);
  Result<> load_tokens(StoredState& state, Duration memory);

  sql::Database& database_;
  const std::unordered_map<std::string, NodeId>& nodes_;
  std::vector<SetAside>& set_aside_;
  std::vector<std::string> missing_nodes_;  // that attempts hold which have not ended
  std::string missing_example_;
};

}  // namespace artel::ctld
