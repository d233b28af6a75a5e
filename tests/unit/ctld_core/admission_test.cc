#include <catch2/catch.hpp>

#include "harness.h"

using namespace artel;
using namespace artel::ctld;
using namespace artel::ctld::test;

namespace {

/// The text with which this specification is refused.
std::string refusal(JobSpec what, ErrorCode code = ErrorCode::kInvalidArgument) {
  Cluster cluster;
  const auto reply = cluster.submit(kAlice, {std::move(what)});
  REQUIRE_FALSE(reply);
  CHECK(reply.error().code == code);
  return reply.error().text;
}

}  // namespace

TEST_CASE("an answer names the new id and comes with its rows") {
  Cluster cluster;
  cluster.core().submit(RequestId{7}, kAlice, {spec(), spec()}, cluster.now);
  const Effects effects = cluster.core().take_effects();
  REQUIRE(effects.replies.size() == 1);
  CHECK(effects.replies[0].request == RequestId{7});
  CHECK(std::get<Submitted>(effects.replies[0].body.value()).jobs ==
        std::vector{JobId{1}, JobId{2}});
  int rows = 0;
  for (const StoreWrite& write : effects.writes) {
    if (const auto* row = std::get_if<JobRow>(&write)) rows += row->is_new ? 1 : 0;
  }
  CHECK(rows == 2);
}

TEST_CASE("the owner is the caller, whatever the message says") {
  Cluster cluster;
  JobSpec forged = spec();
  forged.owner = {.uid = 0, .gid = 0, .user = "root"};
  const JobId id = cluster.submit(forged);
  CHECK(cluster.job(id)->spec->owner == kAlice.owner);
}

TEST_CASE("one bad job refuses the whole call and is named") {
  Cluster cluster;
  JobSpec bad = spec();
  bad.argv.clear();
  const auto reply = cluster.submit(kAlice, {spec(), bad});
  REQUIRE_FALSE(reply);
  CHECK_THAT(reply.error().text, Catch::StartsWith("job 2 of 2: no program"));
  CHECK(cluster.core().snapshot(cluster.now)->jobs.empty());
}

TEST_CASE("a repeated submission gives the same job") {
  Cluster cluster;
  JobSpec once = spec();
  once.client_token = "t1";
  const JobId id = cluster.submit(once);
  CHECK(cluster.submit(once) == id);
  const auto other = cluster.submit(kBob, {once});
  CHECK(std::get<Submitted>(other.value()).jobs.at(0) != id);
}

TEST_CASE("a token is remembered over a restart and forgotten after its time") {
  StoredState stored;
  stored.last_job = JobId{5};
  stored.tokens.push_back({.uid = 1001, .token = "t1", .job = JobId{5}, .at = kStart});
  Cluster cluster(std::move(stored));
  JobSpec once = spec();
  once.client_token = "t1";
  CHECK(cluster.submit(once) == JobId{5});
  (void)cluster.tick(std::chrono::hours{25});
  CHECK(cluster.submit(once) == JobId{6});
}

TEST_CASE("what could never start is refused with what is possible") {
  CHECK(refusal(spec(5), ErrorCode::kNeverFits) == "nodes: asked 5, possible 4");
  JobSpec nine = spec();
  nine.components[0].per_node = {.whole_node = false, .gpus = GpuMilli{9000}};
  CHECK(refusal(nine, ErrorCode::kNeverFits) == "gpus per node: asked 9, possible 8");
  JobSpec type = spec();
  type.components[0].per_node.gpu_type = "b200";
  CHECK(refusal(type, ErrorCode::kNeverFits) == "gpu type: no allowed node has 'b200'");
  JobSpec cpus = spec();
  cpus.components[0].per_node = {.whole_node = false, .cpus = 65};
  CHECK(refusal(cpus, ErrorCode::kNeverFits) == "cpus per node: asked 65, possible 64");
  JobSpec excluded = spec();
  excluded.nodes_avoided = {"hgx01", "hgx02", "hgx03", "hgx04"};
  CHECK(refusal(excluded, ErrorCode::kNeverFits) == "nodes: asked 1, possible 0");
}

