#include <catch2/catch.hpp>

#include "model/attempt.h"
#include "model/ending.h"
#include "model/job.h"
#include "model/job_spec.h"
#include "model/job_state.h"
#include "model/node.h"
#include "model/output_path.h"

using namespace artel;

namespace {

constexpr int kStates = static_cast<int>(JobState::kDeadline) + 1;

JobSpec spec_of(std::string name) {
  JobSpec spec{.name = std::move(name), .owner = {.uid = 1, .gid = 1, .user = "alice"}};
  spec.working_directory = "/home/alice";
  return spec;
}

const AttemptKey kKey{JobId{17}, TaskIndex{0}, AttemptNo{2}};

}  // namespace

TEST_CASE("every state's name reads back as the state") {
  for (int i = 0; i < kStates; ++i) {
    const auto state = static_cast<JobState>(i);
    CHECK(parse_job_state(job_state_name(state)) == state);
  }
  CHECK_FALSE(parse_job_state("ASLEEP"));
}

TEST_CASE("nothing follows a final state, and every placed one ends through COMPLETING") {
  for (int i = 0; i < kStates; ++i) {
    for (int k = 0; k < kStates; ++k) {
      const auto from = static_cast<JobState>(i);
      const auto to = static_cast<JobState>(k);
      if (is_final(from)) CHECK_FALSE(may_follow(from, to));
      if (is_placed(from) && from != JobState::kCompleting && is_final(to))
        CHECK_FALSE(may_follow(from, to));
      if (is_placed(to) && is_placed(from) && to < from) CHECK_FALSE(may_follow(from, to));
    }
  }
  CHECK(may_follow(JobState::kCompleting, JobState::kPending));
  CHECK(may_follow(JobState::kPending, JobState::kCancelled));
}

TEST_CASE("an attempt's key reads back from its text, and nothing else does") {
  CHECK(format_key(kKey) == "17.0.2");
  CHECK(parse_key("17.0.2") == kKey);
  for (const char* bad :
       {"", "17", "17.0", "17.0.", "17.0.2 ", "17.0.2.1", "-1.0.2", "a.b.c", "17..2"}) {
    CHECK_FALSE(parse_key(bad));
  }
}

TEST_CASE("an output pattern becomes an absolute path") {
  const JobSpec spec = spec_of("train");
  CHECK(expand_pattern("artel-%j.out", spec, kKey) == "/home/alice/artel-17.out");
  CHECK(expand_pattern("/logs/%u/%x.%a.%t", spec, kKey) == "/logs/alice/train.2.0");
  CHECK(expand_pattern("100%%", spec, kKey) == "/home/alice/100%");
}

TEST_CASE("a job's name cannot lead the output into another folder") {
  CHECK(expand_pattern("%x", spec_of("../../etc/passwd"), kKey) == "/home/alice/.._.._etc_passwd");
}

TEST_CASE("an unknown placeholder is named") {
  CHECK(unknown_placeholder("%j-%q") == "%q");
  CHECK(unknown_placeholder("%j%") == "%");
  CHECK(unknown_placeholder("%j-%%-%x").empty());
}

TEST_CASE("a single rank needs no PMIx, a gang gets it, a script is a script") {
  ComponentSpec part;
  CHECK(resolved_launch(part, false) == LaunchKind::kPlain);
  part.ranks_per_node = 2;
  CHECK(resolved_launch(part, false) == LaunchKind::kPmix);
  CHECK(resolved_launch(part, true) == LaunchKind::kScript);
  part.launch = LaunchKind::kPlain;
  CHECK(resolved_launch(part, false) == LaunchKind::kPlain);
}

TEST_CASE("a cause says what happened where") {
  Cause cause{.actor = Actor::kApplication,
              .code = CauseCode::kSignal,
              .node = "hgx02",
              .rank = 3,
              .signal = 9};
  CHECK(describe(cause) == "rank 3 on hgx02 was killed by signal 9 (KILL)");
  cause = {.actor = Actor::kApplication,
           .code = CauseCode::kExit,
           .node = "hgx02",
           .rank = 3,
           .exit_code = 4};
  CHECK(describe(cause) == "rank 3 on hgx02 ended with exit code 4");
  cause.text = "said by the node";
  CHECK(describe(cause) == "said by the node");
}

TEST_CASE("a reason to wait has its numbers") {
  const WaitReason reason{.code = WaitCode::kResources,
                          .nodes_wanted = 4,
                          .nodes_free = 2,
                          .planned_start = time_from_ms(0)};
  CHECK(describe(reason) == "needs 4 nodes, 2 free; planned start 1970-01-01T00:00:00Z");
}

TEST_CASE("classes of reasons are a fixed set of words") {
  CHECK(parse_reason_class("hardware").value() == ReasonClass::kHardware);
  const auto wrong = parse_reason_class("hardwar");
  REQUIRE_FALSE(wrong);
  CHECK(wrong.error().text ==
        "'hardwar' is no class of reasons, did you mean 'hardware'?; there are node, hardware, "
        "software, user, maintenance");
}

TEST_CASE("a node's state is what operators call it") {
  Node node{.config = {.name = "hgx01", .resources = {.cpus = 64, .gpus = 8}}};
  CHECK(node_state_name(node) == "unknown");
  node.contact = NodeContact::kUp;
  CHECK(node_state_name(node) == "idle");
  node.used = {.cpus = 8, .gpus = 1};
  CHECK(node_state_name(node) == "mixed");
  node.drains.push_back({.source = DrainSource::kOperator, .text = "fan"});
  CHECK(node_state_name(node) == "draining");
  node.used = {};
  CHECK(node_state_name(node) == "drained");
  node.drains[0].reason_class = ReasonClass::kMaintenance;
  CHECK(node_state_name(node) == "maintenance");
  node.drains.push_back({.source = DrainSource::kInventory});
  CHECK(node_state_name(node) == "drained");
  node.contact = NodeContact::kLost;
  CHECK(node_state_name(node) == "down");
}
