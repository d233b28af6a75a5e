// Arrays in the store: one record however many tasks, and the tasks that became jobs.
#include "ctld/core/controller.h"
#include "ctld/store/export.h"
#include "ctld/store/reader.h"
#include "ctld/store/retention.h"
#include "support.h"

namespace artel::ctld::testing {
namespace {

ControllerConfig config() {
  ControllerConfig out{.cluster = "test", .nodes = {}, .teams = {}, .policy = {}};
  for (const char* name : {"n1", "n2", "n3", "n4"}) {
    out.nodes.push_back(
        {.name = name,
         .address = name,
         .resources = {.cpus = 8, .memory = Bytes{1ULL << 30U}, .gpu_type = {}, .gpus = 0}});
  }
  return out;
}

const Caller kAlice{.owner = {.uid = 1000, .gid = 1000, .user = "alice"}};

/// A controller on the store, whose agents are all there.
class Site {
 public:
  Site(SqliteStore& store, Time now)
      : store_(store),
        now_(now),
        core_(config(), load(store), [] { return std::string("k"); }, now) {
    for (std::uint64_t i = 0; i < 4; ++i) {
      const NodeConfig node = config().nodes[i];
      (void)core_.agent_connected(
          SessionId{i + 1},
          {.node = node.name,
           .inventory = {.boot_id = "b" + std::to_string(i), .resources = node.resources},
           .attempts = {}},
          now);
    }
    write();
  }

  JobId submit(const std::string& indexes) {
    JobSpec spec = a_spec();
    spec.team.clear();
    spec.queue.clear();
    spec.output = "o-%t";
    spec.array = parse_array(indexes, kMostArrayTasks).value();
    spec.client_token = "once";
    core_.submit(RequestId{1}, kAlice, {spec}, now_);
    auto effects = write();
    return std::get<Submitted>(effects.replies.at(0).body.value()).jobs.at(0);
  }
  void cancel(const JobTarget& target) { cancel(std::vector{target}); }
  void cancel(const std::vector<JobTarget>& targets) {
    core_.cancel(RequestId{2}, kAlice, targets, "", now_);
    write();
  }
  void hold(const JobTarget& target) {
    core_.hold(RequestId{2}, kAlice, {target}, "", now_);
    write();
  }
  void pass() {
    for (int i = 0; i < 5; ++i) {
      now_ += std::chrono::seconds{1};
      core_.tick(now_);
      write();
    }
  }
  void finish(JobId id) {
    const auto job = core_.snapshot(now_)->find(id);
    const AttemptKey key = job->attempt->key;
    const SessionId session{job->attempt->parts.front().share.node.value + 1};
    const Cause well{.actor = Actor::kApplication, .code = CauseCode::kExit};
    core_.agent_message(session, AttemptReady{key, 4000}, now_);
    core_.agent_message(session, AttemptStarted{key, now_}, now_);
    core_.agent_message(
        session,
        AttemptEnded{key, {.started = now_, .ended = now_, .cause = well, .is_origin = true}},
        now_);
    write();
  }
  std::shared_ptr<const Job> find(JobId id) { return core_.snapshot(now_)->find(id); }
  std::shared_ptr<const Job> array(JobId id) { return core_.snapshot(now_)->find_array(id); }
  Controller& core() { return core_; }
  [[nodiscard]] Time now() const { return now_; }

 private:
  Effects write() {
    CHECK(core_.check().value_or("") == "");
    Effects effects = core_.take_effects();
    commit(store_, effects.writes);
    return effects;
  }

