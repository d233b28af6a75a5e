// What submit() refuses, and what is forgotten with the jobs.
#include "sched/admit.h"

#include <catch2/catch.hpp>

#include "sched/books.h"
#include "unit/sched/bed.h"

using namespace artel;
using namespace artel::sched;
using namespace artel::sched::bed;

namespace {

void check_refused(const std::string& word, ErrorCode code, void (*spoil)(JobFacts&)) {
  CAPTURE(word);
  Setup setup = cluster(4);
  const QuotaId queue = add_team(setup, "A", 32);
  Scheduler scheduler(setup, at_minute(0));
  JobFacts facts = job(1, queue, 2, 8);
  spoil(facts);
  const auto refused = scheduler.submit(at_minute(0), facts);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == code);
  CHECK_THAT(refused.error().text, Catch::Contains(word));
  CHECK_FALSE(scheduler.stage(JobId{1}));
}

}  // namespace

TEST_CASE("a request whose shape makes no sense is refused by name") {
  const auto invalid = ErrorCode::kInvalidArgument;
  check_refused("components", invalid, [](JobFacts& of) { of.request.parts.clear(); });
  check_refused("nodes", invalid, [](JobFacts& of) { of.request.parts.front().nodes = 0; });
  check_refused("gpus", invalid, [](JobFacts& of) { of.request.parts.front().gpus = -1000; });
  check_refused("segment", invalid, [](JobFacts& of) { of.request.segment = 0; });
  check_refused("segment of 3", invalid, [](JobFacts& of) { of.request.segment = 3; });
  check_refused("min_nodes: 3", invalid, [](JobFacts& of) { of.request.min_nodes = 3; });
  check_refused("min_nodes: 0", invalid, [](JobFacts& of) { of.request.min_nodes = 0; });
  check_refused("min_nodes: 1", invalid, [](JobFacts& of) {
    of.request.segment = 2;
    of.request.min_nodes = 1;
  });
  check_refused("several components", invalid, [](JobFacts& of) {
    of.request.parts.push_back(of.request.parts.front());
    of.request.min_nodes = 2;
  });
  check_refused("gpu type", invalid, [](JobFacts& of) { of.request.flavors.clear(); });
  check_refused("gpu type", invalid, [](JobFacts& of) { of.request.flavors = {FlavorId{9}}; });
  check_refused("licences", invalid,
                [](JobFacts& of) { of.request.licences = {{LicenceId{0}, 1}}; });
  check_refused("queue", invalid, [](JobFacts& of) { of.queue = QuotaId{9}; });
  check_refused("wall time", invalid, [](JobFacts& of) { of.request.limit = Duration{}; });
  check_refused("grace", invalid, [](JobFacts& of) { of.grace = Duration::max(); });
  check_refused("deadline", invalid, [](JobFacts& of) { of.deadline = Time::min(); });
  check_refused("5 are asked for", ErrorCode::kNeverFits,
                [](JobFacts& of) { of.request.parts.front().nodes = 5; });
}

TEST_CASE("a budget does not hide that there are too few licences for ever") {
  Setup setup = cluster(1);
  setup.licences = {1};
  const QuotaId queue = add_team(setup, "A", 8);
  setup.tree.back().budget = 1;
  Scheduler scheduler(setup, at_minute(0));
  JobFacts facts = job(1, queue, 1, 8);
  CHECK(scheduler.submit(at_minute(0), facts));  // the budget may be raised
  facts.id = JobId{2};
  facts.request.licences = {{LicenceId{0}, 2}};
  const auto refused = scheduler.submit(at_minute(0), facts);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::kNeverFits);
}

TEST_CASE("shapes that no job has any more are forgotten") {
  State state(cluster(1), at_minute(0));
  Request request;
  const auto kept = intern(state, request);
  for (int i = 1; i <= 10'000; ++i) {
    request.limit = Duration{i};
    (void)intern(state, request);
  }
  CHECK(state.requests.size() < 2000);
  request.limit.reset();
  CHECK(intern(state, request) == kept);
}

TEST_CASE("users who have used nothing for long are forgotten") {
  Setup setup = cluster(1);
  setup.user_past = {{UserId{1}, 1.0}, {UserId{2}, 1.0}};
  State state(setup, at_minute(0));
  advance(state, at_minute(0) + 20 * setup.policy.half_life);
  settle(state);
  CHECK(state.user_past.size() == 2);
  advance(state, at_minute(0) + 60 * setup.policy.half_life);
  settle(state);
  CHECK(state.user_past.empty());
}
