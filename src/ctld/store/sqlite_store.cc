#include "ctld/store/sqlite_store.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/statfs.h>

#include <algorithm>
#include <array>
#include <optional>
#include <system_error>
#include <unordered_map>
#include <utility>

#include "base/assert.h"
#include "ctld/store/arrays.h"
#include "ctld/store/backup.h"
#include "ctld/store/disk_space.h"
#include "ctld/store/files.h"
#include "ctld/store/loader.h"
#include "ctld/store/lock_file.h"
#include "ctld/store/removal.h"
#include "ctld/store/rows.h"
#include "ctld/store/schema.h"
#include "ctld/store/sql.h"
#include "wire/step/types_wire.h"

namespace artel::ctld {
namespace {

constexpr std::string_view kInsertJob =
    "INSERT INTO job (id, owner_uid, user, team, queue, project, name, kind, priority, array_size, "
    "submitted_ms, client_token, array, task, " ARTEL_JOB_COLUMNS
    ") VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)";
constexpr std::string_view kUpdateJob =
    "UPDATE job SET (" ARTEL_JOB_COLUMNS
    ") = (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?) WHERE id = ?";
constexpr std::string_view kUpdateSpec = "UPDATE job SET name = ?, priority = ? WHERE id = ?";
constexpr std::string_view kUpdateSpecBlob = "UPDATE job_spec SET spec = ? WHERE job = ?";
constexpr std::string_view kInsertSpec = "INSERT INTO job_spec (job, spec) VALUES (?, ?)";
constexpr std::string_view kWriteAttempt = "INSERT OR REPLACE INTO attempt (" ARTEL_ATTEMPT_COLUMNS
                                           ") VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)";
constexpr std::string_view kWritePart =
    "INSERT OR REPLACE INTO attempt_node (" ARTEL_PART_COLUMNS
    ") VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)";
constexpr std::string_view kWriteNode =
    "INSERT OR REPLACE INTO node (name, boot_id, probe_port, peers) VALUES (?, ?, ?, ?)";
constexpr std::string_view kDropDrains = "DELETE FROM node_drain WHERE node = ?";
constexpr std::string_view kWriteDrain =
    "INSERT INTO node_drain (node, source, reason_class, who, text, since_ms) "
    "VALUES (?, ?, ?, ?, ?, ?)";
constexpr std::string_view kDropStrikes = "DELETE FROM node_strike WHERE node = ?";
constexpr std::string_view kWriteStrike =
    "INSERT INTO node_strike (node, job, at_ms) VALUES (?, ?, ?)";
constexpr std::string_view kWriteEvent =
    "INSERT INTO event (at_ms, kind, job, actor, text) VALUES (?, ?, ?, ?, ?)";
constexpr std::string_view kWritePast =
    "INSERT OR REPLACE INTO past (kind, name, past, at_ms) VALUES (?, ?, ?, ?)";
constexpr std::string_view kDropClaim = "DELETE FROM claim WHERE job = ?";
constexpr std::string_view kWriteClaim =
    "INSERT INTO claim (job, node, number, gpus_milli, cores, memory_bytes, devices) "
    "VALUES (?, ?, ?, ?, ?, ?, ?)";

std::int64_t number(JobId job) { return static_cast<std::int64_t>(job.value); }

Result<> check_file_system(const std::filesystem::path& path) {
  struct statfs status{};
  if (statfs(folder_of(path).c_str(), &status) != 0)
    return file_failed(path, "cannot look at its folder");
  const auto name = network_file_system(static_cast<std::uint32_t>(status.f_type));
  if (name.empty()) return {};
  return fail(
      ErrorCode::kStorage,
      fmt::format("store {}: it would lie on a network file system ({}), whose locks cannot "
                  "be relied on; name a folder on a local disk",
                  path.string(), name));
}

Result<StoreKind> look_at(const std::filesystem::path& path) {
  // Read-only: whatever is found there is left as it is.
  const auto database = sql::Database::open(path, sql::Access::kRead);
  if (!database) return fail(database);
  return check_schema(**database);
}

Result<> make_place(const std::filesystem::path& path, bool first_start) {
  std::error_code error;
  if (std::filesystem::exists(path, error)) return {};
  if (!first_start)
    return fail(ErrorCode::kStorage,
                fmt::format("store {} does not exist; if this cluster never ran before, start "
                            "artel-ctld with --first-start, else restore the latest backup",
                            path.string()));
  std::filesystem::create_directories(folder_of(path), error);
  if (error)
    return fail(ErrorCode::kStorage, fmt::format("cannot make folder {}: {}",
                                                 folder_of(path).string(), error.message()));
  return {};
}

/// The way back from an upgrade is the copy that was made and read before it.
Result<> upgrade(sql::Database& database) {
  const auto version = database.word("SELECT value FROM meta WHERE key = 'schema_version'");
  if (!version) return fail(version);
  const std::filesystem::path copy =
      fmt::format("{}.version-{}", database.path().string(), *version);
  if (auto done = copy_store(database.path(), copy); !done)
    return fail(done.error().code,
                fmt::format("{}; the store has version {} and was left as it is, since no copy of "
                            "it could be made before bringing it up to version {}",
                            done.error().text, *version, kSchemaVersion));
  return upgrade_schema(database);
}

}  // namespace

class SqliteStore::Impl {
 public:
  Impl(std::unique_ptr<sql::Database> database, LockFile lock, const StoreOptions& options)
      : database_(std::move(database)), lock_(std::move(lock)), options_(options) {
    sqlite3_wal_hook(
        database_->handle(),
        [](void* self, sqlite3*, const char*, int pages) {
          static_cast<Impl*>(self)->log_has(static_cast<std::uint32_t>(pages));
          return SQLITE_OK;
        },
        this);
  }

