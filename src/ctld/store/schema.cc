#include "ctld/store/schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <system_error>
#include <utility>
#include <vector>

namespace artel::ctld {
namespace {

constexpr const char* kTables = R"sql(
CREATE TABLE meta (
  key TEXT NOT NULL PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE counter (
  name TEXT NOT NULL PRIMARY KEY,
  value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE job (
  id INTEGER PRIMARY KEY,
  owner_uid INTEGER NOT NULL,
  user TEXT NOT NULL,
  team TEXT NOT NULL,
  queue TEXT NOT NULL,
  project TEXT NOT NULL,
  name TEXT NOT NULL,
  kind INTEGER NOT NULL,
  priority INTEGER NOT NULL,
  array_size INTEGER NOT NULL,
  submitted_ms INTEGER NOT NULL,
  client_token TEXT NOT NULL,
  state INTEGER NOT NULL,
  final INTEGER NOT NULL,
  ended_ms INTEGER,
  wait_code INTEGER NOT NULL,
  wait_nodes_wanted INTEGER NOT NULL,
  wait_nodes_free INTEGER NOT NULL,
  wait_behind INTEGER NOT NULL,
  planned_start_ms INTEGER,
  cause_actor INTEGER NOT NULL,
  cause_code INTEGER NOT NULL,
  cause_name TEXT NOT NULL,
  cause_node TEXT NOT NULL,
  cause_rank INTEGER,
  cause_exit_code INTEGER NOT NULL,
  cause_signal INTEGER NOT NULL,
  cause_text TEXT NOT NULL,
  retries_application INTEGER NOT NULL,
  retries_node INTEGER NOT NULL,
  retries_launch INTEGER NOT NULL,
  last_attempt INTEGER NOT NULL,
  excluded_nodes TEXT NOT NULL
) STRICT;
CREATE INDEX job_active ON job (id) WHERE final = 0;
CREATE INDEX job_user ON job (user) WHERE final = 1;
CREATE TABLE job_spec (
  job INTEGER PRIMARY KEY,
  spec BLOB NOT NULL
) STRICT;
CREATE TABLE task (
  job INTEGER NOT NULL,
  task INTEGER NOT NULL,
  state INTEGER NOT NULL,
  final INTEGER NOT NULL,
  ended_ms INTEGER,
  last_attempt INTEGER NOT NULL,
  PRIMARY KEY (job, task)
) STRICT, WITHOUT ROWID;
CREATE TABLE component (
  job INTEGER NOT NULL,
  phase INTEGER NOT NULL,
  component INTEGER NOT NULL,
  nodes INTEGER NOT NULL,
  state INTEGER NOT NULL,
  PRIMARY KEY (job, phase, component)
) STRICT, WITHOUT ROWID;
CREATE TABLE attempt (
  job INTEGER NOT NULL,
  task INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  phase INTEGER NOT NULL DEFAULT 0,
  allocated_ms INTEGER NOT NULL,
  started_ms INTEGER,
  ended_ms INTEGER,
  limit_end_ms INTEGER,
  start_ordered INTEGER NOT NULL,
  master_port INTEGER NOT NULL,
  step_key BLOB NOT NULL,
  outcome INTEGER NOT NULL,
  cause_actor INTEGER NOT NULL,
  cause_code INTEGER NOT NULL,
  cause_name TEXT NOT NULL,
  cause_node TEXT NOT NULL,
  cause_rank INTEGER,
  cause_exit_code INTEGER NOT NULL,
  cause_signal INTEGER NOT NULL,
  cause_text TEXT NOT NULL,
  PRIMARY KEY (job, task, attempt)
) STRICT, WITHOUT ROWID;
CREATE INDEX attempt_ended ON attempt (ended_ms);
CREATE TABLE attempt_node (
  job INTEGER NOT NULL,
  task INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  node_index INTEGER NOT NULL,
  component INTEGER NOT NULL DEFAULT 0,
  node TEXT NOT NULL,
  gpus TEXT NOT NULL,
  gpu_count INTEGER NOT NULL,
  cpus INTEGER NOT NULL,
  memory_bytes INTEGER NOT NULL,
  whole_node INTEGER NOT NULL,
  phase INTEGER NOT NULL,
  port INTEGER NOT NULL,
  started_ms INTEGER,
  ended_ms INTEGER,
  cause_actor INTEGER NOT NULL,
  cause_code INTEGER NOT NULL,
  cause_name TEXT NOT NULL,
  cause_node TEXT NOT NULL,
  cause_rank INTEGER,
  cause_exit_code INTEGER NOT NULL,
  cause_signal INTEGER NOT NULL,
  cause_text TEXT NOT NULL,
  is_origin INTEGER NOT NULL,
  cpu_ms INTEGER NOT NULL,
  max_rss_bytes INTEGER NOT NULL,
  PRIMARY KEY (job, task, attempt, node_index)
) STRICT, WITHOUT ROWID;
CREATE TABLE node (
  name TEXT NOT NULL PRIMARY KEY,
  boot_id TEXT NOT NULL,
  strikes INTEGER NOT NULL,
  drained INTEGER NOT NULL,
  drain_reason TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE lease (
  holder_kind TEXT NOT NULL,
  holder TEXT NOT NULL,
  node TEXT NOT NULL,
  gpus TEXT NOT NULL,
  cpus INTEGER NOT NULL,
  memory_bytes INTEGER NOT NULL,
  whole_node INTEGER NOT NULL,
  from_ms INTEGER NOT NULL,
  until_ms INTEGER,
  PRIMARY KEY (holder_kind, holder, node)
) STRICT, WITHOUT ROWID;
CREATE TABLE event (
  id INTEGER PRIMARY KEY,
  at_ms INTEGER NOT NULL,
  kind TEXT NOT NULL,
  job INTEGER NOT NULL,
  actor TEXT NOT NULL,
  text TEXT NOT NULL
) STRICT;
)sql";

/// What each version added to the one before it, from version 2 on. New files go the same way.
constexpr std::array<const char*, kSchemaVersion - 1> kSteps = {R"sql(
ALTER TABLE job ADD COLUMN evictions INTEGER NOT NULL DEFAULT 0;
ALTER TABLE job ADD COLUMN backoff_until_ms INTEGER NOT NULL DEFAULT 0;
CREATE TABLE claim (
  job INTEGER NOT NULL,
  node TEXT NOT NULL,
  number INTEGER NOT NULL,
  gpus_milli INTEGER NOT NULL,
  cores INTEGER NOT NULL,
  memory_bytes INTEGER NOT NULL,
  devices INTEGER NOT NULL,
  PRIMARY KEY (job, node)
) STRICT, WITHOUT ROWID;
CREATE TABLE past (
  kind INTEGER NOT NULL,
  name TEXT NOT NULL,
  past REAL NOT NULL,
  at_ms INTEGER NOT NULL,
  PRIMARY KEY (kind, name)
) STRICT, WITHOUT ROWID;
)sql",
                                                                R"sql(
ALTER TABLE job ADD COLUMN retry_at_ms INTEGER;
ALTER TABLE job ADD COLUMN array INTEGER NOT NULL DEFAULT 0;
ALTER TABLE job ADD COLUMN task INTEGER NOT NULL DEFAULT 0;
CREATE INDEX job_array ON job (array) WHERE array <> 0;
CREATE TABLE array (
  job INTEGER PRIMARY KEY,
  waiting TEXT NOT NULL,
  held TEXT NOT NULL,
  completed INTEGER NOT NULL,
  cancelled INTEGER NOT NULL,
  failed INTEGER NOT NULL
) STRICT;
CREATE TABLE array_ended (
  job INTEGER NOT NULL,
  number INTEGER NOT NULL,
  tasks TEXT NOT NULL,
  state INTEGER NOT NULL,
  ended_ms INTEGER NOT NULL,
  cause_actor INTEGER NOT NULL,
  cause_code INTEGER NOT NULL,
  cause_name TEXT NOT NULL,
  cause_node TEXT NOT NULL,
  cause_rank INTEGER,
  cause_exit_code INTEGER NOT NULL,
  cause_signal INTEGER NOT NULL,
  cause_text TEXT NOT NULL,
  PRIMARY KEY (job, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE node_drain (
  node TEXT NOT NULL,
  source INTEGER NOT NULL,
  reason_class INTEGER NOT NULL,
  who TEXT NOT NULL,
  text TEXT NOT NULL,
  since_ms INTEGER NOT NULL,
  PRIMARY KEY (node, source)
) STRICT, WITHOUT ROWID;
CREATE TABLE node_strike (
  node TEXT NOT NULL,
  job INTEGER NOT NULL,
  at_ms INTEGER NOT NULL,
  PRIMARY KEY (node, job)
) STRICT, WITHOUT ROWID;
INSERT INTO node_drain SELECT name, 0, 0, 'artel-ctld', drain_reason, unixepoch() * 1000
  FROM node WHERE drained <> 0;
ALTER TABLE node DROP COLUMN strikes;
ALTER TABLE node DROP COLUMN drained;
ALTER TABLE node DROP COLUMN drain_reason;
ALTER TABLE node ADD COLUMN probe_port INTEGER NOT NULL DEFAULT 0;
ALTER TABLE node ADD COLUMN peers TEXT NOT NULL DEFAULT '';
INSERT INTO meta VALUES ('identity', lower(hex(randomblob(16))));
)sql"};

Result<> run_steps(sql::Database& database, std::int64_t from, std::int64_t to) {
  for (std::int64_t version = from + 1; version <= to; ++version)
    if (auto done = database.execute(kSteps.at(static_cast<std::size_t>(version - 2))); !done)
      return done;
  return {};
}

using Objects = std::vector<std::pair<std::string, std::string>>;

/// Name and text of every table and index, in a fixed order.
Result<Objects> objects(sql::Database& database) {
  auto query =
      database.prepare("SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name");
  if (!query) return fail(query);
  Objects found;
  while (true) {
    const auto row = query->step();
    if (!row) return fail(row);
    if (!*row) return found;
    found.emplace_back(query->text(0), query->text(1));
  }
}

Result<Objects> expected_objects() {
  auto model = sql::Database::open(":memory:", sql::Access::kCreate);
  if (!model) return fail(model);
  if (auto done = (*model)->execute(kTables); !done) return fail(done);
  if (auto done = run_steps(**model, 1, kSchemaVersion); !done) return fail(done);
  return objects(**model);
}

std::unexpected<Error> unusable(const sql::Database& database, std::string_view what) {
  return fail(ErrorCode::kStorage, fmt::format("store {}: {}", database.path().string(), what));
}

Result<std::int64_t> version_of(sql::Database& database) {
  auto text = database.word("SELECT value FROM meta WHERE key = 'schema_version'");
  if (!text) return fail(text);
  std::int64_t version = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), version);
  if (error != std::errc{} || end != text->data() + text->size() || version < 1)
    return unusable(database, "it has no schema version; restore the latest backup");
  if (version <= kSchemaVersion) return version;
  return unusable(
      database,
      fmt::format("its schema has version {}, this artel-ctld reads versions up to {}; it was left "
                  "untouched; start the artel-ctld that wrote it, or a later one",
                  version, kSchemaVersion));
}

}  // namespace

Result<StoreKind> check_schema(sql::Database& database) {
  const auto id = database.number("PRAGMA application_id");
  if (!id) return fail(id);
  const auto found = objects(database);
  if (!found) return fail(found);
  if (*id == 0 && found->empty()) return StoreKind::kEmpty;
  if (*id != kApplicationId)
    return unusable(database, "it is a database of another program; name another file");
  const auto version = version_of(database);
  if (!version) return fail(version);
  if (*version < kSchemaVersion) return StoreKind::kOlder;
  const auto expected = expected_objects();
  if (!expected) return fail(expected);
  for (const auto& object : *expected)
    if (std::find(found->begin(), found->end(), object) == found->end())
      return unusable(database, fmt::format("its table or index '{}' is missing or different; put "
                                            "it aside and restore the latest backup",
                                            object.first));
  return StoreKind::kReady;
}

Result<> create_schema(sql::Database& database, std::int64_t version) {
  auto transaction = sql::Transaction::begin(database, "BEGIN IMMEDIATE");
  if (!transaction) return fail(transaction);
  const std::string rows = fmt::format(
      "PRAGMA application_id = {};"
      "INSERT INTO meta VALUES ('schema_version', '{}');"
      "INSERT INTO counter VALUES ('incarnation', 0), ('last_job', 0);",
      kApplicationId, version);
  if (auto done = database.execute(kTables); !done) return fail(done);
  if (auto done = run_steps(database, 1, version); !done) return fail(done);
  if (auto done = database.execute(rows.c_str()); !done) return fail(done);
  return transaction->commit();
}

Result<> upgrade_schema(sql::Database& database) {
  auto transaction = sql::Transaction::begin(database, "BEGIN IMMEDIATE");
  if (!transaction) return fail(transaction);
  const auto version = version_of(database);
  if (!version) return fail(version);
  if (auto done = run_steps(database, *version, kSchemaVersion); !done) return fail(done);
  const std::string row =
      fmt::format("UPDATE meta SET value = '{}' WHERE key = 'schema_version';", kSchemaVersion);
  if (auto done = database.execute(row.c_str()); !done) return fail(done);
  const auto kind = check_schema(database);
  if (!kind) return fail(kind);
  return transaction->commit();
}

Result<> set_durability(sql::Database& database) {
  const auto mode = database.word("PRAGMA journal_mode = WAL");
  if (!mode) return fail(mode);
  if (*mode != "wal")
    return unusable(database,
                    fmt::format("its journal stays in mode '{}', but a write-ahead log is needed; "
                                "use a local file system",
                                *mode));
  if (auto done = database.execute("PRAGMA synchronous = FULL"); !done) return fail(done);
  const auto level = database.number("PRAGMA synchronous");
  if (!level) return fail(level);
  constexpr std::int64_t kFull = 2;
  if (*level != kFull)
    return unusable(database, fmt::format("'synchronous' is {} instead of FULL", *level));
  return {};
}

std::string_view network_file_system(std::uint64_t type) {
  // Magic numbers: statfs(2), linux/magic.h and, for the last two, the file systems' own sources.
  constexpr std::array<std::pair<std::uint64_t, std::string_view>, 8> kTypes = {
      {{0x6969, "NFS"},
       {0x517B, "SMB"},
       {0xFF534D42, "CIFS"},
       {0xFE534D42, "SMB2"},
       {0x00C36400, "Ceph"},
       {0x5346414F, "AFS"},
       {0x0BD00BD0, "Lustre"},
       {0x47504653, "GPFS"}}};
  for (const auto& [magic, name] : kTypes)
    if (magic == type) return name;
  return {};
}

}  // namespace artel::ctld
