// A made-up cluster under load for the benchmarks of the scheduling core: the same for the same
// numbers, on every machine.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "sched/scheduler.h"

namespace artel::bench {

/// The case of the table of goals: 10,000 nodes of 8 GPUs in leaves of 32, 200 teams of 20 cohorts
/// with 500 shapes between them. A team uses `shapes_per_team` of the shapes.
struct Size {
  std::uint32_t nodes = 10'000;
  std::uint32_t cohorts = 20;
  std::uint32_t teams_per_cohort = 10;
  std::uint32_t users_per_team = 5;
  std::uint32_t shapes = 500;
  std::uint32_t shapes_per_team = 12;
};

class Workload {
 public:
  explicit Workload(const Size& size);

  [[nodiscard]] const sched::Setup& setup() const { return setup_; }
  /// A job of a random team; numbers grow by one.
  sched::JobFacts next_job();
  /// One whole node, or some GPUs of one, for 1 to 48 hours.
  sched::JobFacts next_small_job();
  [[nodiscard]] std::uint32_t random(std::uint32_t below);

 private:
  sched::JobFacts job_of_random_team();

  Size size_;
  sched::Setup setup_;
  std::vector<sched::QuotaId> queues_;
  std::vector<sched::Request> shapes_;
  std::minstd_rand random_{7};
  std::uint64_t last_job_ = 0;
};

/// Passes at this instant until nothing changes; how many decisions there were.
std::size_t pass_until_rest(sched::Scheduler& scheduler, Time now);

/// A full cluster: `running` jobs started, at `now`. Returns their ids.
std::vector<JobId> fill(sched::Scheduler& scheduler, Workload& workload, std::uint32_t running,
                        Time now);

}  // namespace artel::bench
