#include "workload.h"

#include <string>
#include <variant>

namespace artel::bench {
namespace {

constexpr std::int64_t kDevice = 1000;
constexpr std::int64_t kGpusPerNode = 8 * kDevice;
constexpr std::uint32_t kLeaf = 32;
constexpr std::uint32_t kBlock = 512;

std::string numbered(const char* prefix, std::uint32_t number) {
  const std::string digits = std::to_string(number);
  return prefix + std::string(6 - std::min<std::size_t>(6, digits.size()), '0') + digits;
}

sched::QuotaFacts quota(std::string name, std::uint32_t parent) {
  sched::QuotaFacts facts;
  facts.name = std::move(name);
  facts.parent = sched::QuotaId{parent};
  return facts;
}

}  // namespace

Workload::Workload(const Size& size) : size_(size) {
  setup_.flavors = {"h100"};
  for (std::uint32_t i = 0; i < size.nodes; ++i) {
    setup_.nodes.push_back({.name = numbered("n", i),
                            .leaf = numbered("l", i / kLeaf),
                            .block = numbered("b", i / kBlock),
                            .flavor = sched::FlavorId{0},
                            .gpus = kGpusPerNode,
                            .cores = 128,
                            .memory = std::int64_t{1} << 40,
                            .owner = {}});
  }
  const std::uint32_t teams = size.cohorts * size.teams_per_cohort;
  const std::int64_t guarantee = std::int64_t{size.nodes} / teams * kGpusPerNode;
  setup_.tree.push_back(quota("", 0));
  for (std::uint32_t c = 0; c < size.cohorts; ++c) {
    const auto cohort = static_cast<std::uint32_t>(setup_.tree.size());
    setup_.tree.push_back(quota(numbered("c", c), 0));
    for (std::uint32_t t = 0; t < size.teams_per_cohort; ++t) {
      auto team = quota(numbered("t", t), cohort);
      team.is_team = true;
      team.guarantee = sched::Amounts{guarantee, 0};
      queues_.push_back(sched::QuotaId{static_cast<std::uint32_t>(setup_.tree.size())});
      setup_.tree.push_back(std::move(team));
    }
  }
  for (std::uint32_t i = 0; i < size.shapes; ++i) {
    sched::Request shape;
    sched::Part& part = shape.parts.front();
    const std::uint32_t kind = i % 10;
    if (kind < 4) {
      part.gpus = kDevice << (i % 4);  // 1, 2, 4 or 8 GPUs of one node
    } else {
      part.gpus = kGpusPerNode;
      part.nodes = 1U << random(kind < 8 ? 5 : 8);  // up to 16, up to 128
      if (part.nodes <= kLeaf && kind == 7) shape.locality = sched::Locality::kLeaf;
    }
    shape.limit = std::chrono::minutes{30 + random(48 * 60)};
    shapes_.push_back(shape);
  }
}

std::uint32_t Workload::random(std::uint32_t below) {
  return static_cast<std::uint32_t>(random_() / 64 % below);
}

sched::JobFacts Workload::job_of_random_team() {
  const std::uint32_t team = random(static_cast<std::uint32_t>(queues_.size()));
  sched::JobFacts job;
  job.id = JobId{++last_job_};
  job.queue = queues_[team];
  job.user = sched::UserId{team * size_.users_per_team + random(size_.users_per_team)};
  job.grace = std::chrono::seconds{60};
  job.priority = static_cast<std::int32_t>(100 * random(3));
  const std::uint32_t shape = team * 37 + random(size_.shapes_per_team);
  job.request = shapes_[shape % shapes_.size()];
  return job;
}

sched::JobFacts Workload::next_job() { return job_of_random_team(); }

sched::JobFacts Workload::next_small_job() {
  sched::JobFacts job = job_of_random_team();
  job.request = {};
  job.request.parts.front().gpus = random(8) == 0 ? kGpusPerNode / 2 : kGpusPerNode;
  job.request.limit = std::chrono::minutes{60 + random(47 * 60)};
  return job;
}

std::size_t pass_until_rest(sched::Scheduler& scheduler, Time now) {
  std::size_t decisions = 0;
  while (true) {
    const auto made = scheduler.pass(now);
    decisions += made.size();
    if (made.empty()) return decisions;
  }
}

std::vector<JobId> fill(sched::Scheduler& scheduler, Workload& workload, std::uint32_t running,
                        Time now) {
  std::vector<JobId> started;
  while (started.size() < running) {
    for (std::uint32_t i = 0; i < 500; ++i) {
      static_cast<void>(scheduler.submit(now, workload.next_small_job()));
    }
    bool any = false;
    while (true) {
      const auto made = scheduler.pass(now);
      for (const auto& decision : made) {
        if (const auto* start = std::get_if<sched::Started>(&decision)) {
          started.push_back(start->job);
          any = true;
        }
      }
      if (made.empty()) break;
    }
    if (!any) break;
  }
  return started;
}

}  // namespace artel::bench
