#include "ctld/store/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ctld/store/arrays.h"
#include "ctld/store/attempts.h"
#include "ctld/store/rows.h"
#include "ctld/store/schema.h"
#include "ctld/store/sql.h"
#include "ctld/store/usage.h"
#include "model/array_task.h"

namespace artel::ctld {
namespace {

#define ARTEL_IN_TIME "submitted_ms < ? AND (ended_ms IS NULL OR ended_ms >= ?)"

constexpr std::string_view kOneJob = ARTEL_SELECT_JOB "id = ?";
constexpr std::string_view kAllJobs = ARTEL_SELECT_JOB ARTEL_IN_TIME " ORDER BY id DESC";
constexpr std::string_view kJobsAfter = ARTEL_SELECT_JOB "id > ? ORDER BY id LIMIT ?";
constexpr std::string_view kTeamJobs =
    ARTEL_SELECT_JOB ARTEL_IN_TIME " AND team = ? ORDER BY id DESC";
// In two halves, as the index of users has the finished jobs only: a submission does not pay for
// it.
#define ARTEL_USER_IN_TIME \
  " AND user = ?3 AND submitted_ms < ?1 AND (ended_ms IS NULL OR ended_ms >= ?2)"
constexpr std::string_view kUserJobs =
    ARTEL_SELECT_JOB "final = 0" ARTEL_USER_IN_TIME " UNION ALL " ARTEL_SELECT_JOB
                     "final = 1" ARTEL_USER_IN_TIME " ORDER BY id DESC";

// CROSS JOIN keeps the order of tables: attempts by their end first, then their parts.
constexpr std::string_view kHeldParts =
    "SELECT part.job, part.task, part.attempt, user, team, queue, node, allocated_ms, "
    "part.ended_ms, attempt.ended_ms, gpu_count, cpus "
    "FROM attempt CROSS JOIN attempt_node AS part USING (job, task, attempt) JOIN job ON job.id = "
    "part.job "
    "WHERE allocated_ms < ? AND (attempt.ended_ms >= ? OR attempt.ended_ms IS NULL) "
    "ORDER BY part.job, part.task, part.attempt";

HeldPart read_held(Fields& fields) {
  HeldPart part;
  part.key.job = JobId{fields.number<std::uint64_t>("job")};
  part.key.task = TaskIndex{fields.number<std::uint32_t>("task")};
  part.key.attempt = AttemptNo{fields.number<std::uint32_t>("attempt")};
  part.user = fields.text();
  part.team = fields.text();
  part.queue = fields.text();
  part.node = fields.text();
  part.allocated = fields.time();
  part.part_ended = fields.maybe_time();
  part.attempt_ended = fields.maybe_time();
  part.gpus = fields.number<std::uint64_t>("gpu_count");
  part.cpus = fields.number<std::uint64_t>("cpus");
  return part;
}

bool matches(const Job& job, const HistoryFilter& filter) {
  return (filter.user.empty() || job.spec->owner.user == filter.user) &&
         (filter.team.empty() || job.spec->team == filter.team) && job.submitted_at < filter.to &&
         (!job.ended_at || *job.ended_at >= filter.from);
}

}  // namespace

class StoreReader::Impl {
 public:
  explicit Impl(std::unique_ptr<sql::Database> database) : database_(std::move(database)) {}

  Result<std::vector<HistoryJob>> history(const HistoryFilter& filter);
  Result<HistoryJob> show(JobId id);
  Result<EndedJobs> ended_before(Time cut, JobId after, std::size_t most);
  Result<std::vector<UsageRow>> usage(const UsageFilter& filter);
  [[nodiscard]] sql::Database& database() { return *database_; }

 private:
  /// A complaint instead of a job where the row cannot be understood.
  struct Found {
    Job job;
    std::string complaint;
  };
  static Found read(const sql::Statement& query);
  Result<std::vector<Job>> scan(const HistoryFilter& filter);
  Result<std::vector<Job>> pick(const HistoryFilter& filter);
  Result<std::optional<Found>> find(JobId id);
  Result<HistoryJob> show_task(JobId id);
  Result<HistoryJob> with_attempts(Job job, std::string& complaint);

