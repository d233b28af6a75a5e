// The table of rights, cell by cell.
#include "ctld/services/rights.h"

#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <variant>

#include "ctld/core/controller.h"

namespace artel::ctld {
namespace {

const Caller kOwner{.owner = {.uid = 1001, .gid = 1001, .user = "alice"}, .is_operator = false};
const Caller kOther{.owner = {.uid = 1002, .gid = 1002, .user = "bob"}, .is_operator = false};
const Caller kOperator{.owner = {.uid = 1003, .gid = 1003, .user = "op"}, .is_operator = true};

struct Expected {
  Verb verb;
  bool other;
  bool owner;
  bool operators;
};

// Written out a second time on purpose: a change of the table must be meant.
constexpr Expected kExpected[] = {
    {Verb::kSubmit, true, true, true},      {Verb::kCancel, false, true, true},
    {Verb::kList, true, true, true},        {Verb::kShow, true, true, true},
    {Verb::kWait, true, true, true},        {Verb::kReadScript, false, true, true},
    {Verb::kReadOutput, false, true, true}, {Verb::kNodes, true, true, true},
    {Verb::kUsage, true, true, true},       {Verb::kHold, false, true, true},
    {Verb::kDrain, false, false, true},     {Verb::kExplain, true, true, true},
    {Verb::kStore, false, false, true},     {Verb::kRequeue, false, true, true},
    {Verb::kUpdate, false, true, true},
};

TEST_CASE("each verb is open to exactly the roles that the design names") {
  STATIC_REQUIRE(std::size(kExpected) == kVerbs);
  for (const Expected& row : kExpected) {
    INFO("verb " << static_cast<int>(row.verb));
    CHECK(may(row.verb, Role::kOther) == row.other);
    CHECK(may(row.verb, Role::kOwner) == row.owner);
    CHECK(may(row.verb, Role::kOperator) == row.operators);
  }
}

TEST_CASE("each row of the table stands at its verb's place") {
  for (std::size_t i = 0; i < kVerbs; ++i) CHECK(static_cast<std::size_t>(kRights[i].verb) == i);
}

TEST_CASE("roles follow uid and the list of operators, not names") {
  CHECK(role_of(kOwner, kOwner.owner) == Role::kOwner);
  CHECK(role_of(kOther, kOwner.owner) == Role::kOther);
  CHECK(role_of(kOperator, kOwner.owner) == Role::kOperator);
  CHECK(role_of(kOperator, kOperator.owner) == Role::kOperator);
  const Caller same_name{.owner = {.uid = 7, .gid = 7, .user = "alice"}, .is_operator = false};
  CHECK(role_of(same_name, kOwner.owner) == Role::kOther);
}

JobId submit(Controller& core) {
  JobSpec spec{.name = "train"};
  spec.components.emplace_back();
  spec.argv = {"/bin/true"};
  spec.working_directory = "/home/alice";
  spec.output = "out";
  core.submit(RequestId{1}, kOwner, {spec}, Time{});
  return std::get<Submitted>(*core.take_effects().replies.at(0).body).jobs.at(0);
}

TEST_CASE("the core refuses a cancel exactly where the table does") {
  for (const auto& [caller, role] :
       {std::pair(kOther, Role::kOther), {kOwner, Role::kOwner}, {kOperator, Role::kOperator}}) {
    ControllerConfig config{.cluster = "test", .nodes = {}, .teams = {}, .policy = {}};
    config.nodes.push_back(
        {.name = "n1",
         .address = "n1",
         .resources = {.cpus = 8, .memory = Bytes{1U << 30U}, .gpu_type = "", .gpus = 0},
         .simulated = true});
    Controller core(std::move(config), {}, [] { return std::string(32, 'k'); }, Time{});
    const JobId job = submit(core);
    core.cancel(RequestId{2}, caller, {job}, "", Time{});
    const Effects effects = core.take_effects();
    const auto& outcomes = std::get<JobOutcomes>(*effects.replies.at(0).body);
    INFO("role " << static_cast<int>(role));
    CHECK(outcomes.at(0).result.has_value() == may(Verb::kCancel, role));
  }
}

}  // namespace
}  // namespace artel::ctld
