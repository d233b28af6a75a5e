// Orders beside submit and cancel: hold and release, drain and resume.
#include <catch2/catch.hpp>

#include "harness.h"

namespace artel::ctld::test {
namespace {

/// What became of a command for the one thing that it named.
Result<> outcome(Cluster& cluster) {
  const Effects effects = cluster.core().take_effects();
  const auto& body = effects.replies.at(0).body.value();
  if (const auto* jobs = std::get_if<JobOutcomes>(&body)) return jobs->at(0).result;
  return std::get<NodeOutcomes>(body).at(0).result;
}

Result<> hold(Cluster& cluster, const Caller& caller, JobId job) {
  cluster.core().hold(RequestId{3}, caller, {job}, "", cluster.now);
  return outcome(cluster);
}

Result<> release(Cluster& cluster, const Caller& caller, JobId job) {
  cluster.core().release(RequestId{4}, caller, {job}, cluster.now);
  return outcome(cluster);
}

Result<> drain(Cluster& cluster, const Caller& caller, const std::string& node) {
  cluster.core().drain(RequestId{5}, caller, {node},
                       {.reason = "fan is loud", .reason_class = ReasonClass::kHardware},
                       cluster.now);
  return outcome(cluster);
}

Result<> resume(Cluster& cluster, const Caller& caller, const std::string& node) {
  cluster.core().resume(RequestId{6}, caller, {node}, cluster.now);
  return outcome(cluster);
}

Node node(Cluster& cluster, std::size_t index) {
  return cluster.core().snapshot(cluster.now)->nodes.at(index);
}

TEST_CASE("a job that waits is held until it is released, by its owner or an operator") {
  Cluster cluster;
  const JobId id = cluster.submit(spec());
  CHECK(hold(cluster, kBob, id).error().code == ErrorCode::kPermissionDenied);
  REQUIRE(hold(cluster, kAlice, id));
  CHECK(hold(cluster, kAlice, id));  // a repeated call
  cluster.connect_all();
  (void)cluster.tick();
  CHECK(cluster.job(id)->state == JobState::kHeld);
  CHECK(cluster.job(id)->wait.code == WaitCode::kHeld);
  CHECK(release(cluster, kBob, id).error().code == ErrorCode::kPermissionDenied);
  REQUIRE(release(cluster, kOperator, id));
  CHECK(release(cluster, kOperator, id));
  (void)cluster.tick();
  CHECK(cluster.job(id)->state == JobState::kPreparing);
}

TEST_CASE("a job that has its nodes cannot be held") {
  Cluster cluster;
  cluster.connect_all();
  const AttemptKey key = cluster.run(spec());
  const Result<> held = hold(cluster, kAlice, key.job);
  REQUIRE_FALSE(held);
  CHECK(held.error().text.find("is RUNNING") != std::string::npos);
  CHECK(cluster.job(key.job)->state == JobState::kRunning);
  CHECK(release(cluster, kAlice, key.job));
  CHECK(hold(cluster, kAlice, JobId{99}).error().code == ErrorCode::kNotFound);
}

TEST_CASE("a held job stands in nobody's way and is first again when it is released") {
  Cluster cluster;
  const JobId first = cluster.submit(spec(4));
  const JobId second = cluster.submit(spec(4));
  REQUIRE(hold(cluster, kAlice, first));
  cluster.connect_all();
  (void)cluster.tick();
  CHECK(cluster.job(second)->state == JobState::kPreparing);
  const JobId third = cluster.submit(spec(4));
  REQUIRE(release(cluster, kAlice, first));
  REQUIRE(cluster.cancel(kAlice, second));
  const auto attempt = cluster.job(second)->attempt;
  for (std::uint32_t on = 0; on < 4; ++on) cluster.from(on, AttemptEnded{attempt->key, {}});
  (void)cluster.tick(std::chrono::seconds{1});
  CHECK(cluster.job(first)->state == JobState::kPreparing);
  CHECK(cluster.job(third)->state == JobState::kPending);
}

TEST_CASE("nothing more is placed on a drained node, and what runs there goes on") {
  Cluster cluster;
  cluster.connect_all();
  const AttemptKey running = cluster.run(spec(2));
  REQUIRE(drain(cluster, kOperator, "hgx01"));
  REQUIRE(drain(cluster, kOperator, "hgx04"));
  CHECK(node_state_name(node(cluster, 0)) == "draining");
  CHECK(node_state_name(node(cluster, 3)) == "drained");
  const std::vector<Drain> drains = node(cluster, 3).drains;
  REQUIRE(drains.size() == 1);
  CHECK(describe(drains[0]) == "hardware: fan is loud (op)");
  CHECK(drains[0].since == cluster.now);
  CHECK(cluster.job(running.job)->state == JobState::kRunning);
  const JobId two = cluster.submit(spec(2));
  (void)cluster.tick();
  CHECK(cluster.job(two)->state == JobState::kPending);
  REQUIRE(resume(cluster, kOperator, "hgx04"));
  (void)cluster.tick(std::chrono::seconds{1});
  INFO(describe(cluster.job(two)->wait));
  CHECK(cluster.job(two)->state == JobState::kPreparing);
  CHECK(node(cluster, 3).drains.empty());
}

TEST_CASE("a drain and its end are written down") {
  Cluster cluster;
  cluster.core().drain(RequestId{5}, kOperator, {"hgx02"}, {.reason = "fan"}, cluster.now);
  const auto row_of = [](const Effects& effects) {
    for (const StoreWrite& write : effects.writes) {
      if (const auto* row = std::get_if<NodeRow>(&write)) return *row;
    }
    return NodeRow{};
  };
  const NodeRow drained = row_of(cluster.core().take_effects());
  CHECK(drained.name == "hgx02");
  REQUIRE(drained.drains.size() == 1);
  CHECK(drained.drains[0].text == "fan");
  cluster.core().resume(RequestId{6}, kOperator, {"hgx02"}, cluster.now);
  const NodeRow resumed = row_of(cluster.core().take_effects());
  CHECK(resumed.name == "hgx02");
  CHECK(resumed.drains.empty());
}

TEST_CASE("a node that is drained until its reboot is used again after it, unless others say no") {
  Cluster cluster;
  cluster.connect_all();
  const DrainOrder order{.reason = "new kernel", .until_reboot = true};
  cluster.core().drain(RequestId{5}, kOperator, {"hgx01", "hgx02"}, order, cluster.now);
  (void)cluster.core().take_effects();
  REQUIRE(drain(cluster, kOperator, "hgx02"));
  cluster.connect(0);
  CHECK(node_state_name(node(cluster, 0)) == "drained");
  cluster.connect(0, {}, "another boot");
  cluster.connect(1, {}, "another boot");
  CHECK(node_state_name(node(cluster, 0)) == "idle");
  REQUIRE(node(cluster, 1).drains.size() == 1);
  CHECK(node(cluster, 1).drains[0].text == "fan is loud");
}

TEST_CASE("what Artel drains by itself and lifts by itself leaves an operator's drain alone") {
  Cluster cluster;
  cluster.connect_all();
  REQUIRE(drain(cluster, kOperator, "hgx01"));
  AgentHello hello = cluster.hello(0);
  hello.inventory.resources.gpus = 7;
  REQUIRE(cluster.core().agent_connected(SessionId{1}, hello, cluster.now));
  REQUIRE(node(cluster, 0).drains.size() == 2);
  REQUIRE(cluster.core().agent_connected(SessionId{2}, cluster.hello(0), cluster.now));
  REQUIRE(node(cluster, 0).drains.size() == 1);
  CHECK(node(cluster, 0).drains[0].source == DrainSource::kOperator);
}

TEST_CASE("drains and strikes come back after a restart") {
  StoredState stored;
  const Drain drain{DrainSource::kOperator, ReasonClass::kUser, "op", "why", kStart};
  stored.nodes = {{"hgx03", "boot", {{JobId{4}, kStart}}, {drain}}};
  Cluster cluster(std::move(stored));
  cluster.connect_all();
  CHECK(node_state_name(node(cluster, 2)) == "drained");
  CHECK(node(cluster, 2).drains == std::vector<Drain>{drain});
  CHECK(node(cluster, 2).strikes.size() == 1);
}

TEST_CASE("a node that does not exist is named with the nearest one") {
  Cluster cluster;
  const Result<> refused = drain(cluster, kOperator, "hgx05");
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::kNotFound);
  CHECK(refused.error().text.find("'hgx05'") != std::string::npos);
}

}  // namespace
}  // namespace artel::ctld::test