  SqliteStore& store_;
  Time now_;
  Controller core_;
};

JobTarget some(JobId id, const std::string& indexes) {
  return {id, IndexSet::parse(indexes, kMostArrayTasks).value()};
}

}  // namespace

TEST_CASE("an array goes on after a restart where it was") {
  const Folder folder;
  const auto store = open_new(folder.file());
  JobId id;
  {
    Site before(*store, at(0));
    id = before.submit("0-999999%3");
    before.hold(some(id, "10-19"));
    before.cancel(some(id, "500000-999999"));
    before.pass();
    before.finish(JobId{id.value + 1});
    before.pass();
  }
  Site site(*store, at(100));
  const auto array = site.array(id);
  REQUIRE(array != nullptr);
  CHECK(array->tasks->waiting.text() == "4-9,20-499999");
  CHECK(array->tasks->held.text() == "10-19");
  CHECK(array->tasks->completed == 1);
  CHECK(array->tasks->cancelled == 500'000);
  CHECK(array->tasks->active == 3);
  CHECK(site.find(JobId{id.value + 2})->task == TaskOf{id, TaskIndex{1}});
  CHECK(site.find(JobId{id.value + 600'001})->state == JobState::kCancelled);
  site.pass();
  CHECK(site.find(JobId{id.value + 5})->state == JobState::kPending);  // three run, as before
  CHECK(site.submit("0-9") == id);                                     // its token
  JobSpec other = a_spec();
  other.team.clear();
  other.queue.clear();
  other.output = "o";
  site.core().submit(RequestId{9}, kAlice, {other}, site.now());
  const Effects effects = site.core().take_effects();
  CHECK(std::get<Submitted>(effects.replies.at(0).body.value()).jobs.at(0) ==
        JobId{id.value + 1'000'001});
}

TEST_CASE("the most mixed array that may be is there after a restart") {
  const Folder folder;
  const auto store = open_new(folder.file());
  JobId id;
  {
    Site before(*store, at(0));
    std::string list = "0-899999";
    for (std::uint32_t i = 1; i < kMaxArrayRuns; ++i)
      list += "," + std::to_string(2'000'000'000 + i * i * 3);
    id = before.submit(list);
    // More pieces than the next order would be allowed to leave.
    std::vector<JobTarget> single;
    for (std::uint32_t i = 0; i < 20'000; ++i) single.emplace_back(id, IndexSet::of(i * 45 + 7));
    before.cancel(single);
    before.cancel(some(id, "0-3"));  // goes to the row that is there
    CHECK(before.array(id)->tasks->waiting.runs().size() > 7900);
    CHECK(before.array(id)->tasks->waiting.text().size() > std::size_t{100'000});
    before.pass();
  }
  Site site(*store, at(100));
  const auto array = site.array(id);
  REQUIRE(array != nullptr);
  CHECK(array->tasks->cancelled > 6900);
  CHECK(array->tasks->waiting.size() + array->tasks->active + array->tasks->cancelled ==
        array->spec->array->indexes.size());
  CHECK(array->tasks->ended.size() == 1);
  CHECK(site.find(JobId{id.value + 4})->state == JobState::kCancelled);
  CHECK(site.find(JobId{id.value + 8})->state == JobState::kCancelled);
  site.cancel({{id, IndexSet::parse("200000-899999", kMostArrayTasks).value()}});
  CHECK(site.array(id)->tasks->waiting.size() < 201'000);
}

TEST_CASE("an array that has ended is shown with its tasks") {
  const Folder folder;
  const auto store = open_new(folder.file());
  Site site(*store, at(0));
  const JobId id = site.submit("5-9%1");
  site.pass();
  site.cancel(some(id, "7-9"));
  site.finish(JobId{id.value + 1});
  site.pass();
  site.finish(JobId{id.value + 2});
  const auto reader = open_reader(folder.file());
  REQUIRE(reader);
  const auto array = (*reader)->show(id);
  REQUIRE(array);
  CHECK(array->job.state == JobState::kCancelled);
  CHECK(array->job.tasks->completed == 2);
  CHECK(array->job.tasks->ended.at(0).tasks.text() == "7-9");
  const auto ran = (*reader)->show(JobId{id.value + 2});
  REQUIRE(ran);
  CHECK(ran->job.task == TaskOf{id, TaskIndex{6}});
  CHECK(ran->attempts.at(0).attempt.key.task == TaskIndex{6});
  CHECK(ran->job.spec->argv == a_spec().argv);
  const auto never = (*reader)->show(JobId{id.value + 4});
  REQUIRE(never);
  CHECK(never->job.state == JobState::kCancelled);
  CHECK(never->job.task == TaskOf{id, TaskIndex{8}});
  CHECK_FALSE((*reader)->show(JobId{id.value + 6}));
}

TEST_CASE("an array leaves the store after the last of its tasks") {
  const Folder folder;
  const auto store = open_new(folder.file());
  Site site(*store, at(0));
  const JobId id = site.submit("0-1");
  site.pass();
  site.finish(JobId{id.value + 1});
  site.finish(JobId{id.value + 2});
  auto reader = open_reader(folder.file());
  REQUIRE(reader);
  Retention retention(std::move(*reader), folder.file().parent_path() / "history");
  const auto round = [&] {
    std::vector<JobId> gone;
    for (bool is_last = false; !is_last;) {
      const auto step = retention.next(at(1000));
      REQUIRE(step);
      is_last = step->is_last;
      gone.insert(gone.end(), step->purge.jobs.begin(), step->purge.jobs.end());
      REQUIRE(store->purge(step->purge));
    }
    return gone;
  };
  CHECK(round() == std::vector<JobId>{JobId{id.value + 1}, JobId{id.value + 2}});
  CHECK(round() == std::vector<JobId>{id});
  CHECK(round().empty());
  CHECK(load(*store).last_job == JobId{id.value + 2});
}

TEST_CASE("an array whose rows cannot be read is set aside, and what runs of it is known") {
  const auto set_aside_after = [](const std::string& statements) {
    const Folder folder;
    {
      const auto store = open_new(folder.file());
      Site site(*store, at(0));
      site.submit("0-99%2");
      site.pass();
    }
    tamper(folder.file(), statements);
    const auto store = open_new(folder.file());
    const StoredState state = load(*store);
    CHECK(state.jobs.size() == 2);  // the tasks that run
    CHECK(state.unreadable == std::vector<JobId>{JobId{1}});
    CHECK(state.last_job == JobId{101});
    Controller core(config(), state, [] { return std::string("k"); }, at(100));
    CHECK(core.check().value_or("") == "");
    return store->set_aside().at(0).why;
  };
  CHECK(has(set_aside_after("DELETE FROM array"), "the row of its tasks is missing"));
  CHECK(has(set_aside_after("UPDATE array SET waiting = 'x'"), "waiting tasks: 'x'"));
  CHECK(has(set_aside_after("UPDATE array SET held = '100'"), "100 is no task of it"));
  CHECK(has(set_aside_after("UPDATE array SET held = '50'"), "a task waits and is held"));
}

TEST_CASE("a task that has a record does not run again whatever its array's row says") {
  const Folder folder;
  {
    const auto store = open_new(folder.file());
    Site site(*store, at(0));
    site.submit("0-99%2");
    site.pass();
  }
  tamper(folder.file(), "UPDATE array SET waiting = '0-99'");
  const auto store = open_new(folder.file());
  Controller core(config(), load(*store), [] { return std::string("k"); }, at(100));
  CHECK(core.snapshot(at(100))->find_array(JobId{1})->tasks->waiting.text() == "2-99");
}

TEST_CASE("an export of an array tells how its tasks ended") {
  Job array = a_job(7);
  JobSpec spec = *array.spec;
  spec.array = parse_array("0-9", 10).value();
  array.spec = std::make_shared<const JobSpec>(spec);
  ArrayTasks tasks;
  tasks.completed = 4;
  tasks.cancelled = 6;
  tasks.ended = {{IndexSet::parse("4-9", 10).value(), JobState::kCancelled, at(3), {}}};
  array.tasks = std::make_shared<const ArrayTasks>(tasks);
  const std::string line = export_line({array, {}});
  CHECK(has(line, R"("completed":4)"));
  CHECK(has(line, R"("indexes":"4-9")"));
}

}  // namespace artel::ctld::testing