  void set_node_names(std::vector<std::string> names) {
    names_ = std::move(names);
    nodes_.clear();
    for (std::uint32_t i = 0; i < names_.size(); ++i) nodes_.emplace(names_[i], NodeId{i});
  }

  Result<StoredState> load();
  Result<> commit(const std::vector<StoreWrite>& rows);
  Result<> purge(const Purge& purge);
  Result<> idle();
  [[nodiscard]] const std::vector<SetAside>& set_aside() const { return set_aside_; }

 private:
  template <typename Write>
  auto with_room(Write write) -> decltype(write());
  void note_error();
  Result<std::int64_t> next_incarnation();
  Result<std::int64_t> count_start();
  Result<> write_batch(const std::vector<StoreWrite>& rows);
  Result<> write_all(const std::vector<StoreWrite>& rows);
  Result<> write(const JobRow& row);
  Result<> write_new(const Job& job);
  /// What of the spec of a stored job may change.
  Result<> write_spec(const Job& job);
  Result<> write(const AttemptRow& row);
  Result<> write(const NodeRow& row);
  Result<> write(const EventRow& row);
  Result<> write(const PastRow& row);
  Result<> write(const ClaimRow& row);
  Result<> write(const EndedTasksRow& row) { return write_ended_tasks(*database_, row); }
  Result<> write_job(const JobRow& row);
  Result<> write_drain(const std::string& node, const Drain& drain);
  Result<> write_part(const Attempt& attempt, std::size_t index);
  Result<> checkpoint();
  Result<> postpone_checkpoint();
  Result<> lengthen_log();
  void log_has(std::uint32_t pages) {
    if (pages < log_pages_) checkpoint_at_ = options_.checkpoint_pages;  // it has begun again
    log_pages_ = pages;
  }

  [[nodiscard]] const std::string& name_of(NodeId node) const {
    ARTEL_ASSERT(node.value < names_.size());
    return names_[node.value];
  }

