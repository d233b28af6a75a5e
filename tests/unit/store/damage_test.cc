// Damaged pages: what lies on them is set aside, everything else comes back.
#include <fstream>

#include "support.h"

using namespace artel;
using namespace artel::ctld;
using namespace artel::ctld::testing;

namespace {

constexpr std::int64_t kPage = 4096;

std::int64_t number(const std::filesystem::path& file, const std::string& query) {
  sqlite3* database = nullptr;
  REQUIRE(sqlite3_open(file.c_str(), &database) == SQLITE_OK);
  sqlite3_stmt* statement = nullptr;
  REQUIRE(sqlite3_prepare_v2(database, query.c_str(), -1, &statement, nullptr) == SQLITE_OK);
  REQUIRE(sqlite3_step(statement) == SQLITE_ROW);
  const std::int64_t value = sqlite3_column_int64(statement, 0);
  sqlite3_finalize(statement);
  sqlite3_close(database);
  return value;
}

void overwrite(const std::filesystem::path& file, std::int64_t page) {
  std::fstream out(file, std::ios::binary | std::ios::in | std::ios::out);
  out.seekp((page - 1) * kPage);
  out << std::string(static_cast<std::size_t>(kPage), '\xaa');
}

/// Garbage in the place of the first page of a table or index.
void damage(const std::filesystem::path& file, const std::string& name) {
  overwrite(file, number(file, "SELECT rootpage FROM sqlite_schema WHERE name = '" + name + "'"));
}

/// Two jobs that wait, one that ended, a drained node, a claim, a past.
void fill(const std::filesystem::path& file) {
  const auto store = open_new(file);
  load(*store);
  Job ended = a_job(2);
  const Attempt attempt = [&] {
    Attempt one = an_attempt(ended, {0});
    one.ended_at = one.allocated_at + std::chrono::seconds{10};
    return one;
  }();
  commit(*store, {JobRow{a_job(1), true}, JobRow{ended, true}, JobRow{a_job(3), true},
                  NodeRow{"n2", "boot", {}, {{.who = "op", .text = "broken fan"}}},
                  PastRow{PastRow::Of::kUser, "alice", 0.5, at(0)},
                  ClaimRow{{JobId{1}, 1, {{.node = NodeId{0}, .gpus = 8000}}}}});
  commit(*store, placed(ended, attempt));
  ended.state = JobState::kCompleted;
  ended.ended_at = at(100);
  commit(*store, {JobRow{ended, false}, AttemptRow{attempt}});
}

std::vector<std::uint64_t> ids(const StoredState& state) {
  std::vector<std::uint64_t> numbers;
  for (const Job& job : state.jobs) numbers.push_back(job.id.value);
  return numbers;
}

}  // namespace

TEST_CASE("a damaged page costs what lies on it and not the start") {
  const Folder folder;
  fill(folder.file());
  std::string kind;
  SECTION("the index of live jobs") {
    damage(folder.file(), "job_active");
    kind = "index";
  }
  SECTION("past use") {
    damage(folder.file(), "past");
    kind = "past";
  }
  SECTION("claims") {
    damage(folder.file(), "claim");
    kind = "claim";
  }
  SECTION("boot ids") {
    damage(folder.file(), "node");
    kind = "node";
  }
  SECTION("strikes") {
    damage(folder.file(), "node_strike");
    kind = "node";
  }
  SECTION("drains") {
    damage(folder.file(), "node_drain");
    kind = "node";
  }
  const auto store = open_new(folder.file());
  const StoredState state = load(*store);
  CHECK(ids(state) == std::vector<std::uint64_t>{1, 3});
  REQUIRE(store->set_aside().size() == 1);
  CHECK(store->set_aside()[0].kind == kind);
  CHECK(has(store->set_aside()[0].why, "damaged"));
  CHECK(state.past.empty() == (kind == "past"));
  CHECK(state.claims.empty() == (kind == "claim"));
}

TEST_CASE("nodes whose records lie on a damaged page count as drained") {
  const Folder folder;
  fill(folder.file());
  damage(folder.file(), "node_drain");
  const StoredState state = load(*open_new(folder.file()));
  REQUIRE(state.nodes.size() == 4);
  CHECK(state.nodes[0].name == "n1");
  for (const NodeRow& node : state.nodes) {
    REQUIRE(node.drains.size() == 1);
    CHECK(node.drains[0].source == DrainSource::kRecord);
  }
}

TEST_CASE("specifications on a damaged page set their jobs aside, each by its number") {
  const Folder folder;
  fill(folder.file());
  damage(folder.file(), "job_spec");
  const auto store = open_new(folder.file());
  const StoredState state = load(*store);
  CHECK(state.jobs.empty());
  CHECK(state.unreadable == std::vector<JobId>{JobId{1}, JobId{3}});
  REQUIRE(store->set_aside().size() == 2);
  CHECK(store->set_aside()[1].name == "3");
}

TEST_CASE("attempts on a damaged page are told where budgets count them") {
  const Folder folder;
  fill(folder.file());
  damage(folder.file(), "attempt_node");
  auto store = open_store(folder.file(), {.count_used = true});
  REQUIRE(store);
  (*store)->set_node_names({"n1", "n2", "n3", "n4"});
  CHECK(ids(load(**store)) == std::vector<std::uint64_t>{1, 3});
  REQUIRE((*store)->set_aside().size() == 1);
  CHECK((*store)->set_aside()[0].kind == "usage");
}
