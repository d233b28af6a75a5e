// Orders about tasks of arrays: what they leave is readable, cheap, and tells strangers nothing.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>

#include "harness.h"

namespace artel::ctld::test {
namespace {

JobSpec array(const std::string& indexes) {
  JobSpec out = spec();
  out.array = parse_array(indexes, kMostArrayTasks).value();
  return out;
}

JobTarget some(JobId id, const std::string& indexes) {
  return {id, IndexSet::parse(indexes, kMostArrayTasks).value()};
}

JobTarget one(JobId id, std::uint32_t index) { return {id, IndexSet::of(index)}; }

Result<> order(Cluster& cluster, const Caller& caller, const std::string& verb,
               const JobTarget& target, const std::string& reason = "") {
  if (verb == "cancel") cluster.core().cancel(RequestId{2}, caller, {target}, reason, cluster.now);
  if (verb == "hold") cluster.core().hold(RequestId{2}, caller, {target}, reason, cluster.now);
  if (verb == "release") cluster.core().release(RequestId{2}, caller, {target}, cluster.now);
  const Effects effects = cluster.core().take_effects();
  CHECK(cluster.core().check().value_or("") == "");
  return std::get<JobOutcomes>(effects.replies.at(0).body.value()).at(0).result;
}

std::shared_ptr<const ArrayTasks> tasks(Cluster& cluster, JobId id) {
  return cluster.core().snapshot(cluster.now)->find_array(id)->tasks;
}

std::string text_of(const Result<>& result) { return result ? "done" : result.error().text; }

/// Tasks start only where nodes are; here all wait.
struct Waiting {
  Cluster cluster;
  JobId id;

  explicit Waiting(const std::string& indexes) : id(cluster.submit(array(indexes))) {}
};

}  // namespace

TEST_CASE("an array that is in too many pieces is refused with the way out") {
  Cluster cluster;
  std::string list = "0";
  for (std::uint32_t i = 1; i <= 2 * kMaxArrayRuns; ++i)
    list += fmt::format(",{}", i * 10 + (i % 2));
  const auto body = cluster.submit(kAlice, {array(list)});
  REQUIRE_FALSE(body);
  CHECK(body.error().text.find("at most 1000 are possible") != std::string::npos);
  CHECK(body.error().text.find("cut the list in several arrays") != std::string::npos);
}

TEST_CASE("no order leaves an array in more pieces than are written with each start") {
  Waiting at("0-199999");
  for (const char* verb : {"hold", "cancel"}) {
    const auto refused = order(at.cluster, kAlice, verb, some(at.id, "0-199999:4"));
    CHECK(text_of(refused).find("name ranges of neighbours") != std::string::npos);
    CHECK(tasks(at.cluster, at.id)->waiting.text() == "0-199999");
    CHECK(tasks(at.cluster, at.id)->held.empty());
  }
  // Every second one is few pieces, and so are both halves together.
  CHECK(order(at.cluster, kAlice, "hold", some(at.id, "0-199999:2")));
  CHECK(tasks(at.cluster, at.id)->waiting.text() == "1-199999:2");
  CHECK_FALSE(order(at.cluster, kAlice, "release", some(at.id, "0-199999:6")));
  CHECK(order(at.cluster, kAlice, "hold", at.id));
  CHECK(tasks(at.cluster, at.id)->held.text() == "0-199999");
  CHECK(order(at.cluster, kAlice, "release", some(at.id, "0-199999:2")));
  CHECK(order(at.cluster, kAlice, "cancel", at.id));
}

TEST_CASE("a whole array can be cancelled however what waits and is held is mixed") {
  Waiting at("0-399999:2");
  REQUIRE(order(at.cluster, kAlice, "hold", some(at.id, "0-399999:4")));
  // Would leave what no order about all of them could put together.
  CHECK_FALSE(order(at.cluster, kAlice, "cancel", some(at.id, "0-399999:8")));
  CHECK(order(at.cluster, kAlice, "cancel", at.id));
  CHECK(at.cluster.core().snapshot(at.cluster.now)->find_array(at.id) == nullptr);
}

TEST_CASE("thousands of tasks of a big array are cancelled one by one in an instant") {
  Waiting at("0-999999");
  (void)at.cluster.tick();
  std::vector<JobTarget> targets;
  for (std::uint32_t i = 0; i < 5000; ++i) targets.push_back(one(at.id, i * 200));
  const auto before = std::chrono::steady_clock::now();
  at.cluster.core().cancel(RequestId{2}, kAlice, targets, "", at.cluster.now);
  const Effects effects = at.cluster.core().take_effects();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - before;
  INFO(took.count());
  CHECK(took.count() < 5);  // by elements: a minute; by runs: a tenth of a second
  CHECK(tasks(at.cluster, at.id)->cancelled == 5000);
  CHECK(tasks(at.cluster, at.id)->ended.size() == 1);
  const auto rows = std::ranges::count_if(effects.writes, [](const StoreWrite& write) {
    return std::holds_alternative<EndedTasksRow>(write);
  });
  CHECK(rows == 1);
}

TEST_CASE("cancels of single tasks stay few entries however many orders there are") {
  Waiting at("0-9999");
  for (std::uint32_t i = 0; i < 300; ++i) {
    at.cluster.now += std::chrono::seconds{1};
    REQUIRE(order(at.cluster, kAlice, "cancel", one(at.id, i), fmt::format("reason {}", i)));
  }
  const auto ended = tasks(at.cluster, at.id)->ended;
  CHECK(ended.size() == 32);
  CHECK(ended.front().cause.text.find("reason 0") != std::string::npos);
  CHECK(ended.back().tasks.text() == "31-299");
  CHECK(ended.back().cause.code == CauseCode::kCancel);
  CHECK(ended.back().cause.text == "cancelled by one of several orders");
  CHECK(ended.back().ended_at == at.cluster.now);
}

TEST_CASE("an order about somebody else's array tells nothing of it") {
  Waiting at("0-99");
  const auto refused = order(at.cluster, kBob, "cancel", some(at.id, "7,500"));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::kPermissionDenied);
  CHECK(refused.error().text.find("0-99") == std::string::npos);
}

TEST_CASE("an answer names no long list") {
  Waiting at("0-99999");
  std::string list;
  for (std::uint32_t i = 0; i < 900; ++i) list += fmt::format("{},", 100 * i + i % 2);
  at.cluster.core().hold(RequestId{2}, kAlice, {some(at.id, list + "99999")}, "", at.cluster.now);
  const Effects effects = at.cluster.core().take_effects();
  const JobOutcome& outcome = std::get<JobOutcomes>(effects.replies.at(0).body.value()).at(0);
  CHECK(outcome.tasks.size() < 200);
  CHECK(outcome.tasks.ends_with(",..."));
}

}  // namespace artel::ctld::test