TEST_CASE("bad values are refused with the thing named") {
  JobSpec zero = spec(0);
  CHECK_THAT(refusal(zero), Catch::StartsWith("nodes: 0 is too few"));
  JobSpec unknown = spec();
  unknown.nodes_wanted = {"hgx09"};
  CHECK(refusal(unknown) == "nodelist: there is no node 'hgx09'");
  JobSpec name = spec();
  name.name = "a\nb";
  CHECK_THAT(refusal(name), Catch::StartsWith("name:"));
  JobSpec output = spec();
  output.output = "out-%q";
  CHECK_THAT(refusal(output), Catch::Contains("'%q'"));
  JobSpec script = spec();
  script.script = "echo no interpreter\n";
  CHECK_THAT(refusal(script), Catch::StartsWith("script: the first line"));
  JobSpec directory = spec();
  directory.working_directory = "here";
  CHECK_THAT(refusal(directory), Catch::Contains("'here' is not absolute"));
  JobSpec share = spec();
  share.components[0].per_node = {.whole_node = false, .gpus = GpuMilli{500}};
  CHECK_THAT(refusal(share), Catch::StartsWith("gpus per node: shares"));
}

TEST_CASE("a queue takes the jobs of its team only") {
  ControllerConfig config = Cluster::config();
  config.teams.teams = {{.name = "nlp"}, {.name = "vision"}, {.name = "audio"}};
  config.teams.queues = {
      {.name = "train", .team = "nlp"}, {.name = "debug"}, {.name = "see", .team = "vision"}};
  Cluster cluster({}, std::move(config));
  const auto line = [&](const std::string& team, const std::string& queue) {
    JobSpec job = spec();
    job.team = team;
    job.queue = queue;
    const auto reply = cluster.submit(kAlice, {job});
    if (!reply) return reply.error().text;
    const auto id = std::get<Submitted>(reply.value()).jobs.at(0);
    const JobSpec& got = *cluster.job(id)->spec;
    return got.team + "/" + got.queue;
  };
  CHECK(line("nlp", "train") == "nlp/train");
  CHECK(line("", "train") == "nlp/train");
  CHECK(line("audio", "") == "audio/debug");
  CHECK(line("audio", "debug") == "audio/debug");
  CHECK(line("vision", "train") ==
        "queue: 'train' takes the jobs of team 'nlp' only, not of 'vision'");
  CHECK(line("vision", "") == "queue: name one of: debug, see");
  CHECK(line("", "debug") == "team: name one of: nlp, vision, audio");
}

TEST_CASE("nobody but an operator puts himself first") {
  JobSpec first = spec();
  first.priority = 1;
  CHECK_THAT(refusal(first, ErrorCode::kPermissionDenied),
             Catch::StartsWith("priority: 1 is for operators"));
  Cluster cluster;
  CHECK(cluster.submit(kOperator, {first}));
  first.priority = -1;
  CHECK(cluster.submit(kAlice, {first}));
}

TEST_CASE("a job that would cost too much is refused with the limit") {
  JobSpec script = spec();
  script.script = "#!/bin/sh\n" + std::string(1U << 20U, 'x');
  CHECK_THAT(refusal(script), Catch::StartsWith("script: 1048586 bytes, at most 1048576"));
  JobSpec environment = spec();
  environment.environment.emplace_back("A", std::string(2U << 20U, 'x'));
  CHECK_THAT(refusal(environment), Catch::StartsWith("arguments and environment:"));
  JobSpec output = spec();
  output.name = std::string(100, 'n');
  for (int i = 0; i < 100; ++i) output.output += "%x";
  CHECK_THAT(refusal(output), Catch::StartsWith("output: 10"));
}

TEST_CASE(
    "a repetition is answered although the queue is full or the request would be refused now") {
  StoredState stored;
  stored.last_job = JobId{5};
  stored.tokens.push_back({.uid = 1001, .token = "t1", .job = JobId{5}, .at = kStart});
  Cluster cluster(std::move(stored));
  JobSpec once = spec(99);
  once.client_token = "t1";
  CHECK(cluster.submit(once) == JobId{5});
}

TEST_CASE("a waiting job is cancelled at once, and only by its owner or an operator") {
  Cluster cluster;
  const JobId id = cluster.submit(spec());
  CHECK(cluster.cancel(kBob, id).error().code == ErrorCode::kPermissionDenied);
  CHECK(cluster.job(id)->state == JobState::kPending);
  CHECK(cluster.cancel(kOperator, id));
  const auto job = cluster.job(id);
  CHECK(job->state == JobState::kCancelled);
  CHECK(job->cause.actor == Actor::kUser);
  CHECK(job->cause.actor_name == "op");
  CHECK(cluster.cancel(kAlice, id).error().code == ErrorCode::kNotFound);
  CHECK(cluster.cancel(kAlice, JobId{99}).error().code == ErrorCode::kNotFound);
}

TEST_CASE("a held job waits although there is room") {
  Cluster cluster;
  cluster.connect_all();
  JobSpec held = spec();
  held.held = true;
  const JobId id = cluster.submit(held);
  (void)cluster.tick();
  CHECK(cluster.job(id)->state == JobState::kHeld);
  CHECK(cluster.job(id)->wait.code == WaitCode::kHeld);
}