  std::unique_ptr<sql::Database> database_;
  LockFile lock_;
  StoreOptions options_;
  std::vector<std::string> names_;
  std::unordered_map<std::string, NodeId> nodes_;
  const NameOf name_ = [this](NodeId node) -> const std::string& { return name_of(node); };
  std::vector<SetAside> set_aside_;
  /// Latest attempts as written: of a gang of 500 nodes only the parts that changed are written
  /// again.
  std::unordered_map<JobId, Attempt> written_;
  bool is_full_ = false;  // what the latest write failed for
  std::uint32_t log_pages_ = 0;
  std::uint32_t checkpoint_at_ = options_.checkpoint_pages;  // pages of the log
};

Result<StoredState> SqliteStore::Impl::load() {
  set_aside_.clear();
  const auto incarnation = with_room([this] { return next_incarnation(); });
  if (!incarnation) return fail(incarnation);
  // From now on the disk may run full: what the log has of it is there for ends.
  if (options_.space != nullptr)
    if (auto done = lengthen_log(); !done) return fail(done);
  // One transaction: each query outside of one takes and gives back locks of the file.
  const auto moment = sql::Transaction::begin(*database_, "BEGIN");
  if (!moment) return fail(moment);
  auto state =
      Loader(*database_, nodes_, set_aside_).load(options_.token_memory, options_.count_used);
  if (!state) return fail(state);
  state->incarnation = Incarnation{static_cast<std::uint64_t>(*incarnation)};
  for (const Job& job : state->jobs)
    if (job.attempt) written_.emplace(job.id, *job.attempt);
  return state;
}

Result<std::int64_t> SqliteStore::Impl::next_incarnation() {
  auto transaction = sql::Transaction::begin(*database_, "BEGIN IMMEDIATE");
  if (!transaction) {
    note_error();
    return fail(transaction);
  }
  auto number = count_start();
  const Result<> done = number ? transaction->commit() : fail(number);
  if (done) return number;
  note_error();
  return fail(done);
}

Result<std::int64_t> SqliteStore::Impl::count_start() {
  if (auto done =
          database_->execute("UPDATE counter SET value = value + 1 WHERE name = 'incarnation'");
      !done)
    return fail(done);
  return database_->number("SELECT value FROM counter WHERE name = 'incarnation'");
}

Result<> SqliteStore::Impl::commit(const std::vector<StoreWrite>& rows) {
  if (auto done = with_room([&] { return write_batch(rows); }); !done) return done;
  if (log_pages_ >= checkpoint_at_) return checkpoint();
  return {};
}

/// A write that found no room left nothing behind, unlike a sync that failed: with the reserve
/// given up it may be tried once more.
template <typename Write>
auto SqliteStore::Impl::with_room(Write write) -> decltype(write()) {
  is_full_ = false;
  auto done = write();
  if (done || !is_full_ || options_.space == nullptr || !options_.space->give_up_reserve())
    return done;
  // What was written of attempts is undone; the parts are written again.
  written_.clear();
  return write();
}

/// Remembers, before anything is undone, whether the error of the moment is a full disk.
void SqliteStore::Impl::note_error() {
  constexpr int kPrimary = 0xff;
  const int code = sqlite3_extended_errcode(database_->handle());
  is_full_ = (code & kPrimary) == SQLITE_FULL || code == SQLITE_IOERR_SHMSIZE;
}

Result<> SqliteStore::Impl::write_batch(const std::vector<StoreWrite>& rows) {
  auto transaction = sql::Transaction::begin(*database_, "BEGIN IMMEDIATE");
  if (!transaction) {
    note_error();
    return fail(transaction);
  }
  Result<> done = write_all(rows);
  if (done) done = transaction->commit();
  if (!done) note_error();
  return done;
}

Result<> SqliteStore::Impl::purge(const Purge& purge) {
  auto done = with_room([&]() -> Result<> {
    auto transaction = sql::Transaction::begin(*database_, "BEGIN IMMEDIATE");
    Result<> removed = transaction ? remove_rows(*database_, purge) : fail(transaction);
    if (removed) removed = transaction->commit();
    if (!removed) note_error();
    return removed;
  });
  if (done && log_pages_ >= checkpoint_at_) return checkpoint();
  return done;
}

Result<> SqliteStore::Impl::write_all(const std::vector<StoreWrite>& rows) {
  std::vector<JobId> finished;
  for (const StoreWrite& row : rows) {
    auto done = std::visit([this](const auto& one) { return write(one); }, row);
    if (!done) return done;
    const auto* job = std::get_if<JobRow>(&row);
    if (job != nullptr && is_final(job->job.state)) finished.push_back(job->job.id);
  }
  for (const JobId job : finished) written_.erase(job);
  return {};
}

Result<> SqliteStore::Impl::write(const JobRow& row) {
  if (auto done = write_job(row); !done || row.job.tasks == nullptr) return done;
  return write_array(*database_, row.job, row.is_new);
}

Result<> SqliteStore::Impl::write_job(const JobRow& row) {
  if (row.is_new) return write_new(row.job);
  auto update = database_->prepare(kUpdateJob);
  if (!update) return fail(update);
  bind_job(*update, row.job, name_);
  if (auto done = update->bind(number(row.job.id)).run(); !done) return done;
  if (database_->changes() == 1) return row.has_new_spec ? write_spec(row.job) : Result<>{};
  return fail(ErrorCode::kStorage, fmt::format("store {}: job {} is not there to be changed",
                                               database_->path().string(), row.job.id.value));
}

Result<> SqliteStore::Impl::write_spec(const Job& job) {
  auto update = database_->prepare(kUpdateSpec);
  if (!update) return fail(update);
  update->bind_text(job.spec->name).bind(job.spec->priority).bind(number(job.id));
  if (auto done = update->run(); !done) return done;
  auto blob = database_->prepare(kUpdateSpecBlob);
  if (!blob) return fail(blob);
  blob->bind_blob(wire::encode_spec(*job.spec)).bind(number(job.id));
  return blob->run();
}

Result<> SqliteStore::Impl::write_new(const Job& job) {
  ARTEL_ASSERT(job.spec != nullptr);
  const JobSpec& spec = *job.spec;
  auto insert = database_->prepare(kInsertJob);
  if (!insert) return fail(insert);
  insert->bind(number(job.id))
      .bind(spec.owner.uid)
      .bind_text(spec.owner.user)
      .bind_text(spec.team)
      .bind_text(spec.queue)
      .bind_text(spec.project)
      .bind_text(spec.name)
      .bind(static_cast<std::int64_t>(spec.kind))
      .bind(spec.priority)
      .bind(job.tasks == nullptr ? 1 : spec.array->indexes.size())
      .bind(to_ms(job.submitted_at))
      .bind_text(job.task ? "" : spec.client_token)  // the array's
      .bind(job.task ? number(job.task->array) : 0)
      .bind(job.task ? job.task->index.value : 0);
  bind_job(*insert, job, name_);
  if (auto done = insert->run(); !done || job.task) return done;
  auto insert_spec = database_->prepare(kInsertSpec);
  if (!insert_spec) return fail(insert_spec);
  insert_spec->bind(number(job.id)).bind_blob(wire::encode_spec(spec));
  return insert_spec->run();
}

Result<> SqliteStore::Impl::write(const AttemptRow& row) {
  const Attempt& attempt = row.attempt;
  auto insert = database_->prepare(kWriteAttempt);
  if (!insert) return fail(insert);
  bind_attempt(*insert, attempt);
  if (auto done = insert->run(); !done) return done;
  Attempt& before = written_[attempt.key.job];
  if (before.key != attempt.key) before.parts.clear();
  for (std::size_t i = 0; i < attempt.parts.size(); ++i) {
    if (i < before.parts.size() && before.parts[i] == attempt.parts[i]) continue;
    if (auto done = write_part(attempt, i); !done) return done;
  }
  before = attempt;
  return {};
}

Result<> SqliteStore::Impl::write_part(const Attempt& attempt, std::size_t index) {
  auto insert = database_->prepare(kWritePart);
  if (!insert) return fail(insert);
  bind_part(*insert, attempt.key, index, attempt.parts[index], name_);
  return insert->run();
}

Result<> SqliteStore::Impl::write(const NodeRow& row) {
  auto insert = database_->prepare(kWriteNode);
  if (!insert) return fail(insert);
  insert->bind_text(row.name)
      .bind_text(row.boot_id)
      .bind(row.probe_port)
      .bind_text(fmt::format("{}", fmt::join(row.peers, ",")));
  if (auto done = insert->run(); !done) return done;
  for (const std::string_view drop : {kDropDrains, kDropStrikes}) {
    auto old = database_->prepare(drop);
    if (!old) return fail(old);
    if (auto done = old->bind_text(row.name).run(); !done) return done;
  }
  for (const Drain& drain : row.drains)
    if (auto done = write_drain(row.name, drain); !done) return done;
  for (const Strike& strike : row.strikes) {
    auto one = database_->prepare(kWriteStrike);
    if (!one) return fail(one);
    one->bind_text(row.name).bind(number(strike.job)).bind(to_ms(strike.at));
    if (auto done = one->run(); !done) return done;
  }
  return {};
}

Result<> SqliteStore::Impl::write_drain(const std::string& node, const Drain& drain) {
  auto insert = database_->prepare(kWriteDrain);
  if (!insert) return fail(insert);
  return insert->bind_text(node)
      .bind(static_cast<std::int64_t>(drain.source))
      .bind(static_cast<std::int64_t>(drain.reason_class))
      .bind_text(drain.who)
      .bind_text(drain.text)
      .bind(to_ms(drain.since))
      .run();
}

Result<> SqliteStore::Impl::write(const EventRow& row) {
  auto insert = database_->prepare(kWriteEvent);
  if (!insert) return fail(insert);
  return insert->bind(to_ms(row.at))
      .bind_text(row.kind)
      .bind(number(row.job))
      .bind_text(row.actor)
      .bind_text(row.text)
      .run();
}

Result<> SqliteStore::Impl::write(const PastRow& row) {
  auto insert = database_->prepare(kWritePast);
  if (!insert) return fail(insert);
  return insert->bind(static_cast<std::int64_t>(row.of))
      .bind_text(row.name)
      .bind_real(row.past)
      .bind(to_ms(row.at))
      .run();
}

Result<> SqliteStore::Impl::write(const ClaimRow& row) {
  auto drop = database_->prepare(kDropClaim);
  if (!drop) return fail(drop);
  if (auto done = drop->bind(number(row.claim.job)).run(); !done) return done;
  for (const sched::Share& share : row.claim.shares) {
    auto insert = database_->prepare(kWriteClaim);
    if (!insert) return fail(insert);
    insert->bind(number(row.claim.job))
        .bind_text(name_of(share.node))
        .bind(static_cast<std::int64_t>(row.claim.number))
        .bind(share.gpus)
        .bind(share.cores)
        .bind(share.memory)
        .bind(static_cast<std::int64_t>(share.devices));
    if (auto done = insert->run(); !done) return done;
  }
  return {};
}

Result<> SqliteStore::Impl::idle() {
  constexpr std::uint32_t kWorthIt = 1000;  // SQLite's own default for automatic checkpoints
  const std::uint32_t moved = checkpoint_at_ - options_.checkpoint_pages;
  if (log_pages_ - moved >= std::min(kWorthIt, options_.checkpoint_pages)) {
    if (auto done = checkpoint(); !done) return done;
  }
  return lengthen_log();
}

/// Writes the log's file to its full size, once: zeros are no frames to SQLite, as what is left of
/// earlier rounds is none.
Result<> SqliteStore::Impl::lengthen_log() {
  constexpr std::int64_t kFrame = 4096 + 24;
  const std::int64_t whole = 32 + kFrame * std::int64_t{options_.checkpoint_pages};
  sqlite3_file* log = nullptr;
  const int found =
      sqlite3_file_control(database_->handle(), "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
  if (found != SQLITE_OK || log == nullptr || log->pMethods == nullptr) return {};
  sqlite3_int64 size = 0;
  if (const int code = log->pMethods->xFileSize(log, &size); code != SQLITE_OK)
    return database_->error(code);
  if (size >= whole) return {};
  const Bytes more{static_cast<std::uint64_t>(whole - size)};
  if (options_.space != nullptr && !options_.space->has_room(more)) return {};
  static constexpr std::array<char, std::size_t{1} << 16U> kZeros{};
  while (size < whole) {
    const auto bytes = std::min<std::int64_t>(kZeros.size(), whole - size);
    const int code = log->pMethods->xWrite(log, kZeros.data(), static_cast<int>(bytes), size);
    // Without room for it commits are slower, and may still find room for themselves.
    if (code != SQLITE_OK) return {};
    size += bytes;
  }
  const int code = log->pMethods->xSync(log, SQLITE_SYNC_NORMAL);
  return code == SQLITE_OK ? Result<>{} : database_->error(code);
}

/// What is in the log is durable there: it grows on until there is room in the store.
Result<> SqliteStore::Impl::postpone_checkpoint() {
  constexpr std::uint32_t kParts = 8;
  if (options_.space != nullptr) options_.space->give_up_reserve();
  checkpoint_at_ = log_pages_ + std::max(options_.checkpoint_pages / kParts, 1U);
  return {};
}

Result<> SqliteStore::Impl::checkpoint() {
  int in_log = 0;
  int moved = 0;
  // Passive: never waits for readers; what they still need is moved the next time.
  const int code = sqlite3_wal_checkpoint_v2(database_->handle(), nullptr,
                                             SQLITE_CHECKPOINT_PASSIVE, &in_log, &moved);
  constexpr int kPrimary = 0xff;
  if ((code & kPrimary) == SQLITE_FULL) return postpone_checkpoint();
  if (code != SQLITE_OK && code != SQLITE_BUSY) return database_->error(code);
  if (code == SQLITE_BUSY || in_log < 0) return {};
  // A reader that needs them keeps the log from beginning again: it grows on until the next try.
  log_pages_ = static_cast<std::uint32_t>(in_log);
  checkpoint_at_ = log_pages_ + options_.checkpoint_pages;
  return {};
}

SqliteStore::SqliteStore(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
SqliteStore::~SqliteStore() = default;

void SqliteStore::set_node_names(std::vector<std::string> names) {
  impl_->set_node_names(std::move(names));
}

Result<StoredState> SqliteStore::load() { return impl_->load(); }

Result<> SqliteStore::commit(const std::vector<StoreWrite>& rows) { return impl_->commit(rows); }

Result<> SqliteStore::purge(const Purge& purge) { return impl_->purge(purge); }

Result<> SqliteStore::idle() { return impl_->idle(); }

const std::vector<SetAside>& SqliteStore::set_aside() const { return impl_->set_aside(); }

Result<std::unique_ptr<SqliteStore>> open_store(const std::filesystem::path& path,
                                                const StoreOptions& options) {
  if (auto done = make_place(path, options.first_start); !done) return fail(done);
  if (auto done = check_file_system(path); !done) return fail(done);
  auto lock = LockFile::take(path.string() + ".lock");
  if (!lock) return fail(lock);
  if (options.space != nullptr) options.space->begin();  // whose the lock is, his is the reserve
  std::error_code error;
  if (!std::filesystem::exists(path, error))
    if (auto done = create_private_file(path); !done) return fail(done);
  const auto kind = look_at(path);
  if (!kind) return fail(kind);
  if (*kind == StoreKind::kEmpty && !options.first_start)
    return fail(ErrorCode::kStorage,
                fmt::format("store {} is empty; if this cluster never ran before, start artel-ctld "
                            "with --first-start, else restore the latest backup",
                            path.string()));
  auto database = sql::Database::open(path, sql::Access::kWrite);
  if (!database) return fail(database);
  if (auto done = set_durability(**database); !done) return fail(done);
  if (auto done =
          (*database)->execute("PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = -65536;");
      !done)
    return fail(done);
  if (*kind == StoreKind::kEmpty)
    if (auto done = create_schema(**database); !done) return fail(done);
  if (*kind == StoreKind::kOlder)
    if (auto done = upgrade(**database); !done) return fail(done);
  return std::unique_ptr<SqliteStore>(new SqliteStore(
      std::make_unique<SqliteStore::Impl>(std::move(*database), std::move(*lock), options)));
}

}  // namespace artel::ctld
