#include "wire/step/types_wire.h"

#include <algorithm>
#include <catch2/catch.hpp>

using namespace artel;
using namespace std::chrono_literals;

namespace {

/// A spec in which every field differs from its default.
JobSpec full_spec() {
  JobSpec spec;
  spec.name = "train";
  spec.owner = {1000, 1001, "alice"};
  spec.acting_for = "bob";
  spec.shared_with = {"carol", "group:nlp"};
  spec.team = "nlp";
  spec.queue = "main";
  spec.project = "digits";
  spec.kind = JobKind::kService;
  spec.priority = -7;
  spec.held = true;
  spec.array = parse_array("1-9:2,20%3", 100).value();
  ComponentSpec component;
  component.nodes = 4;
  component.ranks_per_node = 8;
  component.per_node = {false, GpuMilli{8000}, "h100", 96, Bytes{1ULL << 40U}};
  component.launch = LaunchKind::kPmix;
  spec.components = {component, ComponentSpec{}};
  spec.licences = {{"matlab", 3}};
  spec.nodes_wanted = {"n1", "n2"};
  spec.nodes_avoided = {"n3"};
  spec.time_limit = 90min;
  spec.grace = 45s;
  spec.begin = time_from_ms(1'800'000'000'000);
  spec.deadline = time_from_ms(1'800'000'900'000);
  spec.max_wait = 12h;
  spec.retries = {1, 2, 4};
  spec.script = "#!/bin/sh\n\xff not UTF-8";
  spec.argv = {"train", "--x=1", "", "\xfe"};
  spec.environment = {{"A", "1"}, {"B", ""}, {"C", "\xff"}};
  spec.working_directory = "/home/alice";
  spec.output = "out-%j";
  spec.error = "err-%j";
  spec.attached = true;
  spec.client_token = "token";
  return spec;
}

LaunchSpec full_launch() {
  LaunchSpec spec;
  spec.key = {JobId{17}, TaskIndex{3}, AttemptNo{2}};
  spec.cluster = "artel";
  spec.job_name = "train";
  spec.owner = {1000, 1001, "alice"};
  spec.launch = LaunchKind::kScript;
  spec.nodes = {"n1", "n2"};
  spec.node_index = 1;
  spec.ranks_per_node = 8;
  spec.script = "#!/bin/sh\n";
  spec.argv = {"a", "b"};
  spec.environment = {{"A", "1"}};
  spec.working_directory = "/home/alice";
  spec.output = "/home/alice/out";
  spec.error = "/home/alice/err";
  spec.attached = true;
  spec.time_limit = 1h;
  spec.grace = 30s;
  spec.gpus = {0, 7, 65535};
  spec.cpus = 96;
  spec.memory = Bytes{1ULL << 41U};
  spec.master_port = 29400;
  spec.step_key = std::string("\0\xff key", 6);
  return spec;
}

v1::JobSpec message(const JobSpec& spec) {
  v1::JobSpec out;
  wire::to_proto(spec, out);
  return out;
}

std::string refusal(const v1::JobSpec& in) {
  const auto spec = wire::from_proto(in);
  REQUIRE_FALSE(spec);
  CHECK(spec.error().code == ErrorCode::kProtocol);
  return spec.error().text;
}

std::string refusal(const v1::LaunchSpec& in) {
  const auto spec = wire::from_proto(in);
  REQUIRE_FALSE(spec);
  CHECK(spec.error().code == ErrorCode::kProtocol);
  return spec.error().text;
}

bool has(const std::string& text, const std::string& part) {
  INFO(text);
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a job's record keeps every field") {
  const JobSpec spec = full_spec();
  const auto back = wire::decode_spec(wire::encode_spec(spec));
  REQUIRE(back);
  CHECK(*back == spec);

  JobSpec plain;
  plain.components = {ComponentSpec{}};
  const auto plain_back = wire::decode_spec(wire::encode_spec(plain));
  REQUIRE(plain_back);
  CHECK(*plain_back == plain);
}

TEST_CASE("a message that is used again keeps nothing of the last job") {
  v1::JobSpec out;
  wire::to_proto(full_spec(), out);
  JobSpec plain;
  plain.components = {ComponentSpec{}};
  wire::to_proto(plain, out);
  CHECK(*wire::from_proto(out) == plain);
}

TEST_CASE("a job's record tolerates fields of a later version") {
  std::string bytes = wire::encode_spec(full_spec());
  bytes += "\xfa\x7f\x03new";  // field 2047, length-delimited
  const auto back = wire::decode_spec(bytes);
  REQUIRE(back);
  CHECK(*back == full_spec());
}

TEST_CASE("bytes that are no record of a job are refused") {
  CHECK_FALSE(wire::decode_spec("\xff\xff\xff"));
  CHECK_FALSE(wire::decode_spec(""));  // no component
  const std::string bytes = wire::encode_spec(full_spec());
  for (std::size_t size = 1; size < bytes.size(); ++size)
    (void)wire::decode_spec(std::string_view(bytes).substr(0, size));  // never crashes
}

TEST_CASE("shapes of a job that no version may send are refused by name") {
  const v1::JobSpec good = message(full_spec());
  v1::JobSpec bad = good;
  bad.clear_components();
  CHECK(has(refusal(bad), "no component"));

  bad = good;
  bad.clear_array();
  CHECK(has(refusal(bad), "array_size: 6 tasks without `array`"));

  bad = good;
  for (int i = 0; i < 64; ++i) bad.add_components();
  CHECK(has(refusal(bad), "components is 66, at most 64"));

  bad = good;
  bad.mutable_components(0)->mutable_per_node()->set_gpu_milli(1'024'001);
  CHECK(has(refusal(bad), "1024001, at most 1024000"));

  bad = good;
  bad.mutable_components(1)->mutable_per_node()->set_memory_bytes(1ULL << 63U);
  CHECK(has(refusal(bad), "memory per node"));

  bad = good;
  bad.mutable_components(0)->set_launch(4);
  CHECK(has(refusal(bad), "launch kind is 4"));

  bad = good;
  bad.set_kind(3);
  CHECK(has(refusal(bad), "kind is 3"));

  bad = good;
  bad.set_time_limit_ms(-1);
  CHECK(has(refusal(bad), "time limit is -1 ms"));

  bad = good;
  bad.set_grace_ms(INT64_MAX);
  CHECK(has(refusal(bad), "grace"));

  bad = good;
  bad.set_argv(0, std::string("a\0b", 3));
  CHECK(has(refusal(bad), "arguments has a NUL"));

  bad = good;
  bad.mutable_environment(0)->set_name("A=B");
  CHECK(has(refusal(bad), "'A=B' cannot be the name of a variable"));

  bad = good;
  bad.set_output(std::string("a\0b", 3));
  CHECK(has(refusal(bad), "NUL"));
}

TEST_CASE("a launch keeps every field") {
  v1::LaunchSpec out;
  wire::to_proto(full_launch(), out);
  const auto back = wire::from_proto(out);
  REQUIRE(back);
  CHECK(*back == full_launch());
}

TEST_CASE("shapes of a launch that no version may send are refused by name") {
  v1::LaunchSpec good;
  wire::to_proto(full_launch(), good);
  v1::LaunchSpec bad = good;
  bad.set_node_index(2);
  CHECK(has(refusal(bad), "not in its list of nodes"));
  bad = good;
  bad.clear_key();
  CHECK(has(refusal(bad), "no number"));
  bad = good;
  bad.set_launch(0);
  CHECK(has(refusal(bad), "not resolved"));
  bad = good;
  bad.set_gpus(0, 65536);
  CHECK(has(refusal(bad), "GPU index is 65536"));
  bad = good;
  bad.set_master_port(65536);
  CHECK(has(refusal(bad), "port is 65536"));
}

TEST_CASE("a cause keeps every field") {
  Cause cause{Actor::kUser, CauseCode::kCancel, "alice", "n1", 0, -3, 9, "cancelled by alice"};
  v1::Cause out;
  wire::to_proto(cause, out);
  CHECK(wire::from_proto(out) == cause);
  cause.rank.reset();
  wire::to_proto(cause, out);
  CHECK(wire::from_proto(out) == cause);
}

TEST_CASE("a cause of a later version is the system's and keeps its text") {
  v1::Cause in;
  const std::uint32_t unknown = GENERATE(9U, 15U, 200U, 256U + 1U, 0xFFFFFFFFU);
  in.set_actor(unknown);
  in.set_code(std::max(unknown, 15U));
  in.set_text("the moon was full");
  const Cause cause = wire::from_proto(in);
  CHECK(cause.actor == Actor::kSystem);
  CHECK(cause.code == CauseCode::kUnknown);
  CHECK(cause.text == "the moon was full");
}

TEST_CASE("the small messages keep every field") {
  const AttemptKey key{JobId{1ULL << 40U}, TaskIndex{2}, AttemptNo{3}};
  v1::AttemptKey key_out;
  wire::to_proto(key, key_out);
  CHECK(wire::from_proto(key_out) == key);

  const NodeResources resources{96, Bytes{1ULL << 41U}, "h100", 8};
  v1::NodeResources resources_out;
  wire::to_proto(resources, resources_out);
  CHECK(wire::from_proto(resources_out) == resources);

  const NodeEnd end{time_from_ms(1000),
                    time_from_ms(2000),
                    {Actor::kApplication, CauseCode::kExit, "", "n1", 3, 1, 0, "exit 1"},
                    true,
                    12345,
                    Bytes{1ULL << 30U}};
  v1::NodeEnd end_out;
  wire::to_proto(end, end_out);
  CHECK(wire::from_proto(end_out) == end);

  const StepPeer peer{"n1", "10.0.0.1", 4711};
  v1::StepPeer peer_out;
  wire::to_proto(peer, peer_out);
  CHECK(wire::from_proto(peer_out) == peer);
  peer_out.set_port(65536 + 22);
  CHECK(wire::from_proto(peer_out).port == 0);
}
