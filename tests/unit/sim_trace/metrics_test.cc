// Figures of workloads that can be added up by hand.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "sim/trace/report.h"
#include "unit/sim_trace/builders.h"

namespace artel::trace {
namespace {

/// On 4 units: j1 [0, 100) with 3, j2 [100, 110) with 4, j3 [2, 52) with 1; the last submit is
/// at 2.
struct Example {
  Workload workload =
      workload_of({{0, 3, 100, 100, "a"}, {1, 4, 10, 10, "b"}, {2, 1, 50, 50, "b"}});
  Problem problem = problem_of(workload, 4);
  Outcome outcome = replay_with(problem, **make_policy("easy", problem));
};

Team team(const std::string& name, std::uint64_t guarantee) {
  Team one;
  one.name = name;
  one.guarantee = {{"", guarantee}};
  return one;
}

TEST_CASE("waits, slowdown and use are those that one adds up by hand") {
  const Example example;
  const Metrics metrics = measure(example.problem, example.outcome, {});
  const Summary& summary = metrics.summary;
  CHECK(summary.jobs == 3);
  CHECK(summary.wait_s.mean == Approx(99.0 / 3));
  CHECK(summary.wait_s.median == 0);
  CHECK(summary.wait_s.max == 99);
  CHECK(summary.started_at_once == Approx(2.0 / 3));
  CHECK(summary.mean_slowdown == Approx((1 + 109.0 / 10 + 1) / 3));
  CHECK(summary.makespan_s == 110);
  CHECK(summary.utilisation == Approx((300.0 + 40 + 50) / (4 * 110)));
  CHECK(summary.utilisation_arrivals == Approx(6.0 / (4 * 2)));
  CHECK(summary.used_hours == Approx(390.0 / 3600));
  // j2 waits from 1 to 100: one unit is free in [1, 2) and in [52, 100).
  CHECK(summary.idle_while_waiting == Approx(49.0 / (4 * 110)));
  CHECK_FALSE(summary.fragmentation);
}

TEST_CASE("short jobs count as ten seconds in the slowdown") {
  CHECK(bounded_slowdown(100, 1) == 10);
  CHECK(bounded_slowdown(5, 1) == 1);
  CHECK(bounded_slowdown(100, 50) == 2);
}

TEST_CASE("quantiles are elements, not means of two") {
  const Distribution ten = distribution_of({10, 9, 8, 7, 6, 5, 4, 3, 2, 1});
  CHECK(ten.mean == 5.5);
  CHECK(ten.median == 6);
  CHECK(ten.p90 == 10);
  CHECK(distribution_of({7}).p99 == 7);
  CHECK(distribution_of({}).max == 0);
}

TEST_CASE("a team is short of its guarantee only while it has jobs for it") {
  const Example example;
  Teams teams;
  teams.teams = {team("a", 4), team("b", 4), team("c", 1)};
  const Metrics metrics = measure(example.problem, example.outcome, teams);
  REQUIRE(metrics.teams.size() == 3);
  const TeamSummary& a = metrics.teams[0];
  CHECK(a.name == "a");
  CHECK(a.short_hours == 0);  // it wants 3 and has them
  CHECK(a.share == Approx(300.0 / 390));
  CHECK(a.mean_used == Approx(3));
  const TeamSummary& b = metrics.teams[1];
  CHECK(b.jobs == 2);
  CHECK(b.mean_wait_s == Approx(49.5));
  // 4 short in [1, 2), 3 in [2, 52) beside j3, 4 in [52, 100).
  CHECK(b.short_hours == Approx((4 + 150 + 192) / 3600.0));
  CHECK(metrics.teams[2].jobs == 0);
}

TEST_CASE("a job larger than the guarantee makes nobody short of it") {
  const Example example;
  Teams teams;
  teams.teams = {team("b", 1)};  // j2 needs 4, j3 has its 1
  CHECK(measure(example.problem, example.outcome, teams).teams.back().short_hours == 0);
}

TEST_CASE("use over time adds up to all use") {
  const Example example;
  const Metrics metrics = measure(example.problem, example.outcome, {});
  double used = 0;
  double waiting = 0;
  for (const Bucket& bucket : metrics.buckets) {
    used += bucket.used * static_cast<double>(metrics.bucket_s) * 4;
    waiting += bucket.waiting * static_cast<double>(metrics.bucket_s);
  }
  CHECK(used == Approx(390));
  CHECK(waiting == Approx(99));
}

TEST_CASE("what lies free on partly held nodes is a share of what is free") {
  Example example;
  example.outcome.stranded = {{10, 1000}, {60, 0}};
  const Metrics metrics = measure(example.problem, example.outcome, {});
  REQUIRE(metrics.summary.fragmentation);
  CHECK(*metrics.summary.fragmentation == Approx(50.0 / (4 * 110 - 390)));
}

Report report_of(const Example& example) {
  Metrics metrics = measure(example.problem, example.outcome, {});
  metrics.policy = "easy";
  return {&example.problem, {metrics, metrics}};
}

TEST_CASE("JSON has what was measured") {
  const Example example;
  const auto json = nlohmann::json::parse(json_report(report_of(example)));
  CHECK(json["capacity"] == 4);
  CHECK(json["runs"][0]["wait_s"]["max"] == 99);
  CHECK(json["runs"][0]["fragmentation"].is_null());
  CHECK(json["runs"].size() == 2);
}

TEST_CASE("the page needs nothing from elsewhere and shows names as text") {
  Example example;
  example.workload.name = "<script>alert(1)</script>";
  const std::string page = html_report(report_of(example));
  CHECK(page.find("<script") == std::string::npos);
  CHECK(page.find("http") == std::string::npos);
  CHECK(page.find("src=") == std::string::npos);
  CHECK_THAT(page, Catch::Contains("&lt;script&gt;"));
  CHECK_THAT(page, Catch::EndsWith("</html>\n"));
}

TEST_CASE("the file of jobs has a line for each") {
  const Example example;
  CHECK(jobs_csv(example.problem, example.outcome, "easy") ==
        "easy,j1,,a,,3,0,0,100,0,100,100,1.000,0\n"
        "easy,j2,,b,,4,1,100,110,99,10,10,10.900,0\n"
        "easy,j3,,b,,1,2,2,52,0,50,50,1.000,0\n");
}

}  // namespace
}  // namespace artel::trace
