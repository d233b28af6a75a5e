// Questions about the scheduling: why a job waits, what a change would do.
#include <catch2/catch.hpp>

#include "ctld/core/scheduling_snapshot.h"
#include "harness.h"

namespace artel::ctld::test {
namespace {

using Picture = std::shared_ptr<const SchedulingSnapshot>;

Picture picture(Cluster& cluster, std::optional<JobSpec> candidate = {}) {
  cluster.core().scheduling_snapshot(RequestId{9}, kAlice, std::move(candidate), cluster.now);
  return std::get<Picture>(cluster.core().take_effects().replies.at(0).body.value());
}

JobSpec limited(std::uint32_t nodes, std::chrono::minutes limit) {
  JobSpec out = spec(nodes);
  out.time_limit = limit;
  return out;
}

/// Three of four nodes are in use for an hour; a job of two waits, and one of four behind it.
struct Line {
  Cluster cluster;
  AttemptKey running;
  JobId two;
  JobId four;
  Time end;

  Line() {
    cluster.connect_all();
    running = cluster.run(limited(3, std::chrono::minutes{60}));
    end = *cluster.job(running.job)->attempt->limit_end;
    two = cluster.submit(limited(2, std::chrono::minutes{30}));
    four = cluster.submit(limited(4, std::chrono::minutes{10}));
    (void)cluster.tick(std::chrono::seconds{1});
  }
};

TEST_CASE("an explanation begins with the reason of the queue and ends with an expected start") {
  Line line;
  const auto why = picture(line.cluster)->explain(line.two);
  REQUIRE(why);
  REQUIRE_FALSE(why->blockers.empty());
  CHECK(why->blockers.front().code == WaitCode::kResources);
  CHECK(why->blockers.front().code == line.cluster.job(line.two)->wait.code);
  CHECK(why->blockers.front().nodes_wanted == 2);
  CHECK(why->blockers.front().nodes_free == 1);
  CHECK(why->expected == line.end);
}

TEST_CASE("the expected start of a job knows of the jobs before it") {
  Line line;
  const auto why = picture(line.cluster)->explain(line.four);
  REQUIRE(why);
  CHECK(why->expected == line.end + std::chrono::minutes{30});
}

TEST_CASE("nothing stands in the way of a job that runs, and a job that is over is not known") {
  Line line;
  const auto runs = picture(line.cluster)->explain(line.running.job);
  REQUIRE(runs);
  CHECK(runs->blockers.empty());
  CHECK_FALSE(runs->expected);
  CHECK(picture(line.cluster)->explain(JobId{99}).error().code == ErrorCode::kNotFound);
}

TEST_CASE("a question changes nothing") {
  Line line;
  const auto before = line.cluster.job(line.two);
  REQUIRE(picture(line.cluster)->what_if(CancelWish{line.two}));
  REQUIRE(picture(line.cluster, limited(1, std::chrono::minutes{5}))->what_if(SubmitWish{}));
  (void)line.cluster.tick(std::chrono::seconds{1});
  CHECK(line.cluster.job(line.two)->state == before->state);
  CHECK(line.cluster.submit(spec()).value == line.four.value + 1);
  CHECK_FALSE(line.cluster.core().check());
}

TEST_CASE("a cancel of the first in line moves the next one forward") {
  Line line;
  const auto outcome = picture(line.cluster)->what_if(CancelWish{line.two});
  REQUIRE(outcome);
  CHECK(outcome->starts.empty());
  CHECK(outcome->evictions.empty());
  const auto moved = std::ranges::find(outcome->moved, line.four, &MovedStart::job);
  REQUIRE(moved != outcome->moved.end());
  CHECK(moved->after == line.end);
}

TEST_CASE("a job that was not submitted is asked about as if it were") {
  Line line;
  const Picture one = picture(line.cluster, limited(1, std::chrono::minutes{5}));
  CHECK(one->candidate().value == line.four.value + 1);
  const auto outcome = one->what_if(SubmitWish{});
  REQUIRE(outcome);
  CHECK(outcome->starts == std::vector{one->candidate()});
  CHECK_FALSE(picture(line.cluster)->what_if(SubmitWish{}));
  const auto never = picture(line.cluster, spec(5))->what_if(SubmitWish{});
  REQUIRE_FALSE(never);
  CHECK(never.error().code == ErrorCode::kNeverFits);
}

TEST_CASE("a drain is foreseen, and names that do not exist are named with the nearest") {
  Line line;
  const Picture now = picture(line.cluster);
  const auto outcome = now->what_if(NodeWish{"hgx04", NodeWish::Fate::kDrained});
  REQUIRE(outcome);
  const auto four = std::ranges::find(outcome->moved, line.four, &MovedStart::job);
  REQUIRE(four != outcome->moved.end());
  CHECK(four->before == line.end + std::chrono::minutes{30});
  CHECK_FALSE(four->after);
  const auto wrong = now->what_if(NodeWish{"hgx05", NodeWish::Fate::kDrained});
  REQUIRE_FALSE(wrong);
  CHECK(wrong.error().text.find("'hgx05'") != std::string::npos);
  const auto high = now->what_if(PriorityWish{line.two, 50});
  REQUIRE_FALSE(high);
  CHECK(high.error().text.find("-49..49") != std::string::npos);
}

TEST_CASE("quotas of teams that do not exist are named with the nearest, or the lack of teams is") {
  const QuotaWish wish{.quota = "alpa", .weight = 2};
  Line line;
  const auto none = picture(line.cluster)->what_if(wish);
  REQUIRE_FALSE(none);
  CHECK(none.error().text.find("no teams") != std::string::npos);
  CHECK(none.error().text.find("team all") == std::string::npos);
  ControllerConfig config = Cluster::config();
  config.teams.teams.push_back(TeamConfig{.name = "alpha"});
  Cluster teams({}, config);
  const auto wrong = picture(teams)->what_if(wish);
  REQUIRE_FALSE(wrong);
  CHECK(wrong.error().code == ErrorCode::kNotFound);
  CHECK(wrong.error().text.find("'team alpha'") != std::string::npos);
}

}  // namespace
}  // namespace artel::ctld::test
