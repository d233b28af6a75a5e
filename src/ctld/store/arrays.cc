#include "ctld/store/arrays.h"

#include <fmt/format.h>

#include <memory>
#include <string_view>
#include <utility>

#include "ctld/store/rows.h"

namespace artel::ctld {
namespace {

constexpr std::string_view kWriteArray =
    "INSERT OR REPLACE INTO array (job, waiting, held, completed, cancelled, failed) VALUES "
    "(?,?,?,?,?,?)";
// Its numbers are given out although they have no rows yet.
constexpr std::string_view kReserve =
    "UPDATE counter SET value = max(value, ?) WHERE name = 'last_job'";
constexpr std::string_view kWriteEnded =
    "INSERT OR REPLACE INTO array_ended (job, number, tasks, state, ended_ms, " ARTEL_CAUSE_COLUMNS
    ") VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)";
constexpr std::string_view kReadArray =
    "SELECT waiting, held, completed, cancelled, failed FROM array WHERE job = ?";
constexpr std::string_view kReadEnded = "SELECT tasks, state, ended_ms, " ARTEL_CAUSE_COLUMNS
                                        " FROM array_ended WHERE job = ? ORDER BY number";

std::int64_t number(JobId job) { return static_cast<std::int64_t>(job.value); }

/// Some of the indexes; none as "".
Result<IndexSet> read_set(const std::string& text, const IndexSet& all) {
  if (text.empty()) return IndexSet{};
  auto set = IndexSet::parse(text, kMostArrayTasks);
  if (!set) return set;
  if (const auto strange = set->first_beyond(all))
    return fail(ErrorCode::kStorage, fmt::format("{} is no task of it", *strange));
  return set;
}

Result<std::string> read_sets(sql::Database& database, const Job& array, ArrayTasks& tasks) {
  auto query = database.prepare(kReadArray);
  if (!query) return fail(query);
  const auto row = query->bind(number(array.id)).step();
  if (!row) return fail(row);
  if (!*row) return std::string("the row of its tasks is missing");
  Fields fields(*query);
  const IndexSet& all = array.spec->array->indexes;
  auto waiting = read_set(fields.text(), all);
  if (!waiting) return "waiting tasks: " + waiting.error().text;
  auto held = read_set(fields.text(), all);
  if (!held) return "held tasks: " + held.error().text;
  if (!held->within(*waiting).empty()) return std::string("a task waits and is held");
  tasks.waiting = std::move(*waiting);
  tasks.held = std::move(*held);
  tasks.completed = fields.number<std::uint32_t>("completed");
  tasks.cancelled = fields.number<std::uint32_t>("cancelled");
  tasks.failed = fields.number<std::uint32_t>("failed");
  return fields.complaint();
}

}  // namespace

Result<> write_array(sql::Database& database, const Job& array, bool is_new) {
  const ArrayTasks& tasks = *array.tasks;
  auto write = database.prepare(kWriteArray);
  if (!write) return fail(write);
  write->bind(number(array.id))
      .bind_text(tasks.waiting.text())
      .bind_text(tasks.held.text())
      .bind(tasks.completed)
      .bind(tasks.cancelled)
      .bind(tasks.failed);
  if (auto done = write->run(); !done || !is_new) return done;
  auto reserve = database.prepare(kReserve);
  if (!reserve) return fail(reserve);
  return reserve->bind(number(array.id) + array.spec->array->indexes.size()).run();
}

Result<> write_ended_tasks(sql::Database& database, const EndedTasksRow& row) {
  auto write = database.prepare(kWriteEnded);
  if (!write) return fail(write);
  write->bind(number(row.array))
      .bind(row.number)
      .bind_text(row.ended.tasks.text())
      .bind(static_cast<std::int64_t>(row.ended.state))
      .bind(to_ms(row.ended.ended_at));
  bind_cause(*write, row.ended.cause);
  return write->run();
}

Result<std::string> read_array(sql::Database& database, Job& array) {
  auto tasks = std::make_shared<ArrayTasks>();
  auto complaint = read_sets(database, array, *tasks);
  if (!complaint || !complaint->empty()) return complaint;
  auto query = database.prepare(kReadEnded);
  if (!query) return fail(query);
  query->bind(number(array.id));
  auto done = for_each_row(*query, [&](Fields& fields) {
    EndedTasks ended;
    auto set = read_set(fields.text(), array.spec->array->indexes);
    if (!set && complaint->empty()) *complaint = "ended tasks: " + set.error().text;
    if (set) ended.tasks = std::move(*set);
    ended.state = fields.word<JobState>("state");
    ended.ended_at = fields.time();
    ended.cause = read_cause(fields);
    if (complaint->empty()) *complaint = fields.complaint();
    tasks->ended.push_back(std::move(ended));
  });
  if (!done) return fail(done);
  array.tasks = std::move(tasks);
  return complaint;
}

Result<std::optional<JobId>> array_before(sql::Database& database, JobId id) {
  auto query = database.prepare("SELECT job FROM array WHERE job < ? ORDER BY job DESC LIMIT 1");
  if (!query) return fail(query);
  const auto row = query->bind(number(id)).step();
  if (!row) return fail(row);
  if (!*row) return std::optional<JobId>{};
  return std::optional<JobId>(JobId{static_cast<std::uint64_t>(query->integer(0))});
}

Result<bool> has_tasks(sql::Database& database, JobId array) {
  auto query = database.prepare("SELECT 1 FROM job WHERE array = ?1 AND array <> 0 LIMIT 1");
  if (!query) return fail(query);
  return query->bind(number(array)).step();
}

}  // namespace artel::ctld
