// Policies on real workloads against the figures of an independent simulator, every column as
// printed there.
//
// The workloads are other people's and not in the repository: the folder is named by ARTEL_TRACES.
// ARTEL_TRACES_ONLY=NAME restricts it to one workload.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "sim/trace/metrics.h"
#include "sim/trace/policy.h"
#include "sim/trace/read.h"
#include "sim/trace/replay.h"

namespace artel::trace {
namespace {

struct Row {
  std::string trace;
  std::string resource;
  std::uint64_t capacity{};
  std::uint64_t jobs{};
  std::string policy;
  std::string mean_wait;
  std::string slowdown;
  std::string utilisation;
  std::string utilisation_arrivals;
  std::int64_t makespan{};
  std::int64_t median{};
  std::int64_t p90{};
  std::int64_t max{};
  std::string at_once;
};

std::vector<Row> reference() {
  std::ifstream file(std::string(ARTEL_TRACE_TESTS) + "/reference.txt");
  REQUIRE(file);
  std::vector<Row> rows;
  std::string line;
  while (std::getline(file, line)) {
    if (line.starts_with('#')) continue;
    std::istringstream words(line);
    Row row;
    words >> row.trace >> row.resource >> row.capacity >> row.jobs >> row.policy >> row.mean_wait >>
        row.slowdown >> row.utilisation >> row.utilisation_arrivals >> row.makespan >> row.median >>
        row.p90 >> row.max >> row.at_once;
    INFO(line);
    REQUIRE(words);
    rows.push_back(row);
  }
  return rows;
}

std::string traces_folder() {
  const char* folder = std::getenv("ARTEL_TRACES");
  return folder == nullptr ? "" : folder;
}

const Workload& workload_of(const std::string& name) {
  static std::map<std::string, Workload> read;
  const auto known = read.find(name);
  if (known != read.end()) return known->second;
  auto workload = read_workload(traces_folder() + "/" + name + ".csv.gz");
  if (!workload) FAIL(workload.error().text);
  return read.emplace(name, std::move(*workload)).first->second;
}

Metrics run(const Row& row) {
  const auto resource = parse_resource(row.resource);
  REQUIRE(resource);
  const auto problem = make_problem(
      workload_of(row.trace), {*resource, static_cast<Milli>(row.capacity) * kMilli, row.jobs});
  REQUIRE(problem);
  const auto policy = make_policy(row.policy, *problem);
  REQUIRE(policy);
  const auto outcome = replay(*problem, **policy, {});
  if (!outcome) FAIL(outcome.error().text);
  return measure(*problem, *outcome, {});
}

void check_exact(const Row& row, const Summary& summary) {
  CHECK(fmt::format("{:.1f}", summary.wait_s.mean) == row.mean_wait);
  CHECK(fmt::format("{:.3f}", summary.mean_slowdown) == row.slowdown);
  CHECK(fmt::format("{:.4f}", summary.utilisation) == row.utilisation);
  CHECK(fmt::format("{:.4f}", summary.utilisation_arrivals) == row.utilisation_arrivals);
  CHECK(summary.makespan_s == row.makespan);
  CHECK(summary.wait_s.median == row.median);
  CHECK(summary.wait_s.p90 == row.p90);
  CHECK(summary.wait_s.max == row.max);
  CHECK(fmt::format("{:.3f}", summary.started_at_once) == row.at_once);
}

TEST_CASE("policies give the figures of an independent simulator") {
  if (traces_folder().empty()) {
    std::cout << "skipped: ARTEL_TRACES names no folder with real workloads\n";
    return;
  }
  const char* only = std::getenv("ARTEL_TRACES_ONLY");
  for (const Row& row : reference()) {
    if (only != nullptr && row.trace != only) continue;
    INFO(row.trace << " " << row.jobs << " jobs, " << row.policy);
    const Metrics metrics = run(row);
    CHECK(metrics.summary.jobs == row.jobs);
    check_exact(row, metrics.summary);
  }
}

}  // namespace
}  // namespace artel::trace
