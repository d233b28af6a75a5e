// Stores of every released schema, kept as the text of a dump under stores/: each must be brought
// up to the present version with all that it holds.
#include <fmt/format.h>

#include <fstream>
#include <sstream>

#include "ctld/store/backup.h"
#include "ctld/store/reader.h"
#include "ctld/store/schema.h"
#include "support.h"

using namespace artel;
using namespace artel::ctld;
using namespace artel::ctld::testing;

namespace {

std::filesystem::path kept_text(std::int64_t version) {
  return std::filesystem::path(ARTEL_KEPT_STORES) / fmt::format("v{}.sql", version);
}

/// The file as the controller of that version left it.
void restore_kept(std::int64_t version, const std::filesystem::path& file) {
  std::ifstream in(kept_text(version));
  INFO(kept_text(version));
  REQUIRE(in);
  std::ostringstream text;
  text << in.rdbuf();
  tamper(file, text.str());
}

std::int64_t version_of(const std::filesystem::path& file) {
  const auto database = sql::Database::open(file, sql::Access::kRead);
  REQUIRE(database);
  const auto version = (*database)->word("SELECT value FROM meta WHERE key = 'schema_version'");
  REQUIRE(version);
  return std::stoll(*version);
}

std::filesystem::path copy_of(const std::filesystem::path& file, std::int64_t version) {
  return fmt::format("{}.version-{}", file.string(), version);
}

/// What the kept stores hold: a job that waits, one that runs, one that ended, a drained node.
void fill(SqliteStore& store) {
  load(store);
  Job runs = a_job(2);
  Job ended = a_job(3);
  ended.spec = runs.spec;
  commit(store, {JobRow{a_job(1), true}, JobRow{runs, true}, JobRow{ended, true}});
  commit(store, placed(runs, an_attempt(runs, {0, 2})));
  Attempt over = an_attempt(ended, {1});
  commit(store, placed(ended, over));
  over.ended_at = at(40);
  over.outcome = JobState::kFailed;
  over.parts[0].phase = NodePhase::kEnded;
  over.parts[0].end = NodeEnd{at(10), at(40), {}, true, 2'000, Bytes{4096}};
  ended.state = JobState::kFailed;
  ended.ended_at = at(40);
  ended.cause = {Actor::kApplication, CauseCode::kExit, "alice", "n2", 0, 3, 0, "exit code 3"};
  commit(store,
         {JobRow{ended, false}, AttemptRow{over},
          NodeRow{"n4", "boot-4", {{JobId{3}, at(40)}}, {{.who = "op", .text = "broken fan"}}},
          EventRow{at(40), "end", JobId{3}, "n2", "exit code 3"}});
}

/// The statements that make the file again.
std::string dump(const std::filesystem::path& file) {
  const auto database = sql::Database::open(file, sql::Access::kRead);
  REQUIRE(database);
  std::string text = fmt::format("PRAGMA application_id = {};\n", kApplicationId);
  std::vector<std::string> tables;
  sqlite3_stmt* query = nullptr;
  const auto rows = [&](const std::string& sql, const auto& on_row) {
    REQUIRE(sqlite3_prepare_v2((*database)->handle(), sql.c_str(), -1, &query, nullptr) ==
            SQLITE_OK);
    while (sqlite3_step(query) == SQLITE_ROW) on_row();
    sqlite3_finalize(query);
  };
  const auto word = [&](int column) {
    return std::string(reinterpret_cast<const char*>(sqlite3_column_text(query, column)));
  };
  rows("SELECT sql, name, type FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid", [&] {
    text += word(0) + ";\n";
    if (word(2) == "table") tables.push_back(word(1));
  });
  for (const std::string& table : tables) {
    std::string columns;
    rows(fmt::format("SELECT name FROM pragma_table_info('{}')", table), [&] {
      columns += fmt::format("{}quote({})", columns.empty() ? "" : " || ',' || ", word(0));
    });
    rows(fmt::format("SELECT {} FROM {}", columns, table),
         [&] { text += fmt::format("INSERT INTO {} VALUES ({});\n", table, word(0)); });
  }
  return text;
}

}  // namespace

TEST_CASE("a store of every earlier version is brought up to date with all that it holds") {
  for (std::int64_t version = 1; version <= kSchemaVersion; ++version) {
    // The present version gets its text when it is released.
    if (version == kSchemaVersion && !std::filesystem::exists(kept_text(version))) continue;
    INFO("version " << version);
    const Folder folder;
    restore_kept(version, folder.file());
    {
      auto store = open_store(folder.file(), {});
      INFO((store ? "" : store.error().text));
      REQUIRE(store);
      (*store)->set_node_names({"n1", "n2", "n3", "n4"});
      const StoredState state = load(**store);
      CHECK((*store)->set_aside().empty());
      REQUIRE(state.jobs.size() == 2);
      CHECK(*state.jobs[0].spec == a_spec());
      REQUIRE(state.jobs[1].attempt);
      CHECK(state.jobs[1].attempt->parts.size() == 2);
      CHECK(state.jobs[1].attempt->step_key == std::string("\0secret", 7));
      CHECK(state.last_job == JobId{3});
      CHECK(state.incarnation.value == 2);
      REQUIRE(state.nodes.size() == 1);
      REQUIRE(state.nodes[0].drains.size() == 1);
      CHECK(state.nodes[0].drains[0].text == "broken fan");
      commit(**store, {JobRow{a_job(4), true}});
    }
    CHECK(version_of(folder.file()) == kSchemaVersion);
    const auto reader = open_reader(folder.file());
    REQUIRE(reader);
    CHECK((*reader)->show(JobId{3})->job.cause.exit_code == 3);
  }
}

TEST_CASE("before a store is brought up to date a copy of it is made and read") {
  const Folder folder;
  restore_kept(1, folder.file());
  REQUIRE(open_store(folder.file(), {}));
  CHECK(version_of(folder.file()) == kSchemaVersion);
  CHECK(version_of(copy_of(folder.file(), 1)) == 1);
  CHECK(verify_store(copy_of(folder.file(), 1)));
}

TEST_CASE("a store of which no copy can be made stays at its version") {
  const Folder folder;
  restore_kept(1, folder.file());
  const auto copy = copy_of(folder.file(), 1);
  SECTION("because the copy's place is taken") {
    std::filesystem::create_directories(copy / "something");
  }
  SECTION("because it is damaged where no start looks") {
    tamper(folder.file(),
           "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET rootpage = "
           "(SELECT rootpage FROM sqlite_schema WHERE name = 'event') WHERE name = 'job_user';");
  }
  const auto store = open_store(folder.file(), {});
  REQUIRE_FALSE(store);
  CHECK(has(store.error().text, "left as it is"));
  CHECK(version_of(folder.file()) == 1);
  CHECK_FALSE(std::filesystem::is_regular_file(copy));
  CHECK_FALSE(std::filesystem::exists(copy.string() + ".new"));
}

TEST_CASE("a step that fails leaves the store at its version") {
  const Folder folder;
  restore_kept(1, folder.file());
  tamper(folder.file(), "CREATE TABLE claim (colour TEXT);");  // in the way of the step
  REQUIRE_FALSE(open_store(folder.file(), {}));
  CHECK(version_of(folder.file()) == 1);
  const auto database = sql::Database::open(folder.file(), sql::Access::kRead);
  REQUIRE(database);
  CHECK(*(*database)->number(
            "SELECT count(*) FROM pragma_table_info('job') WHERE name = 'evictions'") == 0);
}

// For a new version: `unit_store '[.kept]'` writes what this version stores to be kept.
TEST_CASE("what this version stores is written down", "[.kept]") {
  const Folder folder;
  fill(*open_new(folder.file()));
  REQUIRE_FALSE(std::filesystem::exists(kept_text(kSchemaVersion)));
  std::ofstream(kept_text(kSchemaVersion)) << dump(folder.file());
}
