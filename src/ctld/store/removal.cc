#include "ctld/store/removal.h"

#include <optional>
#include <string_view>

#include "ctld/store/loader.h"

namespace artel::ctld {
namespace {

/// Events that leave in one step: a job leaves about four.
constexpr std::int64_t kEventsInStep = 500;

std::int64_t number(JobId job) { return static_cast<std::int64_t>(job.value); }

Result<> run_for(sql::Database& database, std::string_view statement, std::int64_t value) {
  auto prepared = database.prepare(statement);
  if (!prepared) return fail(prepared);
  return prepared->bind(value).run();
}

/// False: it is not final, not there, or the array of tasks that are.
Result<bool> is_removable(sql::Database& database, JobId job) {
  auto query = database.prepare(
      "SELECT 1 FROM job WHERE id = ?1 AND final = 1 AND NOT EXISTS "
      "(SELECT 1 FROM job AS task WHERE task.array = ?1 AND task.array <> 0)");
  if (!query) return fail(query);
  return query->bind(number(job)).step();
}

/// Budgets count what removed jobs used.
Result<> keep_used(sql::Database& database, JobId job) {
  auto keep = database.prepare(
      "INSERT INTO counter (name, value) SELECT '" ARTEL_USED_COUNTER
      "' || team, CAST(used AS INTEGER) FROM (" ARTEL_SELECT_USED
      " AND a.job = ? GROUP BY job.team) WHERE true ON CONFLICT (name) DO UPDATE SET value = value "
      "+ excluded.value");
  if (!keep) return fail(keep);
  return keep->bind(number(job)).run();
}

Result<> remove_job(sql::Database& database, JobId job) {
  const auto removable = is_removable(database, job);
  if (!removable) return fail(removable);
  if (!*removable) return {};
  if (auto done = keep_used(database, job); !done) return done;
  if (auto done =
          run_for(database, "UPDATE counter SET value = max(value, ?) WHERE name = 'last_job'",
                  number(job));
      !done)
    return done;
  for (const std::string_view statement :
       {"DELETE FROM attempt_node WHERE job = ?", "DELETE FROM attempt WHERE job = ?",
        "DELETE FROM task WHERE job = ?", "DELETE FROM component WHERE job = ?",
        "DELETE FROM claim WHERE job = ?", "DELETE FROM array WHERE job = ?",
        "DELETE FROM array_ended WHERE job = ?", "DELETE FROM job_spec WHERE job = ?",
        "DELETE FROM job WHERE id = ?"})
    if (auto done = run_for(database, statement, number(job)); !done) return done;
  return {};
}

/// Numbers of events follow time, so the walk from the oldest ends at the first that stays.
Result<> remove_events(sql::Database& database, Time before) {
  std::optional<std::int64_t> last;
  {
    auto query = database.prepare("SELECT id, at_ms FROM event ORDER BY id LIMIT ?");
    if (!query) return fail(query);
    query->bind(kEventsInStep);
    for (;;) {
      const auto row = query->step();
      if (!row) return fail(row);
      if (!*row || query->integer(1) >= to_ms(before)) break;
      last = query->integer(0);
    }
  }
  if (!last) return {};
  return run_for(database, "DELETE FROM event WHERE id <= ?", *last);
}

}  // namespace

Result<> remove_rows(sql::Database& database, const Purge& purge) {
  for (const JobId job : purge.jobs)
    if (auto done = remove_job(database, job); !done) return done;
  return remove_events(database, purge.events_before);
}

}  // namespace artel::ctld
