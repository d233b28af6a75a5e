#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <fstream>
#include <sstream>

#include "ctld/store/reader.h"
#include "ctld/store/schema.h"
#include "support.h"

using namespace artel;
using namespace artel::ctld;
using namespace artel::ctld::testing;

namespace {

std::string refusal(const std::filesystem::path& file, bool first_start = false) {
  const auto store = open_store(file, {.first_start = first_start});
  REQUIRE_FALSE(store);
  CHECK(store.error().code == ErrorCode::kStorage);
  return store.error().text;
}

std::string bytes_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

std::string ask(const std::filesystem::path& file, const std::string& query) {
  sqlite3* database = nullptr;
  REQUIRE(sqlite3_open(file.c_str(), &database) == SQLITE_OK);
  std::string answer;
  sqlite3_exec(
      database, query.c_str(),
      [](void* out, int, char** values, char**) {
        *static_cast<std::string*>(out) = values[0];
        return 0;
      },
      &answer, nullptr);
  sqlite3_close(database);
  return answer;
}

std::string host_name() {
  std::array<char, 256> name{};
  REQUIRE(gethostname(name.data(), name.size() - 1) == 0);
  return name.data();
}

std::string later_version() { return std::to_string(kSchemaVersion + 1); }

}  // namespace

TEST_CASE("a missing store is an error unless a first start is asked for by name") {
  const Folder folder;
  const std::string error = refusal(folder.file());
  CHECK(has(error, folder.file().string()));
  CHECK(has(error, "--first-start"));
  CHECK_FALSE(std::filesystem::exists(folder.file()));
  CHECK_FALSE(std::filesystem::exists(folder.file().string() + ".lock"));
}

TEST_CASE("a first start makes a store that later starts open") {
  const Folder folder;
  const auto file = folder.file().parent_path() / "deeper" / "state.db";
  open_new(file);
  CHECK(open_store(file, {}));
  CHECK(open_store(file, {.first_start = true}));
}

TEST_CASE("an empty file is no store that was here before") {
  const Folder folder;
  std::ofstream(folder.file()).flush();
  CHECK(has(refusal(folder.file()), "is empty"));
  open_new(folder.file());  // a first start that was interrupted
}

TEST_CASE("a store is readable by its owner only") {
  const Folder folder;
  const auto store = open_new(folder.file());
  commit(*store, {JobRow{a_job(1), true}});
  for (const char* suffix : {"", "-wal", "-shm", ".lock"}) {
    struct stat status{};
    INFO(suffix);
    REQUIRE(stat((folder.file().string() + suffix).c_str(), &status) == 0);
    CHECK((status.st_mode & 0777U) == 0600U);
  }
}

TEST_CASE("a store commits through a write-ahead log with every commit synced") {
  const Folder folder;
  auto database = sql::Database::open(folder.file(), sql::Access::kCreate);
  REQUIRE(database);
  REQUIRE(set_durability(**database));
  CHECK(*(*database)->word("PRAGMA journal_mode") == "wal");
  CHECK(*(*database)->number("PRAGMA synchronous") == 2);
}

TEST_CASE("durability that cannot be had is an error") {
  auto database = sql::Database::open(":memory:", sql::Access::kCreate);  // has no write-ahead log
  REQUIRE(database);
  const auto done = set_durability(**database);
  REQUIRE_FALSE(done);
  CHECK(has(done.error().text, "write-ahead log is needed"));
}

TEST_CASE(
    "a second controller on the same store is refused with the first one's process, host and "
    "time") {
  const Folder folder;
  const auto store = open_new(folder.file());
  const std::string error = refusal(folder.file());
  CHECK(has(error, "in use by process " + std::to_string(getpid()) + " on host " + host_name() +
                       " since 20"));
  CHECK(has(error, folder.file().string() + ".lock"));
}

TEST_CASE("a controller that is gone leaves no lock behind") {
  const Folder folder;
  open_new(folder.file());
  CHECK(std::filesystem::exists(folder.file().string() + ".lock"));
  CHECK(open_store(folder.file(), {}));
}

TEST_CASE("a store of a later version is refused and left untouched") {
  const Folder folder;
  open_new(folder.file());
  tamper(folder.file(), "UPDATE meta SET value = '" + later_version() + "';");
  const std::string before = bytes_of(folder.file());
  const std::string error = refusal(folder.file(), true);
  CHECK(has(error, "version " + later_version()));
  CHECK(has(error, "reads versions up to " + std::to_string(kSchemaVersion)));
  CHECK(bytes_of(folder.file()) == before);
}

