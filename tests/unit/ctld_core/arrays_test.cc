// Arrays: tasks that become jobs when they start.
#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "harness.h"

namespace artel::ctld::test {
namespace {

/// Tasks of one GPU; 32 of them fill the cluster.
JobSpec array(const std::string& indexes) {
  JobSpec out = spec();
  out.components.front().per_node = {.whole_node = false, .gpus = GpuMilli{1000}};
  out.array = parse_array(indexes, kMostArrayTasks).value();
  return out;
}

/// Passes until one decides nothing.
void settle(Cluster& cluster) {
  for (int i = 0; i < 20; ++i) (void)cluster.tick(std::chrono::milliseconds{10});
  CHECK(cluster.core().check().value_or("") == "");
}

std::shared_ptr<const Job> whole(Cluster& cluster, JobId id) {
  return cluster.core().snapshot(cluster.now)->find_array(id);
}

std::vector<std::uint32_t> running(Cluster& cluster) {
  std::vector<std::uint32_t> out;
  for (const auto& job : cluster.core().snapshot(cluster.now)->jobs)
    if (is_placed(job->state)) out.push_back(job->task->index.value);
  return out;
}

void finish(Cluster& cluster, JobId task, Cause cause = well()) {
  const auto job = cluster.job(task);
  const std::uint32_t node = job->attempt->parts.front().share.node.value;
  cluster.from(node, AttemptReady{job->attempt->key, 4000});
  cluster.from(node, AttemptStarted{job->attempt->key, cluster.now});
  cluster.from(node, AttemptEnded{job->attempt->key, ended(cluster.now, std::move(cause))});
  (void)cluster.core().take_effects();
}

Result<> order(Cluster& cluster, const Caller& caller, const std::string& verb,
               const JobTarget& target) {
  if (verb == "cancel") cluster.core().cancel(RequestId{2}, caller, {target}, "", cluster.now);
  if (verb == "hold") cluster.core().hold(RequestId{2}, caller, {target}, "", cluster.now);
  if (verb == "release") cluster.core().release(RequestId{2}, caller, {target}, cluster.now);
  const Effects effects = cluster.core().take_effects();
  CHECK(cluster.core().check().value_or("") == "");
  return std::get<JobOutcomes>(effects.replies.at(0).body.value()).at(0).result;
}

JobTarget some(JobId id, const std::string& indexes) {
  return {id, IndexSet::parse(indexes, kMostArrayTasks).value()};
}

std::string refusal(Cluster& cluster, JobSpec what) {
  const auto body = cluster.submit(kAlice, {std::move(what)});
  return body ? "accepted" : body.error().text;
}

}  // namespace

TEST_CASE("of a million tasks those run that fit, the first ones by index") {
  Cluster cluster;
  cluster.connect_all();
  const JobId id = cluster.submit(array("0-999999"));
  settle(cluster);
  const auto now = running(cluster);
  REQUIRE(now.size() == 32);
  CHECK(now.front() == 0);
  CHECK(now.back() == 31);
  CHECK(whole(cluster, id)->tasks->waiting.text() == "32-999999");
  CHECK(whole(cluster, id)->state == JobState::kRunning);
  CHECK(cluster.core().snapshot(cluster.now)->jobs.size() == 32);
  // Numbers of all tasks are given out.
  CHECK(cluster.submit(spec()) == JobId{id.value + 1'000'001});
}

TEST_CASE("an array costs the same rows whatever its size") {
  Cluster cluster;
  cluster.connect_all();
  (void)cluster.core().take_effects();
  cluster.core().submit(RequestId{1}, kAlice, {array("0-999999")}, cluster.now);
  const Effects effects = cluster.core().take_effects();
  CHECK(effects.writes.size() == 2);  // its record and the event
}

TEST_CASE("a task that ends makes room for the next of its array") {
  Cluster cluster;
  cluster.connect_all();
  const JobId id = cluster.submit(array("10-99:2%4"));
  settle(cluster);
  CHECK(running(cluster) == std::vector<std::uint32_t>{10, 12, 14, 16});
  CHECK(cluster.job(JobId{id.value + 5})->wait.code == WaitCode::kArrayThrottle);
  CHECK(cluster.job(JobId{id.value + 20})->wait.code == WaitCode::kArrayThrottle);
  finish(cluster, JobId{id.value + 2});
  settle(cluster);
  CHECK(running(cluster) == std::vector<std::uint32_t>{10, 14, 16, 18});
  CHECK(whole(cluster, id)->tasks->completed == 1);
}

TEST_CASE("a task tells what it waits for") {
  Cluster cluster;
  cluster.connect_all();
  const JobId id = cluster.submit(array("0-99"));
  settle(cluster);
  CHECK(cluster.job(JobId{id.value + 33})->wait.code == WaitCode::kResources);  // the next
  const auto later = cluster.job(JobId{id.value + 40});
  CHECK(later->wait.code == WaitCode::kArrayOrder);
  CHECK(later->wait.behind == JobId{id.value + 33});
  CHECK(later->task->index == TaskIndex{39});
}

TEST_CASE("an array has ended when all its tasks have, and a failure speaks for it") {
  Cluster cluster;
  cluster.connect_all();
  const JobId id = cluster.submit(array("0-2"));
  settle(cluster);
  finish(cluster, JobId{id.value + 1});
  finish(cluster, JobId{id.value + 2},
         {.actor = Actor::kApplication, .code = CauseCode::kExit, .exit_code = 3});
  CHECK(whole(cluster, id)->state == JobState::kRunning);
  finish(cluster, JobId{id.value + 3});
  const auto done = cluster.job(id);
  CHECK(done->state == JobState::kFailed);
  CHECK(done->cause.exit_code == 3);
  CHECK(done->tasks->completed == 2);
  CHECK(done->tasks->failed == 1);
  CHECK(cluster.core().snapshot(cluster.now)->arrays.empty());
}

TEST_CASE("a cancelled array ends: what waits at once, what runs when it is gone") {
  Cluster cluster;
  cluster.connect_all();
  const JobId id = cluster.submit(array("0-999"));
  settle(cluster);
  CHECK(order(cluster, kBob, "cancel", id).error().code == ErrorCode::kPermissionDenied);
  CHECK(order(cluster, kAlice, "cancel", id));
  CHECK(whole(cluster, id)->tasks->cancelled == 968);
  CHECK(cluster.job(JobId{id.value + 500})->state == JobState::kCancelled);
  CHECK(cluster.job(JobId{id.value + 1})->state == JobState::kCompleting);
  settle(cluster);
  CHECK(running(cluster).size() == 32);  // nothing new starts
  const Cause left{.actor = Actor::kUser, .code = CauseCode::kCancel};
  for (std::uint64_t i = 1; i <= 32; ++i) finish(cluster, JobId{id.value + i}, left);
  CHECK(cluster.job(id)->state == JobState::kCancelled);
  CHECK_FALSE(order(cluster, kAlice, "cancel", id));
}

TEST_CASE("tasks are cancelled one by one and in ranges") {
  Cluster cluster;
  cluster.connect_all();
  const JobId id = cluster.submit(array("0-99"));
  settle(cluster);
  CHECK(order(cluster, kAlice, "cancel", some(id, "30-49")));
  CHECK(whole(cluster, id)->tasks->waiting.text() == "50-99");
  CHECK(order(cluster, kAlice, "cancel", JobId{id.value + 1 + 60}));
  CHECK(whole(cluster, id)->tasks->waiting.text() == "50-59,61-99");
  const auto again = order(cluster, kAlice, "cancel", some(id, "40,60"));
  CHECK(again.error().code == ErrorCode::kNotFound);
  const auto strange = order(cluster, kAlice, "cancel", some(id, "90-100"));
  CHECK(strange.error().text.find("has no task 100; it has 0-99") != std::string::npos);
  const auto no_array = order(cluster, kAlice, "cancel", some(JobId{id.value + 5}, "1"));
  CHECK(no_array.error().text.find("does not exist") != std::string::npos);
}

TEST_CASE("held tasks stay behind and come back in their place") {
  Cluster cluster;
  cluster.connect_all();
  const JobId id = cluster.submit(array("0-99%2"));
  CHECK(order(cluster, kAlice, "hold", some(id, "1-9")));
  settle(cluster);
  CHECK(running(cluster) == std::vector<std::uint32_t>{0, 10});
  CHECK(cluster.job(JobId{id.value + 3})->state == JobState::kHeld);
  CHECK(order(cluster, kAlice, "hold", id));
  CHECK(whole(cluster, id)->tasks->waiting.empty());
  finish(cluster, JobId{id.value + 1});
  settle(cluster);
  CHECK(running(cluster) == std::vector<std::uint32_t>{10});
  CHECK(order(cluster, kAlice, "release", some(id, "5-6")));
  settle(cluster);
  CHECK(running(cluster) == std::vector<std::uint32_t>{5, 10});
  CHECK(order(cluster, kAlice, "release", id));
  CHECK(whole(cluster, id)->tasks->waiting.text() == "1-4,6-9,11-99");
}

TEST_CASE("an array that is submitted held waits for its release") {
  Cluster cluster;
  cluster.connect_all();
  JobSpec what = array("0-9");
  what.held = true;
  const JobId id = cluster.submit(std::move(what));
  settle(cluster);
  CHECK(whole(cluster, id)->state == JobState::kHeld);
  CHECK(order(cluster, kAlice, "release", id));
  settle(cluster);
  CHECK(running(cluster).size() == 10);
}

TEST_CASE("a repeated submission of an array gives the same one") {
  Cluster cluster;
  JobSpec what = array("0-9");
  what.client_token = "once";
  const JobId id = cluster.submit(what);
  CHECK(cluster.submit(what) == id);
  CHECK(cluster.submit(spec()) == JobId{id.value + 11});
}

TEST_CASE("a task knows its array, its index and its own output") {
  Cluster cluster;
  cluster.connect_all();
  JobSpec what = array("3,8-9");
  what.output = "o-%A_%t";
  what.environment = {{"ARTEL_ARRAY_TASK_ID", "77"}, {"X", "1"}};
  const JobId id = cluster.submit(std::move(what));
  const auto prepared = sent<Prepare>(cluster.tick());
  REQUIRE(prepared.size() == 3);
  const LaunchSpec& second = prepared.at(1).second.spec;
  CHECK(second.key == AttemptKey{JobId{id.value + 2}, TaskIndex{8}, AttemptNo{1}});
  CHECK(second.output == fmt::format("/home/alice/o-{}_8", id.value));
  const Environment expected = {{"X", "1"},
                                {"ARTEL_ARRAY_JOB_ID", std::to_string(id.value)},
                                {"ARTEL_ARRAY_TASK_ID", "8"},
                                {"ARTEL_ARRAY_TASK_COUNT", "3"},
                                {"ARTEL_ARRAY_TASK_MIN", "3"},
                                {"ARTEL_ARRAY_TASK_MAX", "9"}};
  CHECK(second.environment == expected);
}

TEST_CASE("what no array can be is refused with the way out") {
  ControllerConfig config = Cluster::config();
  config.max_array_tasks = 100;
  Cluster cluster({}, config);
  CHECK(refusal(cluster, array("0-100")).find("101 tasks, at most 100") != std::string::npos);
  JobSpec one_file = array("0-9");
  one_file.output = "out-%A";
  CHECK(refusal(cluster, one_file).find("put %t") != std::string::npos);
  JobSpec attached = array("0-9");
  attached.kind = JobKind::kInteractive;
  CHECK(refusal(cluster, attached).find("batch jobs only") != std::string::npos);
  JobSpec big = array("0-9");
  big.components.front().per_node.gpus = GpuMilli{9000};
  CHECK(refusal(cluster, big).find("gpus per node: asked 9, possible 8") != std::string::npos);
  CHECK(cluster.submit(spec()) == JobId{1});  // no number was given out
}

TEST_CASE("tasks of an array wait in its place among other jobs") {
  Cluster cluster;
  const JobId id = cluster.submit(array("0-999"));
  cluster.now += std::chrono::seconds{5};
  const JobId later = cluster.submit(spec(4));
  cluster.connect_all();
  settle(cluster);
  CHECK(running(cluster).size() == 32);
  CHECK(cluster.job(later)->state == JobState::kPending);
  for (std::uint64_t i = 1; i <= 8; ++i) finish(cluster, JobId{id.value + i});
  settle(cluster);
  CHECK(running(cluster).back() == 39);  // though the core heard of some after the other job
}

/// 80 nodes of 8 GPUs.
ControllerConfig large_site() {
  ControllerConfig out = Cluster::config();
  out.nodes.clear();
  for (int i = 1; i <= 80; ++i)
    out.nodes.push_back(
        {.name = fmt::format("n{}", i),
         .address = fmt::format("n{}", i),
         .resources = {.cpus = 64, .memory = Bytes{1ULL << 40U}, .gpu_type = "h100", .gpus = 8}});
  return out;
}

void connect_all_of(Cluster& cluster, const ControllerConfig& site) {
  std::uint64_t session = 1000;
  for (const NodeConfig& node : site.nodes) {
    (void)cluster.core().agent_connected(
        SessionId{++session},
        {.node = node.name,
         .inventory = {.boot_id = "b", .resources = node.resources},
         .attempts = {}},
        cluster.now);
  }
}

TEST_CASE("a later job does not overtake an array, however much room there is") {
  const ControllerConfig site = large_site();
  Cluster cluster({}, site);
  (void)cluster.submit(array("0-639"));
  cluster.now += std::chrono::seconds{5};
  const JobId later = cluster.submit(spec(40));
  connect_all_of(cluster, site);
  settle(cluster);
  CHECK(running(cluster).size() == 640);
  CHECK(cluster.job(later)->state == JobState::kPending);
}

TEST_CASE("tasks that are released go before higher ones") {
  Cluster cluster;
  cluster.connect_all();
  const JobId id = cluster.submit(array("0-999%2"));
  REQUIRE(order(cluster, kAlice, "hold", some(id, "0-9")));
  settle(cluster);
  CHECK(running(cluster) == std::vector<std::uint32_t>{10, 11});
  REQUIRE(order(cluster, kAlice, "release", some(id, "0-9")));
  finish(cluster, JobId{id.value + 11});
  settle(cluster);
  CHECK(running(cluster) == std::vector<std::uint32_t>{0, 11});
}

TEST_CASE("of a call that is refused nothing stays, of its arrays neither") {
  Cluster cluster;
  cluster.connect_all();
  const auto refused =
      cluster.submit(kAlice, {array("0-999999"), spec(1), array("0-999999"), spec(5)});
  REQUIRE_FALSE(refused);
  CHECK(cluster.submit(spec(1)) == JobId{1});
  settle(cluster);
  CHECK(cluster.core().snapshot(cluster.now)->jobs.size() == 1);
}

TEST_CASE("an array ends without the tasks whose records are lost") {
  JobSpec admitted = array("0-2");
  admitted.owner = kAlice.owner;
  ArrayTasks tasks;
  tasks.completed = 2;
  tasks.active = 1;
  Job damaged;
  damaged.id = JobId{1};
  damaged.spec = std::make_shared<const JobSpec>(admitted);
  damaged.state = JobState::kRunning;
  damaged.submitted_at = kStart;
  damaged.tasks = std::make_shared<const ArrayTasks>(tasks);
  StoredState stored;
  stored.last_job = JobId{4};
  stored.jobs.push_back(damaged);
  Cluster cluster(std::move(stored));
  const Effects effects = cluster.tick();
  const auto* row = std::get_if<JobRow>(&effects.writes.at(0));
  REQUIRE(row != nullptr);
  CHECK(row->job.state == JobState::kFailed);
  CHECK(row->job.tasks->failed == 1);
  CHECK(row->job.cause.text.find("could not be read") != std::string::npos);
}

}  // namespace artel::ctld::test
