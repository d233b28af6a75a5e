#include "ctld/store/reader.h"

#include <algorithm>

#include "support.h"

using namespace artel;
using namespace artel::ctld;
using namespace artel::ctld::testing;

namespace {

Job job_of(std::uint64_t id, const std::string& user, const std::string& team) {
  JobSpec spec = a_spec();
  spec.owner.user = user;
  spec.team = team;
  return a_job(id, std::move(spec));
}

/// Jobs 1 to 6: odd ones are alice's, 1 to 3 are nlp's; job i is submitted at second i and, but for
/// job 6, ends at 10 * i.
class History {
 public:
  History() : store_(open_new(folder_.file())) {
    load(*store_);
    for (std::uint64_t id = 1; id <= 6; ++id) {
      Job job = job_of(id, id % 2 == 1 ? "alice" : "bob", id <= 3 ? "nlp" : "vision");
      commit(*store_, {JobRow{job, true}});
      if (id == 6) continue;
      job.state = JobState::kCompleted;
      job.ended_at = at(static_cast<std::int64_t>(10 * id));
      commit(*store_, {JobRow{job, false}});
    }
    auto reader = open_reader(folder_.file());
    REQUIRE(reader);
    reader_ = std::move(*reader);
  }

  std::vector<std::uint64_t> ids(const HistoryFilter& filter) {
    const auto jobs = reader_->history(filter);
    REQUIRE(jobs);
    std::vector<std::uint64_t> found;
    for (const HistoryJob& job : *jobs) found.push_back(job.job.id.value);
    return found;
  }

  SqliteStore& store() { return *store_; }
  StoreReader& reader() { return *reader_; }
  [[nodiscard]] std::filesystem::path file() const { return folder_.file(); }

 private:
  Folder folder_;
  std::unique_ptr<SqliteStore> store_;
  std::unique_ptr<StoreReader> reader_;
};

using Ids = std::vector<std::uint64_t>;

}  // namespace

TEST_CASE("history gives jobs newest first and stops at its limit") {
  History history;
  CHECK(history.ids({}) == Ids{6, 5, 4, 3, 2, 1});
  CHECK(history.ids({.limit = 2}) == Ids{6, 5});
}

TEST_CASE("history can be cut by user, team and both") {
  History history;
  CHECK(history.ids({.user = "alice"}) == Ids{5, 3, 1});
  CHECK(history.ids({.user = "alice", .limit = 1}) == Ids{5});
  CHECK(history.ids({.team = "nlp"}) == Ids{3, 2, 1});
  CHECK(history.ids({.user = "alice", .team = "nlp"}) == Ids{3, 1});
  CHECK(history.ids({.user = "carol"}).empty());
  CHECK(history.ids({.user = "' OR 1=1 --"}).empty());
}

TEST_CASE("history gives jobs whose life meets the time asked for") {
  History history;
  CHECK(history.ids({.from = at(30)}) == Ids{6, 5, 4, 3});
  CHECK(history.ids({.from = at(31)}) == Ids{6, 5, 4});
  CHECK(history.ids({.to = at(3)}) == Ids{2, 1});
  CHECK(history.ids({.from = at(15), .to = at(4)}) == Ids{3, 2});
  CHECK(history.ids({.from = at(1000)}) == Ids{6});  // has not ended
}

TEST_CASE("history can be asked for jobs by number") {
  History history;
  CHECK(history.ids({.jobs = {JobId{2}, JobId{5}, JobId{99}, JobId{2}}}) == Ids{5, 2});
  CHECK(history.ids({.user = "alice", .jobs = {JobId{2}, JobId{5}}}) == Ids{5});
}

TEST_CASE("a job is shown with all its attempts and the names of their nodes") {
  const Folder folder;
  const auto store = open_new(folder.file());
  load(*store);
  Job job = job_of(1, "alice", "nlp");
  commit(*store, {JobRow{job, true}});
  Attempt first = an_attempt(job, {3, 0});
  commit(*store, placed(job, first));
  first.ended_at = at(50);
  first.outcome = JobState::kNodeFail;
  first.parts[0].end = NodeEnd{at(5), at(50), {}, true, 7, Bytes{8}};
  commit(*store, {AttemptRow{first}});
  const Attempt second = an_attempt(job, {1});
  commit(*store, placed(job, second));

  const auto reader = open_reader(folder.file());
  REQUIRE(reader);
  const auto shown = (*reader)->show(JobId{1});
  REQUIRE(shown);
  CHECK(*shown->job.spec == *job.spec);
  CHECK(shown->job.state == JobState::kAllocated);
  REQUIRE(shown->attempts.size() == 2);
  CHECK(shown->attempts[0].nodes == std::vector<std::string>{"n4", "n1"});
  CHECK(shown->attempts[1].nodes == std::vector<std::string>{"n2"});
  // As documented, the ids index the names.
  Attempt expected = first;
  expected.parts[0].share.node = NodeId{0};
  expected.parts[1].share.node = NodeId{1};
  CHECK(shown->attempts[0].attempt == expected);
}

TEST_CASE("a job that was never stored is not found") {
  History history;
  const auto shown = history.reader().show(JobId{77});
  REQUIRE_FALSE(shown);
  CHECK(shown.error().code == ErrorCode::kNotFound);
  CHECK(shown.error().text == "there is no job 77");
}

TEST_CASE("one damaged job does not hide the others from readers") {
  History history;
  tamper(history.file(), "UPDATE job SET cause_code = 200 WHERE id = 4");
  CHECK(history.ids({}) == Ids{6, 5, 3, 2, 1});
  CHECK(history.ids({.jobs = {JobId{4}, JobId{5}}}) == Ids{5});
  const auto shown = history.reader().show(JobId{4});
  REQUIRE_FALSE(shown);
  CHECK(shown.error().code == ErrorCode::kStorage);
  CHECK(has(shown.error().text, "job 4 cannot be read: column cause_code has the value 200"));
}

TEST_CASE("readers see commits at once and neither wait for the writer nor hold it up") {
  History history;
  for (std::uint64_t id = 7; id < 30; ++id) {
    commit(history.store(), {JobRow{job_of(id, "carol", "nlp"), true}});
    CHECK(history.ids({.user = "carol", .limit = 1}) == Ids{id});
  }
}

TEST_CASE("reading leaves the log as it is") {
  History history;
  const std::uintmax_t before = std::filesystem::file_size(history.file().string() + "-wal");
  CHECK(history.reader().usage({at(0), at(100), at(100), UsageBy::kTeam}));
  CHECK(history.ids({}).size() == 6);
  CHECK(std::filesystem::file_size(history.file().string() + "-wal") == before);
}
