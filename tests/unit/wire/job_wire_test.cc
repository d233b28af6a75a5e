// What clients see of jobs and nodes.
#include "wire/job_wire.h"

#include <catch2/catch.hpp>
#include <memory>
#include <string>

namespace artel::wire {
namespace {

Job some_job() {
  JobSpec spec{.name = "train"};
  spec.owner = {1001, 1001, "alice"};
  spec.team = "nlp";
  spec.components.emplace_back();
  spec.script = "#!/bin/sh\n";
  spec.environment = {{"PASSWORD", "secret"}};
  spec.client_token = "token";
  Job job;
  job.id = JobId{17};
  job.spec = std::make_shared<const JobSpec>(std::move(spec));
  job.submitted_at = time_from_ms(1000);
  job.wait = {WaitCode::kResources, 4, 2, JobId{}, time_from_ms(9000)};
  return job;
}

TEST_CASE("script, environment and client token are shown only in whole views") {
  v1::JobView listed;
  to_proto(some_job(), false, listed);
  CHECK(listed.spec().script().empty());
  CHECK(listed.spec().environment_size() == 0);
  CHECK(listed.spec().client_token().empty());
  CHECK(listed.spec().name() == "train");
  CHECK(listed.spec().team() == "nlp");
  CHECK(listed.spec().components_size() == 1);
  v1::JobView whole;
  to_proto(some_job(), true, whole);
  CHECK(whole.spec().script() == "#!/bin/sh\n");
  CHECK(whole.spec().environment(0).value() == "secret");
}

TEST_CASE("a waiting job carries its reason with numbers and as a sentence") {
  v1::JobView view;
  to_proto(some_job(), false, view);
  CHECK(view.state() == "PENDING");
  CHECK(view.wait().nodes_wanted() == 4);
  CHECK(view.wait().nodes_free() == 2);
  CHECK(view.wait().planned_start_ms() == 9000);
  CHECK(view.wait().text() == describe(some_job().wait));
  CHECK_FALSE(view.has_ended_ms());
  CHECK_FALSE(view.has_cause());
}

TEST_CASE("an attempt names its nodes, and has an outcome once it is final") {
  Attempt attempt;
  attempt.key = {JobId{17}, TaskIndex{0}, AttemptNo{1}};
  attempt.allocated_at = time_from_ms(1);
  attempt.step_key = "must not leave the controller";
  NodePart part;
  part.share.node = NodeId{1};
  part.share.gpus = {0, 7};
  attempt.parts = {part};
  const auto names = [](NodeId id) { return "n" + std::to_string(id.value); };
  v1::AttemptView view;
  to_proto(attempt, names, view);
  CHECK(view.outcome().empty());
  CHECK(view.parts(0).node() == "n1");
  CHECK(view.parts(0).gpus(1) == 7);
  CHECK(view.SerializeAsString().find("must not leave") == std::string::npos);
  attempt.outcome = JobState::kTimeout;
  view.Clear();
  to_proto(attempt, names, view);
  CHECK(view.outcome() == "TIMEOUT");
}

TEST_CASE("a node shows what is configured, what is used and why it is drained") {
  Node node;
  node.config = {"n1", "10.0.0.1", {16, Bytes{64}, "h100", 8}, true};
  node.used = {4, Bytes{16}, "h100", 2};
  node.drains = {{DrainSource::kOperator, ReasonClass::kHardware, "op", "fan", time_from_ms(7)}};
  node.contact = NodeContact::kUp;
  v1::NodeView view;
  to_proto(node, view);
  CHECK(view.name() == "n1");
  CHECK(view.resources().gpus() == 8);
  CHECK(view.used().gpus() == 2);
  CHECK(view.simulated());
  CHECK(view.contact() == "up");
  CHECK(view.drain_reason() == "hardware: fan (op)");
  REQUIRE(view.drains_size() == 1);
  CHECK(view.drains(0).source() == "operator");
  CHECK(view.drains(0).reason_class() == "hardware");
  CHECK(view.drains(0).since_ms() == 7);
  CHECK(view.state() == node_state_name(node));
}

}  // namespace
}  // namespace artel::wire
