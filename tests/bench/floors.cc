#include "floors.h"

#include <fcntl.h>
#include <spawn.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>

namespace artel::bench {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Calls `act` until the time is over; calls per second.
template <typename Act>
double rate(double seconds, Act&& act) {
  const auto begin = Clock::now();
  int count = 0;
  while (seconds_since(begin) < seconds) {
    act();
    ++count;
  }
  return count / seconds_since(begin);
}

void must(bool ok, const char* what) {
  if (ok) return;
  std::fprintf(stderr, "artel_bench: %s failed\n", what);
  std::exit(1);
}

void run(const std::vector<std::string>& command) {
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  pid_t pid = 0;
  must(posix_spawn(&pid, words[0], &actions, nullptr, words.data(), environ) == 0, "posix_spawn");
  posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  must(waitpid(pid, &status, 0) == pid && status == 0, command[0].c_str());
}

}  // namespace

double sqlite_commits_per_second(const std::filesystem::path& folder, double seconds) {
  const auto path = folder / "floor.db";
  sqlite3* db = nullptr;
  must(sqlite3_open(path.c_str(), &db) == SQLITE_OK, "sqlite3_open");
  const auto execute = [&](const char* sql) {
    must(sqlite3_exec(db, sql, nullptr, nullptr, nullptr) == SQLITE_OK, sql);
  };
  execute("PRAGMA journal_mode=WAL");
  execute("PRAGMA synchronous=FULL");
  execute("CREATE TABLE t (id INTEGER PRIMARY KEY, body BLOB)");
  sqlite3_stmt* insert = nullptr;
  must(sqlite3_prepare_v2(db, "INSERT INTO t (body) VALUES (zeroblob(500))", -1, &insert,
                          nullptr) == SQLITE_OK,
       "prepare");
  const double result = rate(seconds, [&] {
    must(sqlite3_step(insert) == SQLITE_DONE, "insert");
    sqlite3_reset(insert);
  });
  sqlite3_finalize(insert);
  sqlite3_close(db);
  for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(path.string() + suffix);
  return result;
}

double synced_appends_per_second(const std::filesystem::path& folder, double seconds) {
  const auto path = folder / "floor.log";
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  must(fd >= 0, "open");
  const std::array<char, 4096> block{};
  const double result = rate(seconds, [&] {
    must(write(fd, block.data(), block.size()) == static_cast<ssize_t>(block.size()), "write");
    must(fdatasync(fd) == 0, "fdatasync");
  });
  close(fd);
  std::filesystem::remove(path);
  return result;
}

double spawns_per_second(double seconds) {
  return rate(seconds, [] { run({"/bin/true"}); });
}

double command_ms(const std::vector<std::string>& command, int times) {
  std::vector<double> all;
  for (int i = 0; i < times; ++i) {
    const auto begin = Clock::now();
    run(command);
    all.push_back(seconds_since(begin) * 1000);
  }
  std::ranges::sort(all);
  return all[all.size() / 2];
}

}  // namespace artel::bench
