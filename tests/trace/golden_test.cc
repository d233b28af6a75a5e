// Every policy over one pool on generated workloads: the figures are written down, so that a change
// shows itself.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>
#include <string>

#include "sim/trace/lublin.h"
#include "sim/trace/metrics.h"
#include "sim/trace/policy.h"
#include "sim/trace/replay.h"

namespace artel::trace {
namespace {

/// An overloaded machine, and a GPU cluster of eight-GPU nodes with limits as people give them.
std::vector<LublinOptions> workloads() {
  LublinOptions pure;
  pure.jobs = 3000;
  pure.node_size = 1;
  LublinOptions gpus;
  gpus.jobs = 3000;
  gpus.seed = 7;
  gpus.units = 512;
  gpus.load = 0.85;
  gpus.limits = GeneratedLimits::kRound;
  gpus.teams = {"a", "b", "c", "d"};
  return {pure, gpus};
}

std::string figures_of(const LublinOptions& options, std::string_view policy_name) {
  const auto workload = generate_lublin(options);
  REQUIRE(workload);
  const auto problem = make_problem(*workload, {});
  REQUIRE(problem);
  const auto policy = make_policy(policy_name, *problem);
  REQUIRE(policy);
  const auto outcome = replay(*problem, **policy, {});
  if (!outcome) FAIL(outcome.error().text);
  const Summary s = measure(*problem, *outcome, {}).summary;
  return fmt::format("{} {} {:.1f} {:.3f} {:.4f} {} {} {}", options.seed, policy_name,
                     s.wait_s.mean, s.mean_slowdown, s.utilisation_arrivals, s.makespan_s,
                     s.wait_s.median, s.wait_s.max);
}

TEST_CASE("policies give the figures that are written down for generated workloads") {
  std::string figures =
      "# seed, policy, mean wait s, mean bounded slowdown, utilisation to the last submit, "
      "makespan "
      "s,\n# median and longest wait s.\n";
  for (const LublinOptions& options : workloads()) {
    for (const std::string_view policy : policy_names()) {
      if (policy == "artel") continue;  // its figures change with its rules, see core_test.cc
      figures += figures_of(options, policy) + "\n";
    }
  }
  std::ifstream file(std::string(ARTEL_TRACE_TESTS) + "/generated.txt");
  const std::string golden{std::istreambuf_iterator<char>(file), {}};
  INFO("if the change is meant, put this into generated.txt:\n" << figures);
  CHECK(figures == golden);
}

}  // namespace
}  // namespace artel::trace
