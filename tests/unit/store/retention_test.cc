// What is too old leaves the store: exported before, in small steps, and the file stays as large as
// what it holds.
#include "ctld/store/retention.h"

#include <fstream>
#include <nlohmann/json.hpp>

#include "support.h"

using namespace artel;
using namespace artel::ctld;
using namespace artel::ctld::testing;

namespace {

std::filesystem::path exports_of(const Folder& folder) {
  return folder.file().parent_path() / "history";
}

Retention retention_of(const Folder& folder) {
  auto reader = open_reader(folder.file());
  REQUIRE(reader);
  return {std::move(*reader), exports_of(folder)};
}

/// One round. Returns how many jobs left.
std::size_t purge_all(SqliteStore& store, Retention& retention, Time cut) {
  std::size_t count = 0;
  for (;;) {
    const auto step = retention.next(cut);
    INFO((step ? "" : step.error().text));
    REQUIRE(step);
    CHECK(step->purge.jobs.size() <= 50);
    count += step->purge.jobs.size();
    REQUIRE(store.purge(step->purge));
    if (step->is_last) return count;
  }
}

std::vector<nlohmann::json> exported(const Folder& folder) {
  std::vector<nlohmann::json> jobs;
  for (const auto& entry : std::filesystem::directory_iterator(exports_of(folder))) {
    std::ifstream in(entry.path());
    for (std::string line; std::getline(in, line);) jobs.push_back(nlohmann::json::parse(line));
  }
  return jobs;
}

/// Stores a job that was submitted at `from` and ended at `to`, on one GPU.
void run_job(SqliteStore& store, std::uint64_t id, Time from, Time to) {
  Job job = a_job(id);
  job.submitted_at = from;
  Attempt attempt = an_attempt(job, {0});
  attempt.allocated_at = from;
  commit(store, {JobRow{job, true}, EventRow{from, "submit", job.id, "alice", ""}});
  commit(store, placed(job, attempt));
  attempt.ended_at = to;
  attempt.outcome = JobState::kCompleted;
  attempt.parts[0].phase = NodePhase::kEnded;
  attempt.parts[0].end = NodeEnd{from, to, {}, true, 1, Bytes{1}};
  job.state = JobState::kCompleted;
  job.ended_at = to;
  commit(store, {JobRow{job, false}, AttemptRow{attempt}, EventRow{to, "end", job.id, "n1", ""}});
}

std::size_t history_size(const Folder& folder) {
  const auto reader = open_reader(folder.file());
  REQUIRE(reader);
  const auto jobs = (*reader)->history({.limit = 10'000});
  REQUIRE(jobs);
  return jobs->size();
}

}  // namespace

TEST_CASE("jobs that ended before the cut are written down and leave") {
  const Folder folder;
  const auto store = open_new(folder.file());
  load(*store);
  run_job(*store, 1, at(0), at(10));
  run_job(*store, 2, at(0), at(100));  // ended late
  commit(*store, {JobRow{a_job(3), true}});
  run_job(*store, 4, at(5), at(20));
  auto retention = retention_of(folder);
  CHECK(purge_all(*store, retention, at(50)) == 2);
  CHECK(history_size(folder) == 2);
  CHECK(load(*store).jobs.size() == 1);
  const auto jobs = exported(folder);
  REQUIRE(jobs.size() == 2);
  CHECK(jobs[0]["job"] == 1);
  CHECK(jobs[0]["state"] == "COMPLETED");
  CHECK(jobs[0]["argv"][0] == "/bin/true");
  CHECK(jobs[0]["attempts"][0]["parts"][0]["node"] == "n1");
  CHECK(jobs[0]["attempts"][0]["parts"][0]["ended_ms"] == to_ms(at(10)));
  CHECK_FALSE(jobs[0].contains("environment"));  // may hold secrets
  CHECK(jobs[1]["job"] == 4);
  CHECK(std::filesystem::exists(exports_of(folder) / "jobs-2026-09.jsonl"));
  CHECK(purge_all(*store, retention, at(50)) == 0);
}

TEST_CASE("numbers of jobs that left are not given again") {
  const Folder folder;
  {
    const auto store = open_new(folder.file());
    load(*store);
    run_job(*store, 7, at(0), at(10));
    auto retention = retention_of(folder);
    CHECK(purge_all(*store, retention, at(50)) == 1);
  }
  CHECK(load(*open_new(folder.file())).last_job == JobId{7});
}

TEST_CASE("what jobs used of a budget counts after they left") {
  const Folder folder;
  const auto used = [&folder] {
    auto store = open_store(folder.file(), {.count_used = true});
    REQUIRE(store);
    (*store)->set_node_names({"n1", "n2", "n3", "n4"});
    return load(**store).used_gpu_ms;
  };
  {
    const auto store = open_new(folder.file());
    load(*store);
    for (std::uint64_t id = 1; id <= 3; ++id) run_job(*store, id, at(0), at(10));
  }
  const auto before = used();
  CHECK(before == std::map<std::string, double>{{"nlp", 3.0 * 1000 * 10'000}});
  {
    const auto store = open_new(folder.file());
    load(*store);
    run_job(*store, 4, at(60), at(70));
    auto retention = retention_of(folder);
    CHECK(purge_all(*store, retention, at(50)) == 3);
  }
  CHECK(used() == std::map<std::string, double>{{"nlp", 4.0 * 1000 * 10'000}});
}

TEST_CASE("nothing leaves that could not be written down") {
  const Folder folder;
  const auto store = open_new(folder.file());
  load(*store);
  run_job(*store, 1, at(0), at(10));
  std::ofstream(exports_of(folder)) << "in the way";
  auto retention = retention_of(folder);
  const auto step = retention.next(at(50));
  REQUIRE_FALSE(step);
  CHECK(has(step.error().text, "history_export"));
  std::filesystem::remove(exports_of(folder));
  CHECK(purge_all(*store, retention, at(50)) == 1);
  CHECK(exported(folder).size() == 1);
}

TEST_CASE("a line that a crash has torn does not spoil the next one") {
  const Folder folder;
  const auto store = open_new(folder.file());
  load(*store);
  run_job(*store, 1, at(0), at(10));
  std::filesystem::create_directory(exports_of(folder));
  const auto file = exports_of(folder) / "jobs-2026-09.jsonl";
  std::ofstream(file) << "{\"job\":1,\"sta";
  auto retention = retention_of(folder);
  CHECK(purge_all(*store, retention, at(50)) == 1);
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  std::getline(in, line);
  CHECK(nlohmann::json::parse(line)["job"] == 1);
}

TEST_CASE("a job that is not final stays whatever is asked") {
  const Folder folder;
  const auto store = open_new(folder.file());
  load(*store);
  Job job = a_job(1);
  commit(*store, {JobRow{job, true}});
  commit(*store, placed(job, an_attempt(job, {0})));
  REQUIRE(store->purge({{JobId{1}, JobId{2}}, at(50)}));
  const StoredState state = load(*store);
  REQUIRE(state.jobs.size() == 1);
  CHECK(state.jobs[0].attempt->parts.size() == 1);
}

TEST_CASE("a store from which old jobs leave does not grow") {
  const Folder folder;
  const auto store = open_new(folder.file());
  load(*store);
  auto retention = retention_of(folder);
  constexpr std::int64_t kDay = 86'400;
  constexpr std::uint64_t kJobsADay = 40;
  constexpr std::int64_t kAge = 10;
  std::uint64_t id = 0;
  std::map<std::int64_t, std::uintmax_t> sizes;
  for (std::int64_t day = 1; day <= 60; ++day) {
    for (std::uint64_t i = 0; i < kJobsADay; ++i)
      run_job(*store, ++id, at(day * kDay), at(day * kDay + 3600));
    purge_all(*store, retention, at((day - kAge) * kDay));
    REQUIRE(store->idle());
    sizes[day] = std::filesystem::file_size(folder.file());
  }
  CHECK(history_size(folder) == kJobsADay * (kAge + 1));
  CHECK(exported(folder).size() == id - kJobsADay * (kAge + 1));
  CHECK(sizes[60] <= sizes[15] + sizes[15] / 5);
}
