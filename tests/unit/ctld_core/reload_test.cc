// Team files that change while jobs wait and run.
#include <catch2/catch.hpp>

#include "ctld/core/scheduling_snapshot.h"
#include "harness.h"

namespace artel::ctld::test {
namespace {

TeamsConfig teams(std::int64_t limit) {
  TeamsConfig out;
  out.teams.push_back(TeamConfig{.name = "nlp"});
  out.teams.back().terms.guarantee = QuotaAmounts{{"h100", 8}};
  out.teams.back().terms.limit = {{"h100", limit}};
  out.teams.push_back(TeamConfig{.name = "vision"});
  out.teams.back().terms.guarantee = QuotaAmounts{{"h100", 8}};
  out.queues.push_back(QueueConfig{.name = "batch"});
  return out;
}

/// Two nodes at most for the team: one job runs, one waits for its limit.
struct Limited {
  Cluster cluster{{}, with(teams(16))};
  AttemptKey running;
  JobId waiting;

  Limited() {
    cluster.connect_all();
    running = cluster.run(of_nlp(2));
    waiting = cluster.submit(of_nlp(1));
    (void)cluster.tick(std::chrono::seconds{1});
  }

  static ControllerConfig with(TeamsConfig teams) {
    ControllerConfig out = Cluster::config();
    out.teams = std::move(teams);
    return out;
  }
  static JobSpec of_nlp(std::uint32_t nodes) {
    JobSpec out = spec(nodes);
    out.team = "nlp";
    out.queue = "batch";
    return out;
  }
  Result<std::size_t> change(TeamsConfig to) {
    auto out = cluster.core().change_teams(std::move(to), cluster.now);
    (void)cluster.tick(std::chrono::seconds{1});
    return out;
  }
};

TEST_CASE("a higher limit counts at once, and what runs goes on") {
  Limited limited;
  REQUIRE(limited.cluster.job(limited.waiting)->state == JobState::kPending);
  CHECK(limited.change(teams(24)).value() == 1);
  CHECK(limited.cluster.job(limited.waiting)->state == JobState::kPreparing);
  CHECK(limited.cluster.job(limited.running.job)->state == JobState::kRunning);
  CHECK_FALSE(limited.cluster.core().check());
}

TEST_CASE("a lower limit ends nothing and holds up the next start") {
  Limited limited;
  CHECK(limited.change(teams(8)).value() == 1);
  CHECK(limited.cluster.job(limited.running.job)->state == JobState::kRunning);
  const auto view = limited.cluster.job(limited.waiting);
  CHECK(view->state == JobState::kPending);
  CHECK(view->wait.code == WaitCode::kQuotaLimit);
}

TEST_CASE("what is asked at a submission is that of the new files") {
  Limited limited;
  TeamsConfig to = teams(16);
  to.queues.front().max_time = std::chrono::minutes{5};
  CHECK(limited.change(to).value() == 0);
  JobSpec longer = Limited::of_nlp(1);
  longer.time_limit = std::chrono::minutes{10};
  CHECK_FALSE(limited.cluster.submit(kAlice, {longer}));
}

TEST_CASE("questions are about the terms that count now") {
  Limited limited;
  Controller& core = limited.cluster.core();
  core.hold(RequestId{5}, kAlice, {limited.waiting}, "", limited.cluster.now);
  REQUIRE(limited.change(teams(24)));
  core.release(RequestId{6}, kAlice, {limited.waiting}, limited.cluster.now);
  core.scheduling_snapshot(RequestId{7}, kAlice, {}, limited.cluster.now);
  const auto picture = std::get<std::shared_ptr<const SchedulingSnapshot>>(
      core.take_effects().replies.back().body.value());
  const auto outcome = picture->what_if(QuotaWish{.quota = "nlp", .limit = {{"cores", 1000}}});
  REQUIRE(outcome);
  CHECK(outcome->starts == std::vector{limited.waiting});
}

TEST_CASE("what needs a start is named, and nothing of the rest is taken over") {
  Limited limited;
  TeamsConfig to = teams(24);
  to.teams.push_back(TeamConfig{.name = "audio"});
  to.teams.back().terms.guarantee = QuotaAmounts{};
  to.teams.erase(to.teams.begin() + 1);
  to.queues.front().strict_fifo = true;
  const auto refused = limited.change(to);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::kConfig);
  for (const char* said : {"team 'audio' is new", "team 'vision' is gone",
                           "queue 'batch': strict_fifo has changed", "restart"})
    CHECK(refused.error().text.find(said) != std::string::npos);
  CHECK(limited.cluster.job(limited.waiting)->state == JobState::kPending);
  CHECK_FALSE(limited.change(TeamsConfig{}));
  CHECK(limited.change(teams(24)).value() == 1);
}

}  // namespace
}  // namespace artel::ctld::test
