// What the store's tests share: a folder that goes away, jobs and attempts to write, a look past
// the store at its file.
#pragma once

#include <sqlite3.h>
#include <stdlib.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ctld/store/sqlite_store.h"

namespace artel::ctld::testing {

class Folder {
 public:
  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "artel-store-XXXXXX").string();
    REQUIRE(mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(path_); }

  [[nodiscard]] std::filesystem::path file() const { return path_ / "state.db"; }

 private:
  std::filesystem::path path_;
};

/// Changes the file behind the store's back.
inline void tamper(const std::filesystem::path& file, const std::string& statements) {
  sqlite3* database = nullptr;
  REQUIRE(sqlite3_open(file.c_str(), &database) == SQLITE_OK);
  char* error = nullptr;
  const int code = sqlite3_exec(database, statements.c_str(), nullptr, nullptr, &error);
  INFO((error != nullptr ? error : ""));
  CHECK(code == SQLITE_OK);
  sqlite3_free(error);
  sqlite3_close(database);
}

inline std::unique_ptr<SqliteStore> open_new(const std::filesystem::path& file) {
  auto store = open_store(file, {.first_start = true});
  INFO((store ? "" : store.error().text));
  REQUIRE(store);
  (*store)->set_node_names({"n1", "n2", "n3", "n4"});
  return std::move(*store);
}

inline StoredState load(SqliteStore& store) {
  auto state = store.load();
  INFO((state ? "" : state.error().text));
  REQUIRE(state);
  return std::move(*state);
}

inline void commit(Store& store, const std::vector<StoreWrite>& rows) {
  const auto done = store.commit(rows);
  INFO((done ? "" : done.error().text));
  REQUIRE(done);
}

inline Time at(std::int64_t seconds) { return time_from_ms(1'790'000'000'000 + 1000 * seconds); }

inline JobSpec a_spec() {
  JobSpec spec;
  spec.name = "train";
  spec.owner = {1000, 1000, "alice"};
  spec.team = "nlp";
  spec.queue = "main";
  spec.components = {ComponentSpec{}};
  spec.argv = {"/bin/true"};
  spec.environment = {{"PATH", "/bin"}};
  spec.working_directory = "/home/alice";
  return spec;
}

inline Job a_job(std::uint64_t id, JobSpec spec = a_spec()) {
  Job job;
  job.id = JobId{id};
  job.spec = std::make_shared<const JobSpec>(std::move(spec));
  job.submitted_at = at(static_cast<std::int64_t>(id));
  job.wait.code = WaitCode::kNotConsidered;
  return job;
}

/// On the nodes with these ids, one GPU and one CPU each.
inline Attempt an_attempt(const Job& job, const std::vector<std::uint32_t>& nodes) {
  Attempt attempt;
  attempt.key = {job.id, TaskIndex{}, AttemptNo{job.last_attempt.value + 1}};
  attempt.allocated_at = job.submitted_at + std::chrono::seconds{1};
  attempt.step_key = std::string("\0secret", 7);
  for (const std::uint32_t node : nodes) {
    NodePart part;
    part.share = {NodeId{node}, {0}, 1, Bytes{1024}, false};
    attempt.parts.push_back(std::move(part));
  }
  return attempt;
}

/// The rows that place the job.
inline std::vector<StoreWrite> placed(Job& job, const Attempt& attempt) {
  job.state = JobState::kAllocated;
  job.wait = {};
  job.last_attempt = attempt.key.attempt;
  return {JobRow{job, false}, AttemptRow{attempt}};
}

inline bool has(const std::string& text, const std::string& part) {
  INFO(text);
  return text.find(part) != std::string::npos;
}

}  // namespace artel::ctld::testing