TEST_CASE("a store of a later version keeps what its log holds") {
  const Folder folder;
  open_new(folder.file());
  sqlite3* later = nullptr;
  REQUIRE(sqlite3_open(folder.file().c_str(), &later) == SQLITE_OK);
  const std::string change =
      "PRAGMA wal_autocheckpoint = 0; UPDATE meta SET value = '" + later_version() + "';";
  REQUIRE(sqlite3_exec(later, change.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK);
  // As a crash leaves it: copies of the files while the log is not yet moved into the store.
  const Folder copy;
  for (const char* suffix : {"", "-wal"})
    std::filesystem::copy_file(folder.file().string() + suffix, copy.file().string() + suffix);
  sqlite3_close(later);
  const std::string store_before = bytes_of(copy.file());
  const std::string log_before = bytes_of(copy.file().string() + "-wal");
  REQUIRE_FALSE(log_before.empty());
  CHECK(has(refusal(copy.file()), "version " + later_version()));
  CHECK(bytes_of(copy.file()) == store_before);
  CHECK(bytes_of(copy.file().string() + "-wal") == log_before);
}

TEST_CASE("files of other programs are refused") {
  const Folder folder;
  SECTION("a database") {
    tamper(folder.file(), "CREATE TABLE song (name TEXT);");
    CHECK(has(refusal(folder.file(), true), "another program"));
  }
  SECTION("something else") {
    std::ofstream(folder.file()) << std::string(10'000, 'x');
    CHECK(has(refusal(folder.file(), true), "damaged"));
  }
  SECTION("a folder") {
    std::filesystem::create_directory(folder.file());
    CHECK(has(refusal(folder.file(), true), folder.file().string()));
  }
}

TEST_CASE("a table that is missing or different is noticed at the start") {
  const Folder folder;
  open_new(folder.file());
  SECTION("missing") {
    tamper(folder.file(), "DROP TABLE event;");
    CHECK(has(refusal(folder.file()), "'event' is missing or different"));
  }
  SECTION("different") {
    tamper(folder.file(), "ALTER TABLE node ADD COLUMN colour TEXT;");
    CHECK(has(refusal(folder.file()), "'node' is missing or different"));
  }
  SECTION("no version") {
    tamper(folder.file(), "DELETE FROM meta;");
    CHECK(has(refusal(folder.file()), "no schema version"));
  }
}

TEST_CASE("a store carries Artel's mark") {
  const Folder folder;
  open_new(folder.file());
  CHECK(ask(folder.file(), "PRAGMA application_id") == std::to_string(0x4152544C));
}

TEST_CASE("network file systems are known by name") {
  CHECK(network_file_system(0x6969) == "NFS");
  CHECK(network_file_system(0xFF534D42) == "CIFS");
  CHECK(network_file_system(0xEF53).empty());  // ext4
}

TEST_CASE("readers refuse what is no store") {
  const Folder folder;
  CHECK_FALSE(open_reader(folder.file()));
  CHECK_FALSE(std::filesystem::exists(folder.file()));
  std::ofstream(folder.file()).flush();
  CHECK_FALSE(open_reader(folder.file()));
}

TEST_CASE("the log is moved into the store above its size") {
  const Folder folder;
  auto opened = open_store(folder.file(), {.first_start = true, .checkpoint_pages = 50});
  REQUIRE(opened);
  load(**opened);
  JobSpec spec = a_spec();
  spec.script = std::string(100'000, 'x');
  for (std::uint64_t id = 1; id <= 40; ++id) commit(**opened, {JobRow{a_job(id, spec), true}});
  // 40 scripts are 1,000 pages; the log starts again after each move.
  CHECK(std::filesystem::file_size(folder.file().string() + "-wal") < 150 * 4096);
  CHECK(std::filesystem::file_size(folder.file()) > 900 * 4096);
}

TEST_CASE("the log is left alone below its size until the writer is idle") {
  const Folder folder;
  const auto store = open_new(folder.file());
  load(*store);
  JobSpec spec = a_spec();
  spec.script = std::string(100'000, 'x');
  for (std::uint64_t id = 1; id <= 50; ++id) commit(*store, {JobRow{a_job(id, spec), true}});
  CHECK(std::filesystem::file_size(folder.file()) < 100 * 4096);
  REQUIRE(store->idle());
  CHECK(std::filesystem::file_size(folder.file()) > 1000 * 4096);
}

TEST_CASE("an idle writer gives the log its full size, so that commits write over it") {
  const Folder folder;
  auto opened = open_store(folder.file(), {.first_start = true, .checkpoint_pages = 50});
  REQUIRE(opened);
  load(**opened);
  commit(**opened, {JobRow{a_job(1), true}});
  REQUIRE((*opened)->idle());
  const auto log = folder.file().string() + "-wal";
  const auto whole = std::filesystem::file_size(log);
  CHECK(whole >= 50 * 4096);
  for (std::uint64_t id = 2; id <= 6; ++id) commit(**opened, {JobRow{a_job(id), true}});
  CHECK(std::filesystem::file_size(log) == whole);
  // Another connection, as after a kill, sees frames and no more.
  const auto copy = folder.file().string() + ".copy";
  std::filesystem::copy_file(folder.file(), copy);
  std::filesystem::copy_file(log, copy + "-wal");
  const auto again = open_store(copy, {});
  REQUIRE(again);
  CHECK(load(**again).jobs.size() == 6);
}

TEST_CASE("what was committed outlives a kill at any moment") {
  const Folder folder;
  open_new(folder.file());
  for (int round = 0; round < 5; ++round) {
    std::array<int, 2> pipe_ends{};
    REQUIRE(pipe(pipe_ends.data()) == 0);
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      auto store = open_store(folder.file(), {.checkpoint_pages = 50});
      if (!store) _exit(1);
      auto state = (*store)->load();
      if (!state) _exit(1);
      for (std::uint64_t id = state->last_job.value + 1;; ++id) {
        if (!(*store)->commit({JobRow{a_job(id), true}})) _exit(1);
        if (id % 3 == 0 && !(*store)->idle()) _exit(1);
        if (write(pipe_ends[1], &id, sizeof id) != sizeof id) _exit(1);
      }
    }
    close(pipe_ends[1]);
    std::uint64_t acknowledged = 0;
    for (int i = 0; i <= 3 * round; ++i)
      REQUIRE(read(pipe_ends[0], &acknowledged, sizeof acknowledged) == sizeof acknowledged);
    kill(child, SIGKILL);
    while (read(pipe_ends[0], &acknowledged, sizeof acknowledged) == sizeof acknowledged) {
    }
    close(pipe_ends[0]);
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status));

    auto store = open_store(folder.file(), {});
    REQUIRE(store);
    const StoredState state = load(**store);
    CHECK(state.last_job.value >= acknowledged);
    CHECK(state.jobs.size() == state.last_job.value);
    CHECK((*store)->set_aside().empty());
  }
}
