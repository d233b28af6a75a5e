// What becomes of jobs whose retries are spent, and orders that change acknowledged jobs: requeue,
// update, hold and release of somebody else's.
#include <catch2/catch.hpp>

#include "harness.h"

namespace artel::ctld::test {
namespace {

using std::chrono::seconds;

Result<> outcome(Cluster& cluster, Effects& effects) {
  effects = cluster.core().take_effects();
  return std::get<JobOutcomes>(effects.replies.at(0).body.value()).at(0).result;
}

Result<> requeue(Cluster& cluster, const Caller& caller, JobId job) {
  cluster.core().requeue(RequestId{7}, caller, {job}, "new data", cluster.now);
  Effects effects;
  return outcome(cluster, effects);
}

Result<> update(Cluster& cluster, const Caller& caller, JobId job, const JobChange& change,
                Effects* effects = nullptr) {
  Effects own;
  cluster.core().update(RequestId{8}, caller, {job}, change, cluster.now);
  return outcome(cluster, effects == nullptr ? own : *effects);
}

Result<> release(Cluster& cluster, const Caller& caller, JobId job) {
  cluster.core().release(RequestId{9}, caller, {job}, cluster.now);
  Effects effects;
  return outcome(cluster, effects);
}

/// Its attempt, wherever it is, ends because its first node lost its step daemon.
void fail_node(Cluster& cluster, JobId id) {
  const auto attempt = cluster.job(id)->attempt;
  const NodeId node = attempt->parts[0].share.node;
  const Cause cause{.actor = Actor::kNode,
                    .code = CauseCode::kStepLost,
                    .node = Cluster::config().nodes[node.value].name,
                    .text = "the step daemon died"};
  cluster.from(node.value, AttemptEnded{attempt->key, ended(cluster.now, cause)});
}

JobId spend(Cluster& cluster, JobSpec spec) {
  const std::uint32_t most = spec.retries.node;
  const JobId id = cluster.submit(std::move(spec));
  for (std::uint32_t i = 0; i <= most; ++i) {
    (void)cluster.tick(seconds{100});
    fail_node(cluster, id);
  }
  return id;
}

StoredState stored(Cluster& cluster, JobId id) {
  StoredState out;
  out.last_job = id;
  out.jobs = {*cluster.job(id)};
  return out;
}

TEST_CASE("a job whose retries for nodes are spent is held, says so, and gets new ones") {
  Cluster before;
  before.connect_all();
  const JobId id = spend(before, spec());
  CHECK(before.job(id)->state == JobState::kHeld);
  CHECK(before.job(id)->cause.code == CauseCode::kRetriesSpent);
  CHECK(before.job(id)->cause.text ==
        "held: its 3 retries after failures of nodes are spent, the last: the step daemon died; "
        "'artel release 1' gives it new ones");
  CHECK(before.job(id)->retries.application == 0);
  Cluster cluster(stored(before, id), Cluster::config(), before.now);
  cluster.connect_all();
  (void)cluster.tick(seconds{100});
  CHECK(cluster.job(id)->state == JobState::kHeld);
  CHECK(cluster.job(id)->retries.node == 3);
  REQUIRE(release(cluster, kAlice, id));
  CHECK(cluster.job(id)->retries == RetriesUsed{});
  CHECK(cluster.job(id)->cause == Cause{});
  (void)cluster.tick(seconds{1});
  CHECK(cluster.job(id)->state == JobState::kPreparing);
}

TEST_CASE("a job with somebody at its terminal, or that wanted no retries, ends") {
  Cluster cluster;
  cluster.connect_all();
  JobSpec attached = spec();
  attached.attached = true;
  attached.output.clear();
  CHECK(cluster.job(spend(cluster, attached))->state == JobState::kNodeFail);
  JobSpec once = spec();
  once.retries.node = 0;
  CHECK(cluster.job(spend(cluster, once))->state == JobState::kNodeFail);
}

TEST_CASE("a held job does not run again beside a run on a node that nobody can ask") {
  Cluster cluster;
  cluster.connect_all();
  JobSpec one = spec(2);
  one.retries.node = 1;
  const AttemptKey first = cluster.run(one);
  fail_node(cluster, first.job);
  cluster.from(1, AttemptEnded{first, {.ended = cluster.now}});
  (void)cluster.tick(seconds{100});
  const auto second = cluster.job(first.job)->attempt;
  REQUIRE(second->key.attempt == AttemptNo{2});
  for (const NodePart& part : second->parts)
    cluster.from(part.share.node.value, AttemptReady{second->key, 4000});
  cluster.disconnect(second->parts[1].share.node.value);
  fail_node(cluster, first.job);
  for (int i = 0; i < 10; ++i) (void)cluster.tick(seconds{100});
  CHECK(cluster.job(first.job)->state == JobState::kCompleting);
}

TEST_CASE("a requeued job gets its grace, waits in its old place and costs no retry") {
  Cluster cluster;
  cluster.connect_all();
  const AttemptKey key = cluster.run(spec(4));
  const JobId later = cluster.submit(spec(4));
  CHECK(requeue(cluster, kBob, key.job).error().code == ErrorCode::kPermissionDenied);
  cluster.core().requeue(RequestId{7}, kAlice, {key.job}, "new data", cluster.now);
  const Effects effects = cluster.core().take_effects();
  const auto ends = sent<EndAttempt>(effects);
  REQUIRE(ends.size() == 4);
  CHECK_FALSE(ends[0].second.immediately);
  CHECK(requeue(cluster, kAlice, key.job));  // a repeated call
  for (std::uint32_t node = 0; node < 4; ++node)
    cluster.from(node, AttemptEnded{key, ended(cluster.now, ends[0].second.cause)});
  CHECK(cluster.job(key.job)->state == JobState::kPending);
  CHECK(cluster.job(key.job)->attempt->cause.text == "requeued by alice: new data");
  CHECK(cluster.job(key.job)->retries == RetriesUsed{});
  CHECK(requeue(cluster, kAlice, key.job));
  (void)cluster.tick();
  CHECK(cluster.job(key.job)->state == JobState::kPreparing);
  CHECK(cluster.job(key.job)->attempt->key.attempt == AttemptNo{2});
  CHECK(cluster.job(later)->state == JobState::kPending);
}

TEST_CASE("a requeue is refused where there is no run to end, or somebody waits for its end") {
  Cluster cluster;
  const JobId waits = cluster.submit(spec());
  CHECK(requeue(cluster, kAlice, waits).error().code == ErrorCode::kWrongState);
  CHECK(requeue(cluster, kAlice, JobId{99}).error().code == ErrorCode::kNotFound);
  REQUIRE(cluster.cancel(kAlice, waits));
  cluster.connect_all();
  JobSpec attached = spec();
  attached.attached = true;
  const AttemptKey key = cluster.run(attached);
  CHECK(requeue(cluster, kAlice, key.job).error().text.find("terminal") != std::string::npos);
  REQUIRE(cluster.cancel(kAlice, key.job));
  CHECK(requeue(cluster, kAlice, key.job).error().text.find("ending already") != std::string::npos);
}

TEST_CASE("a run that ends well before it hears of the requeue is the job's end") {
  Cluster cluster;
  cluster.connect_all();
  const AttemptKey key = cluster.run(spec(2));
  REQUIRE(requeue(cluster, kAlice, key.job));
  for (std::uint32_t node = 0; node < 2; ++node)
    cluster.from(node, AttemptEnded{key, ended(cluster.now, well())});
  CHECK(cluster.job(key.job)->state == JobState::kCompleted);
}

TEST_CASE("a cancel after a requeue is the end of the job") {
  Cluster cluster;
  cluster.connect_all();
  const AttemptKey key = cluster.run(spec());
  REQUIRE(requeue(cluster, kAlice, key.job));
  REQUIRE(cluster.cancel(kAlice, key.job));
  cluster.from(0, AttemptEnded{key, ended(cluster.now, cluster.job(key.job)->attempt->cause)});
  CHECK(cluster.job(key.job)->state == JobState::kCancelled);
  CHECK(cluster.job(key.job)->cause.code == CauseCode::kCancel);
}

TEST_CASE("what an operator holds only operators release") {
  Cluster cluster;
  const JobId id = cluster.submit(spec());
  Effects effects;
  cluster.core().hold(RequestId{3}, kOperator, {id}, "fills the disk", cluster.now);
  REQUIRE(outcome(cluster, effects));
  CHECK(cluster.job(id)->cause.text == "held by op: fills the disk");
  const Result<> refused = release(cluster, kAlice, id);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::kPermissionDenied);
  CHECK(refused.error().text.find("held by op: fills the disk") != std::string::npos);
  REQUIRE(release(cluster, kOperator, id));
  cluster.core().hold(RequestId{3}, kAlice, {id}, "", cluster.now);
  REQUIRE(outcome(cluster, effects));
  CHECK(release(cluster, kAlice, id));
}

TEST_CASE("an update is stored with who made it, and the job keeps its place") {
  Cluster cluster;
  const JobId first = cluster.submit(spec(4));
  const JobId second = cluster.submit(spec(2));
  Effects effects;
  REQUIRE(update(cluster, kAlice, first,
                 {.name = "small",
                  .time_limit = std::chrono::hours{1},
                  .nodes = 3,
                  .nodes_avoided = std::vector<std::string>{"hgx01"}},
                 &effects));
  bool has_event = false;
  bool has_spec = false;
  for (const StoreWrite& write : effects.writes) {
    if (const auto* row = std::get_if<EventRow>(&write))
      has_event = has_event || (row->kind == "update" && row->actor == "alice");
    if (const auto* row = std::get_if<JobRow>(&write))
      has_spec = has_spec || (row->has_new_spec && row->job.spec->name == "small");
  }
  CHECK(has_event);
  CHECK(has_spec);
  cluster.connect_all();
  (void)cluster.tick();
  const auto job = cluster.job(first);
  REQUIRE(job->state == JobState::kPreparing);
  CHECK(job->attempt->parts.size() == 3);
  CHECK(job->attempt->parts[0].share.node == NodeId{1});
  CHECK(cluster.job(second)->state == JobState::kPending);
}

TEST_CASE("an update is refused as a submission would be, and changes nothing then") {
  Cluster cluster;
  const JobId id = cluster.submit(spec(2));
  CHECK(update(cluster, kBob, id, {.name = "x"}).error().code == ErrorCode::kPermissionDenied);
  CHECK(update(cluster, kAlice, id, {.priority = 5}).error().code == ErrorCode::kPermissionDenied);
  CHECK(update(cluster, kAlice, id, {.nodes = 5}).error().code == ErrorCode::kNeverFits);
  CHECK(update(cluster, kAlice, id, {.nodes_wanted = std::vector<std::string>{"hgx01"}})
            .error()
            .code == ErrorCode::kNeverFits);
  CHECK(cluster.job(id)->spec->component().nodes == 2);
  REQUIRE(update(cluster, kOperator, id, {.priority = 5}));
  CHECK(update(cluster, kAlice, id, {.name = "y"}));  // needs no right for what is as it was
}

TEST_CASE("of a job that has its nodes only the name changes") {
  Cluster cluster;
  cluster.connect_all();
  const AttemptKey key = cluster.run(spec());
  CHECK(update(cluster, kAlice, key.job, {.nodes = 2}).error().code == ErrorCode::kWrongState);
  REQUIRE(update(cluster, kAlice, key.job, {.name = "long"}));
  CHECK(cluster.job(key.job)->spec->name == "long");
  CHECK(cluster.job(key.job)->state == JobState::kRunning);
}

TEST_CASE("a higher priority counts from the next pass on") {
  Cluster cluster;
  const JobId first = cluster.submit(spec(4));
  const JobId second = cluster.submit(spec(4));
  REQUIRE(update(cluster, kAlice, first, {.priority = -1}));
  cluster.connect_all();
  (void)cluster.tick();
  CHECK(cluster.job(second)->state == JobState::kPreparing);
}

}  // namespace
}  // namespace artel::ctld::test
