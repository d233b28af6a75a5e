// The model: the same seed gives the same jobs, and their distributions are those of the paper.
#include "sim/trace/lublin.h"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <set>

#include "sim/trace/task.h"

namespace artel::trace {
namespace {

Workload generate(const LublinOptions& options) {
  auto workload = generate_lublin(options);
  REQUIRE(workload);
  return std::move(*workload);
}

LublinOptions many() {
  LublinOptions options;
  options.jobs = 20000;
  options.units = 128;
  options.node_size = 1;
  return options;
}

double share(const Workload& workload, bool (*counts)(const Job&)) {
  return static_cast<double>(std::count_if(workload.jobs.begin(), workload.jobs.end(), counts)) /
         static_cast<double>(workload.jobs.size());
}

TEST_CASE("the same seed gives the same jobs, another one others") {
  const auto key = [](const Workload& workload) {
    std::vector<std::int64_t> numbers;
    for (const Job& job : workload.jobs)
      numbers.insert(numbers.end(), {job.submit, job.runtime, job.gpus, *job.limit});
    return numbers;
  };
  LublinOptions options;
  options.jobs = 200;
  const auto first = key(generate(options));
  CHECK(first == key(generate(options)));
  options.seed = 2;
  CHECK(first != key(generate(options)));
}

TEST_CASE("a quarter of the jobs are serial, most others powers of two") {
  const Workload workload = generate(many());
  CHECK(share(workload, [](const Job& job) { return job.gpus == kMilli; }) ==
        Approx(0.244).margin(0.02));
  const double powers = share(workload, [](const Job& job) {
    const auto size = static_cast<std::uint64_t>(job.gpus / kMilli);
    return size > 1 && (size & (size - 1)) == 0;
  });
  CHECK(powers > 0.576);  // and some of the rest by chance
  CHECK(powers < 0.70);
}

TEST_CASE("run times are a mixture of minutes and of hours") {
  const Workload workload = generate(many());
  std::vector<Seconds> runs;
  for (const Job& job : workload.jobs) runs.push_back(job.runtime);
  std::sort(runs.begin(), runs.end());
  // exp of gamma(4.2, 0.94), median about 38 s; of gamma(312, 0.03), about 11,500 s.
  CHECK(runs.front() >= 1);
  CHECK(std::log(static_cast<double>(runs.back())) <= 12);
  CHECK(runs[runs.size() * 3 / 10] < 60);
  CHECK(runs[runs.size() * 9 / 10] > 8000);
}

TEST_CASE("more jobs come by day than by night") {
  const Workload workload = generate(many());
  std::array<int, 24> hours{};
  for (const Job& job : workload.jobs) ++hours[static_cast<std::size_t>(job.submit / 3600 % 24)];
  const auto [least, most] = std::minmax_element(hours.begin(), hours.end());
  CHECK(*most > 3 * *least);
}

TEST_CASE("the load is what was asked for") {
  LublinOptions options = many();
  options.load = 0.7;
  const Workload workload = generate(options);
  double work = 0;
  for (const Job& job : workload.jobs)
    work += static_cast<double>(job.gpus) / 1000 * static_cast<double>(job.runtime);
  CHECK(work / (128.0 * static_cast<double>(workload.jobs.back().submit)) ==
        Approx(0.7).epsilon(0.001));
}

TEST_CASE("sizes above a node are whole nodes and fit on the machine") {
  LublinOptions options = many();
  options.node_size = 8;
  options.units = 100;
  for (const Job& job : generate(options).jobs) {
    CHECK(job.gpus <= 96 * kMilli);
    CHECK((job.gpus <= 8 * kMilli || job.gpus % (8 * kMilli) == 0));
    CHECK(job.nodes * job.gpus_per_node == job.gpus * kMilli);
  }
}

TEST_CASE("round limits are never below the run time, and few") {
  LublinOptions options = many();
  options.limits = GeneratedLimits::kRound;
  std::set<Seconds> limits;
  for (const Job& job : generate(options).jobs) {
    CHECK(*job.limit >= job.runtime);
    limits.insert(*job.limit);
  }
  CHECK(limits.size() <= 10);
}

TEST_CASE("teams get jobs in the order in which they are written") {
  LublinOptions options = many();
  options.teams = {"a", "b", "c"};
  const Workload workload = generate(options);
  std::map<std::string, int> jobs;
  for (const Job& job : workload.jobs) ++jobs[workload.names[job.team]];
  CHECK(jobs["a"] > jobs["b"]);
  CHECK(jobs["b"] > jobs["c"]);
  CHECK(jobs["c"] > 0);
}

TEST_CASE("what is out of range is refused") {
  LublinOptions options;
  options.jobs = 0;
  CHECK_FALSE(generate_lublin(options));
  options.jobs = 1;
  options.load = 0;
  CHECK_FALSE(generate_lublin(options));
  options.load.reset();
  options.units = 1;
  CHECK(generate(options).jobs.front().gpus == kMilli);
}

}  // namespace
}  // namespace artel::trace