  std::unique_ptr<sql::Database> database_;
};

StoreReader::Impl::Found StoreReader::Impl::read(const sql::Statement& query) {
  Found found;
  std::vector<std::string> excluded;
  found.complaint = read_whole_job(query, found.job, excluded);
  return found;
}

Result<HistoryJob> StoreReader::Impl::with_attempts(Job job, std::string& complaint) {
  if (is_array(job)) {
    auto tasks = read_array(*database_, job);
    if (!tasks) return fail(tasks);
    complaint = std::move(*tasks);
    return HistoryJob{std::move(job), {}};
  }
  auto stored = read_attempts(*database_, job.id, std::nullopt);
  if (!stored) return fail(stored);
  complaint = std::move(stored->complaint);
  return HistoryJob{std::move(job), std::move(stored->attempts)};
}

Result<std::vector<Job>> StoreReader::Impl::scan(const HistoryFilter& filter) {
  const bool by_user = !filter.user.empty();
  const bool by_team = !filter.team.empty();
  auto query = database_->prepare(by_user ? kUserJobs : by_team ? kTeamJobs : kAllJobs);
  if (!query) return fail(query);
  query->bind(to_ms(filter.to)).bind(to_ms(filter.from));
  if (by_user) {
    query->bind_text(filter.user);
  } else if (by_team) {
    query->bind_text(filter.team);
  }
  std::vector<Job> jobs;
  while (jobs.size() < filter.limit) {
    const auto row = query->step();
    if (!row) return fail(row);
    if (!*row) break;
    Found found = read(*query);
    if (found.complaint.empty() && matches(found.job, filter)) jobs.push_back(std::move(found.job));
  }
  return jobs;
}

Result<std::optional<StoreReader::Impl::Found>> StoreReader::Impl::find(JobId id) {
  auto query = database_->prepare(kOneJob);
  if (!query) return fail(query);
  const auto row = query->bind(static_cast<std::int64_t>(id.value)).step();
  if (!row) return fail(row);
  if (!*row) return std::optional<Found>{};
  return std::optional<Found>{read(*query)};
}

Result<std::vector<Job>> StoreReader::Impl::pick(const HistoryFilter& filter) {
  std::vector<JobId> ids = filter.jobs;
  std::sort(ids.begin(), ids.end(), std::greater<>{});
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  std::vector<Job> jobs;
  for (const JobId id : ids) {
    if (jobs.size() >= filter.limit) break;
    auto found = find(id);
    if (!found) return fail(found);
    if (*found && (*found)->complaint.empty() && matches((*found)->job, filter))
      jobs.push_back(std::move((*found)->job));
  }
  return jobs;
}

Result<std::vector<HistoryJob>> StoreReader::Impl::history(const HistoryFilter& filter) {
  auto moment = sql::Transaction::begin(*database_, "BEGIN");
  if (!moment) return fail(moment);
  auto jobs = filter.jobs.empty() ? scan(filter) : pick(filter);
  if (!jobs) return fail(jobs);
  std::vector<HistoryJob> history;
  for (Job& job : *jobs) {
    std::string complaint;
    auto whole = with_attempts(std::move(job), complaint);
    if (!whole) return fail(whole);
    if (complaint.empty()) history.push_back(std::move(*whole));
  }
  return history;
}

Result<HistoryJob> StoreReader::Impl::show(JobId id) {
  auto moment = sql::Transaction::begin(*database_, "BEGIN");
  if (!moment) return fail(moment);
  auto found = find(id);
  if (!found) return fail(found);
  if (!*found) return show_task(id);
  std::string complaint = std::move((*found)->complaint);
  if (complaint.empty()) {
    auto whole = with_attempts(std::move((*found)->job), complaint);
    if (!whole || complaint.empty()) return whole;
  }
  return fail(ErrorCode::kStorage, fmt::format("store {}: job {} cannot be read: {}",
                                               database_->path().string(), id.value, complaint));
}

/// A task that its array knows only.
Result<HistoryJob> StoreReader::Impl::show_task(JobId id) {
  const auto missing = fail(ErrorCode::kNotFound, fmt::format("there is no job {}", id.value));
  const auto array = array_before(*database_, id);
  if (!array) return fail(array);
  if (!*array) return missing;
  auto found = find(**array);
  if (!found) return fail(found);
  if (!*found || !(*found)->complaint.empty() || !is_array((*found)->job)) return missing;
  Job& job = (*found)->job;
  const auto tasks = read_array(*database_, job);
  if (!tasks) return fail(tasks);
  const auto task = tasks->empty() ? task_of_array(job, id) : nullptr;
  return task == nullptr ? Result<HistoryJob>(missing) : HistoryJob{*task, {}};
}

Result<EndedJobs> StoreReader::Impl::ended_before(Time cut, JobId after, std::size_t most) {
  auto moment = sql::Transaction::begin(*database_, "BEGIN");
  if (!moment) return fail(moment);
  EndedJobs ended{.jobs = {}, .last = after, .is_end = true};
  std::vector<Job> jobs;
  {
    auto query = database_->prepare(kJobsAfter);
    if (!query) return fail(query);
    query->bind(static_cast<std::int64_t>(after.value)).bind(static_cast<std::int64_t>(most));
    for (std::size_t seen = 0;; ++seen) {
      const auto row = query->step();
      if (!row) return fail(row);
      ended.is_end = !*row && seen < most;
      if (!*row) break;
      Found found = read(*query);
      ended.last = found.job.id;
      // Numbers follow time: whoever comes now was submitted later, and ended later still.
      ended.is_end = found.complaint.empty() && found.job.submitted_at >= cut;
      if (ended.is_end) break;
      if (found.complaint.empty() && is_final(found.job.state) && found.job.ended_at < cut)
        jobs.push_back(std::move(found.job));
    }
  }
  // An array goes last: its tasks share its spec.
  for (auto job = jobs.begin(); job != jobs.end();) {
    const auto is_needed = is_array(*job) ? has_tasks(*database_, job->id) : Result<bool>(false);
    if (!is_needed) return fail(is_needed);
    job = *is_needed ? jobs.erase(job) : std::next(job);
  }
  for (Job& job : jobs) {
    std::string complaint;
    auto whole = with_attempts(std::move(job), complaint);
    if (!whole) return fail(whole);
    if (complaint.empty()) ended.jobs.push_back(std::move(*whole));
  }
  return ended;
}

Result<std::vector<UsageRow>> StoreReader::Impl::usage(const UsageFilter& filter) {
  auto query = database_->prepare(kHeldParts);
  if (!query) return fail(query);
  query->bind(to_ms(filter.to)).bind(to_ms(filter.from));
  UsageSum sum(filter);
  const auto done = for_each_row(*query, [&](Fields& fields) -> Result<> {
    const HeldPart part = read_held(fields);
    if (!fields.complaint().empty())
      return fail(ErrorCode::kStorage,
                  fmt::format("store {}: attempt {} on {} cannot be counted: {}",
                              database_->path().string(), format_key(part.key), part.node,
                              fields.complaint()));
    sum.add(part);
    return {};
  });
  if (!done) return fail(done);
  return sum.rows();
}

StoreReader::StoreReader(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
StoreReader::~StoreReader() = default;

Result<std::vector<HistoryJob>> StoreReader::history(const HistoryFilter& filter) {
  return impl_->history(filter);
}

Result<HistoryJob> StoreReader::show(JobId job) { return impl_->show(job); }

Result<EndedJobs> StoreReader::ended_before(Time cut, JobId after, std::size_t most) {
  return impl_->ended_before(cut, after, most);
}

Result<std::vector<UsageRow>> StoreReader::usage(const UsageFilter& filter) {
  return impl_->usage(filter);
}

Result<std::unique_ptr<StoreReader>> open_reader(const std::filesystem::path& path) {
  auto database = sql::Database::open(path, sql::Access::kRead);
  if (!database) return fail(database);
  const auto kind = check_schema(**database);
  if (!kind) return fail(kind);
  if (*kind == StoreKind::kEmpty)
    return fail(ErrorCode::kStorage, fmt::format("store {} is empty", path.string()));
  if (*kind == StoreKind::kOlder)
    return fail(
        ErrorCode::kStorage,
        fmt::format("store {} is of an earlier version; artel-ctld brings it up to this one "
                    "at its start",
                    path.string()));
  return std::unique_ptr<StoreReader>(
      new StoreReader(std::make_unique<StoreReader::Impl>(std::move(*database))));
}

}  // namespace artel::ctld
