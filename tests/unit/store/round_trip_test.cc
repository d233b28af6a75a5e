#include <random>

#include "support.h"

using namespace artel;
using namespace artel::ctld;
using namespace artel::ctld::testing;

namespace {

void check_same(const Job& stored, const Job& job) {
  CHECK(stored.id == job.id);
  CHECK(*stored.spec == *job.spec);
  CHECK(stored.state == job.state);
  CHECK(stored.submitted_at == job.submitted_at);
  CHECK(stored.ended_at == job.ended_at);
  CHECK(stored.wait == job.wait);
  CHECK(stored.cause == job.cause);
  CHECK(stored.retries == job.retries);
  CHECK(stored.last_attempt == job.last_attempt);
  CHECK(stored.excluded == job.excluded);
}

Cause a_cause() {
  return {Actor::kApplication, CauseCode::kSignal, "alice", "n2", 3, -1, 9, "rank 3 was killed"};
}

/// Every field differs from its default.
Attempt full_attempt(const Job& job) {
  Attempt attempt = an_attempt(job, {2, 0});
  attempt.started_at = at(100);
  attempt.limit_end = at(200);
  attempt.start_ordered = true;
  attempt.master_port = 29400;
  attempt.outcome = JobState::kFailed;
  attempt.cause = a_cause();
  NodePart& part = attempt.parts[0];
  part.share = {NodeId{2}, {0, 3, 65535}, 96, Bytes{1ULL << 41U}, true};
  part.phase = NodePhase::kEnded;
  part.port = 4711;
  part.end = NodeEnd{at(100), at(150), a_cause(), true, 123'456, Bytes{1ULL << 30U}};
  attempt.parts[1].phase = NodePhase::kEnding;
  attempt.parts[1].share.gpus.clear();
  return attempt;
}

}  // namespace

TEST_CASE("a start knows when the last event was written") {
  const Folder folder;
  {
    const auto store = open_new(folder.file());
    load(*store);
    commit(*store,
           {EventRow{at(7), "drain", {}, "op", "n1"}, EventRow{at(5), "end", {}, "n1", ""}});
  }
  const auto again = open_store(folder.file(), {});
  REQUIRE(again);
  CHECK(load(**again).latest == at(5));
}

TEST_CASE("each start takes the next incarnation") {
  const Folder folder;
  for (std::uint64_t start = 1; start <= 3; ++start)
    CHECK(load(*open_new(folder.file())).incarnation.value == start);
}

TEST_CASE("a new store is empty") {
  const Folder folder;
  const StoredState state = load(*open_new(folder.file()));
  CHECK(state.last_job.value == 0);
  CHECK(state.jobs.empty());
  CHECK(state.nodes.empty());
  CHECK(state.tokens.empty());
}

TEST_CASE("a waiting job comes back with every field") {
  const Folder folder;
  Job job = a_job(7);
  job.state = JobState::kHeld;
  job.wait = {WaitCode::kBackfill, 4, 2, JobId{3}, at(500)};
  job.cause = a_cause();
  job.retries = {1, 2, 3};
  job.last_attempt = AttemptNo{2};
  job.excluded = {NodeId{3}, NodeId{1}};
  {
    const auto store = open_new(folder.file());
    load(*store);
    commit(*store, {JobRow{job, true}});
  }
  const StoredState state = load(*open_new(folder.file()));
  CHECK(state.last_job == JobId{7});
  REQUIRE(state.jobs.size() == 1);
  check_same(state.jobs[0], job);
  CHECK(state.jobs[0].attempt == nullptr);
}

TEST_CASE("a placed job comes back with its attempt") {
  const Folder folder;
  Job job = a_job(7);
  const Attempt attempt = full_attempt(job);
  {
    const auto store = open_new(folder.file());
    load(*store);
    commit(*store, {JobRow{job, true}});
    commit(*store, placed(job, attempt));
  }
  const StoredState state = load(*open_new(folder.file()));
  REQUIRE(state.jobs.size() == 1);
  check_same(state.jobs[0], job);
  REQUIRE(state.jobs[0].attempt != nullptr);
  CHECK(*state.jobs[0].attempt == attempt);
  CHECK(state.last_job == JobId{7});  // also without a counter's row
}

TEST_CASE("only the latest attempt comes back") {
  const Folder folder;
  Job job = a_job(1);
  Attempt first = full_attempt(job);
  const auto store = open_new(folder.file());
  load(*store);
  commit(*store, {JobRow{job, true}});
  commit(*store, placed(job, first));
  first.ended_at = at(300);
  Attempt second;
  job.last_attempt = AttemptNo{1};
  second = an_attempt(job, {3});
  auto rows = placed(job, second);
  rows.insert(rows.begin(), AttemptRow{first});
  commit(*store, rows);
  const StoredState state = load(*store);
  REQUIRE(state.jobs.size() == 1);
  CHECK(*state.jobs[0].attempt == second);
}

TEST_CASE("final jobs do not come back") {
  const Folder folder;
  const auto store = open_new(folder.file());
  load(*store);
  Job job = a_job(1);
  commit(*store, {JobRow{job, true}, JobRow{a_job(2), true}});
  job.state = JobState::kCancelled;
  job.ended_at = at(10);
  commit(*store, {JobRow{job, false}});
  const StoredState state = load(*store);
  REQUIRE(state.jobs.size() == 1);
  CHECK(state.jobs[0].id == JobId{2});
}

TEST_CASE("jobs come back in ascending order") {
  const Folder folder;
  const auto store = open_new(folder.file());
  load(*store);
  for (const std::uint64_t id : {5, 2, 9}) commit(*store, {JobRow{a_job(id), true}});
  std::vector<std::uint64_t> ids;
  for (const Job& job : load(*store).jobs) ids.push_back(job.id.value);
  CHECK(ids == std::vector<std::uint64_t>{2, 5, 9});
}

TEST_CASE("any change of an attempt's parts is stored") {
  const Folder folder;
  std::mt19937 random(5);
  Job job = a_job(1);
  Attempt attempt = an_attempt(job, {0, 1, 2, 3});
  auto store = open_new(folder.file());
  load(*store);
  commit(*store, {JobRow{job, true}});
  commit(*store, placed(job, attempt));
  for (int step = 0; step < 60; ++step) {
    NodePart& part = attempt.parts[random() % 4];
    switch (random() % 4) {
      case 0:
        part.phase = static_cast<NodePhase>(random() % 6);
        break;
      case 1:
        part.port = static_cast<std::uint16_t>(random() % 65536);
        break;
      case 2:
        part.end = NodeEnd{at(1), at(2), a_cause(), random() % 2 == 0, random() % 9, Bytes{7}};
        break;
      default:
        part.end.reset();
    }
    attempt.cause.signal = static_cast<std::int32_t>(random() % 20);
    commit(*store, {AttemptRow{attempt}});
    if (step % 20 == 10) {
      store.reset();
      store = open_new(folder.file());
    }
    const StoredState state = load(*store);
    REQUIRE(state.jobs.size() == 1);
    REQUIRE(*state.jobs[0].attempt == attempt);
  }
}

TEST_CASE("nodes come back with what outlives restarts") {
  const Folder folder;
  const auto store = open_new(folder.file());
  const std::vector<Drain> drains = {
      {DrainSource::kOperator, ReasonClass::kHardware, "op", "fan broken", time_from_ms(5)},
      {DrainSource::kStrikes, ReasonClass::kNode, "artel-ctld", "no space", time_from_ms(6)}};
  commit(*store, {NodeRow{"n2", "boot", {}, drains}, NodeRow{"n1", "a", {}, drains}});
  const std::vector<Strike> strikes = {{JobId{9}, time_from_ms(7)}, {JobId{3}, time_from_ms(8)}};
  commit(*store, {NodeRow{"n1", "b", strikes, {}}});
  const StoredState state = load(*store);
  REQUIRE(state.nodes.size() == 2);
  CHECK(state.nodes[0].name == "n1");
  CHECK(state.nodes[0].boot_id == "b");
  CHECK(state.nodes[0].strikes == strikes);
  CHECK(state.nodes[0].drains.empty());
  CHECK(state.nodes[1].strikes.empty());
  CHECK(state.nodes[1].drains == drains);
}

TEST_CASE("tokens of submissions come back, oldest first, if they are not too old") {
  const Folder folder;
  auto store = open_new(folder.file());
  load(*store);
  const auto with_token = [](std::uint64_t id, std::uint32_t uid, const std::string& token) {
    JobSpec spec = a_spec();
    spec.owner.uid = uid;
    spec.client_token = token;
    return a_job(id, spec);
  };
  Job old = with_token(1, 1000, "old");
  old.submitted_at = at(0) - std::chrono::hours{49};
  Job later = with_token(2, 1000, "same");
  Job earlier = with_token(3, 1001, "same");
  earlier.submitted_at = at(0);
  commit(*store,
         {JobRow{old, true}, JobRow{later, true}, JobRow{earlier, true}, JobRow{a_job(4), true}});
  const StoredState state = load(*store);
  REQUIRE(state.tokens.size() == 2);
  CHECK(state.tokens[0].uid == 1001);
  CHECK(state.tokens[0].job == JobId{3});
  CHECK(state.tokens[0].token == "same");
  CHECK(state.tokens[0].at == at(0));
  CHECK(state.tokens[1].job == JobId{2});
}

TEST_CASE("a batch is written whole or not at all") {
  const Folder folder;
  const auto store = open_new(folder.file());
  load(*store);
  commit(*store, {JobRow{a_job(1), true}});
  SECTION("an id is never given twice") {
    const auto done = store->commit({JobRow{a_job(2), true}, JobRow{a_job(1), true}});
    REQUIRE_FALSE(done);
    CHECK(done.error().code == ErrorCode::kStorage);
  }
  SECTION("a job that was never written cannot be changed") {
    const auto done = store->commit({JobRow{a_job(2), true}, JobRow{a_job(3), false}});
    REQUIRE_FALSE(done);
    CHECK(has(done.error().text, "job 3 is not there"));
  }
  CHECK(load(*store).jobs.size() == 1);
}

TEST_CASE("a job that cannot be read does not stop the start") {
  const Folder folder;
  std::string damage;
  std::string told;
  SECTION("its state") {
    damage = "UPDATE job SET state = 99 WHERE id = 2";
    told = "column state has the value 99";
  }
  SECTION("its specification") {
    damage = "UPDATE job_spec SET spec = x'ffffff' WHERE job = 2";
    told = "not the record of a job";
  }
  SECTION("its specification is missing") {
    damage = "DELETE FROM job_spec WHERE job = 2";
    told = "no component";
  }
  SECTION("its attempt") {
    damage = "UPDATE attempt SET outcome = -1 WHERE job = 2";
    told = "attempt 2.0.1: column outcome has the value -1";
  }
  SECTION("its attempt is missing") {
    damage = "DELETE FROM attempt WHERE job = 2";
    told = "attempt 1 or its nodes are missing";
  }
  SECTION("a part") {
    damage = "UPDATE attempt_node SET gpus = '0;1' WHERE job = 2 AND node_index = 1";
    told = "attempt 2.0.1, node n2: column gpus";
  }
  SECTION("a part is missing") {
    damage = "DELETE FROM attempt_node WHERE job = 2 AND node_index = 0";
    told = "has no row for its node 0";
  }
  {
    const auto store = open_new(folder.file());
    load(*store);
    for (std::uint64_t id = 1; id <= 3; ++id) {
      Job job = a_job(id);
      commit(*store, {JobRow{job, true}});
      commit(*store, placed(job, an_attempt(job, {0, 1})));
    }
  }
  tamper(folder.file(), damage);
  const auto store = open_new(folder.file());
  const StoredState state = load(*store);
  REQUIRE(state.jobs.size() == 2);
  CHECK(state.jobs[0].id == JobId{1});
  CHECK(state.jobs[1].id == JobId{3});
  CHECK(state.last_job == JobId{3});
  REQUIRE(store->set_aside().size() == 1);
  CHECK(store->set_aside()[0].kind == "job");
  CHECK(store->set_aside()[0].name == "2");
  CHECK(has(store->set_aside()[0].why, told));
}

TEST_CASE("a node whose drain cannot be read stays drained") {
  const Folder folder;
  open_new(folder.file());
  tamper(folder.file(), "INSERT INTO node_drain VALUES ('n1', 99, 0, 'op', 'fan', 0)");
  const auto store = open_new(folder.file());
  const StoredState state = load(*store);
  REQUIRE(state.nodes.size() == 1);
  REQUIRE(state.nodes[0].drains.size() == 1);
  CHECK(state.nodes[0].drains[0].source == DrainSource::kRecord);
  CHECK(store->set_aside().size() == 1);
}

TEST_CASE(
    "an attempt that has not ended on a node that is not configured is told with the way out") {
  const Folder folder;
  {
    const auto store = open_new(folder.file());
    load(*store);
    Job job = a_job(1);
    commit(*store, {JobRow{job, true}});
    commit(*store, placed(job, an_attempt(job, {0, 2, 3})));
  }
  auto store = open_store(folder.file(), {});
  REQUIRE(store);
  (*store)->set_node_names({"n1", "n2"});
  const auto state = (*store)->load();
  REQUIRE_FALSE(state);
  CHECK(state.error().code == ErrorCode::kConfig);
  CHECK(has(state.error().text, "n[3-4] held by jobs that have not ended (attempt 1.0.1"));
  CHECK(has(state.error().text, "put them back under cluster.d"));

  // With the way out taken, nothing is lost, and the order of nodes does not matter.
  (*store)->set_node_names({"n4", "n3", "n2", "n1"});
  const StoredState again = load(**store);
  REQUIRE(again.jobs.size() == 1);
  CHECK(again.jobs[0].attempt->parts[0].share.node == NodeId{3});
  CHECK(again.jobs[0].attempt->parts[1].share.node == NodeId{1});
}

TEST_CASE("an ended attempt on a node that is not configured does not hinder the start") {
  const Folder folder;
  {
    const auto store = open_new(folder.file());
    load(*store);
    Job job = a_job(1);
    commit(*store, {JobRow{job, true}});
    Attempt attempt = an_attempt(job, {0, 3});
    commit(*store, placed(job, attempt));
    attempt.ended_at = at(100);
    job.state = JobState::kPending;
    job.excluded = {NodeId{3}, NodeId{1}};
    commit(*store, {JobRow{job, false}, AttemptRow{attempt}});
  }
  auto store = open_store(folder.file(), {});
  REQUIRE(store);
  (*store)->set_node_names({"n1", "n2"});
  const StoredState state = load(**store);
  REQUIRE(state.jobs.size() == 1);
  CHECK(state.jobs[0].attempt == nullptr);
  CHECK(state.jobs[0].last_attempt == AttemptNo{1});
  CHECK(state.jobs[0].excluded == std::vector<NodeId>{NodeId{1}});
}

TEST_CASE("commits are quick", "[.bench]") {
  const Folder folder;
  const auto store = open_new(folder.file());
  load(*store);
  using Clock = std::chrono::steady_clock;
  std::uint64_t id = 0;
  for (int round = 0; round < 5; ++round) {
    std::vector<StoreWrite> rows;
    for (int i = 0; i < 1000; ++i) {
      JobSpec spec = a_spec();
      spec.client_token = "token-" + std::to_string(++id);
      spec.script = std::string(1000, 'x');
      rows.emplace_back(JobRow{a_job(id, spec), true});
      rows.emplace_back(EventRow{at(1), "submit", JobId{id}, "alice", "submitted"});
    }
    const auto begin = Clock::now();
    commit(*store, rows);
    const std::chrono::duration<double, std::milli> took = Clock::now() - begin;
    WARN("1,000 new jobs: " << took.count() << " ms");
  }
  const auto begin = Clock::now();
  for (int i = 0; i < 300; ++i) {
    ++id;
    commit(*store, {JobRow{a_job(id), true}});
  }
  const std::chrono::duration<double> took = Clock::now() - begin;
  WARN("single commits per second: " << 300 / took.count());
}
