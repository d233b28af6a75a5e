// Policies over one pool on workloads that are small enough to be followed by hand.
#include <catch2/catch.hpp>

#include "unit/sim_trace/builders.h"

namespace artel::trace {
namespace {

using Starts = std::vector<Seconds>;

// On 4 units: j1 holds 3 until 100, j2 wants all, j3 is short and small, j4 long and small.
const std::vector<Line> kBlocked = {
    {0, 3, 100, 100}, {1, 4, 10, 10}, {2, 1, 50, 50}, {3, 1, 200, 200}};

TEST_CASE("first come, first served lets nobody past the head") {
  CHECK(starts("fcfs", 4, kBlocked) == Starts{0, 100, 110, 110});
}

TEST_CASE("shortest first takes the shortest limit, whenever it came") {
  CHECK(starts("sjf", 4, {{0, 4, 100, 100}, {1, 4, 20, 20}, {2, 4, 10, 10}}) ==
        Starts{0, 110, 100});
  CHECK(starts("sjf", 4, {{0, 3, 100, 100}, {1, 4, 10, 10}, {2, 1, 50, 50}}) ==
        Starts{0, 100, 110});
}

TEST_CASE("easy fills in what ends before the start of the head") {
  CHECK(starts("easy", 4, kBlocked) == Starts{0, 100, 2, 110});
}

TEST_CASE("easy fills in beside the head what it leaves over, however long") {
  // At 100 the head leaves one unit: only one of the two long ones gets it.
  CHECK(starts("easy", 4, {{0, 2, 100, 100}, {1, 3, 10, 10}, {2, 1, 500, 500}, {3, 1, 500, 500}}) ==
        Starts{0, 100, 2, 110});
}

TEST_CASE("easy believes limits, and starts earlier when they were too long") {
  CHECK(starts("easy", 4, {{0, 3, 40, 100}, {1, 4, 10, 10}, {2, 1, 50, 50}}) == Starts{0, 52, 2});
}

TEST_CASE("easy may delay jobs behind the head, conservative does not") {
  // On 10: beside the head j2 there is room for j4, but j3 is to have 8 from 200 on.
  const std::vector<Line> lines = {
      {0, 6, 100, 100}, {1, 6, 100, 100}, {1, 8, 100, 100}, {2, 4, 250, 250}};
  CHECK(starts("easy", 10, lines) == Starts{0, 100, 252, 2});
  CHECK(starts("conservative", 10, lines) == Starts{0, 100, 200, 300});
}

TEST_CASE("conservative plans anew when a job ends before its limit") {
  CHECK(starts("conservative", 4, {{0, 4, 30, 100}, {1, 4, 10, 10}}) == Starts{0, 30});
}

TEST_CASE("shortest first in filling in chooses among those that came earlier") {
  const std::vector<Line> lines = {
      {0, 3, 100, 100}, {1, 4, 10, 10}, {1, 1, 90, 90}, {1, 1, 20, 20}};
  CHECK(starts("easy", 4, lines) == Starts{0, 100, 1, 110});
  CHECK(starts("easy-sjbf", 4, lines) == Starts{0, 100, 110, 1});
}

TEST_CASE("known run times let in what its limit keeps out") {
  const std::vector<Line> lines = {{0, 3, 100, 100}, {1, 4, 10, 10}, {2, 1, 50, 500}};
  CHECK(starts("easy", 4, lines) == Starts{0, 100, 110});
  CHECK(starts("easy-perfect", 4, lines) == Starts{0, 100, 2});
}

TEST_CASE("with a pass for each event the first of two ends decides alone") {
  // At 10 both running jobs end. One pass for all starts the head; after the first end alone only
  // the small one behind it fits, and it would not delay the head by limits.
  const std::vector<Line> lines = {{0, 2, 10, 20}, {0, 2, 10, 20}, {1, 4, 10, 10}, {2, 2, 5, 5}};
  CHECK(starts("easy", 4, lines) == Starts{0, 0, 10, 20});
  CHECK(starts("easy-events", 4, lines) == Starts{0, 0, 15, 10});
}

TEST_CASE("a limit ends a job that would run longer") {
  const Workload workload = workload_of({{0, 1, 100, 60}});
  const Problem problem = problem_of(workload, 1);
  CHECK(problem.cut == 1);
  const auto policy = make_policy("fcfs", problem);
  CHECK(replay_with(problem, **policy).tasks[0].end == 60);
}

TEST_CASE("an unknown policy is refused with the nearest name") {
  const Workload workload = workload_of({{0, 1, 1, 1}});
  const Problem problem = problem_of(workload, 1);
  const auto policy = make_policy("easi", problem);
  REQUIRE_FALSE(policy);
  CHECK_THAT(policy.error().text, Catch::Contains("did you mean 'easy'"));
}

TEST_CASE("a machine of more nodes than memory holds is refused with the way out") {
  Problem problem;
  problem.capacity = std::int64_t{1} << 40U;
  problem.capacity *= kMilli;
  const auto policy = make_policy("artel", problem);
  REQUIRE_FALSE(policy);
  CHECK_THAT(policy.error().text, Catch::Contains("--node-size"));
}

}  // namespace
}  // namespace artel::trace
