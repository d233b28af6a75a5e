#include "sim/site.h"

#include <fmt/format.h>

#include <array>

namespace artel::sim {
namespace {

using std::chrono::seconds;

TeamConfig team(const std::string& name, std::int64_t guarantee) {
  TeamConfig out{.name = name, .cohort = "all"};
  out.terms.guarantee = QuotaAmounts{{"h100", guarantee}};
  return out;
}

TeamsConfig teams_of(std::int64_t guarantee, double weight, const QuotaAmounts& lend) {
  TeamsConfig out;
  out.cohorts = {{.name = "all", .parent = "", .terms = {}}};
  out.teams = {team("a", guarantee), team("b", 8), team("c", 0)};
  out.teams.front().terms.lend = lend;
  out.teams.back().terms.weight = weight;
  out.queues = {{.name = "train"},
                {.name = "few", .max_jobs_per_user = 1},
                {.name = "strict", .team = "a", .strict_fifo = true}};
  return out;
}

}  // namespace

TeamsConfig other_terms(Random& random) {
  const std::int64_t guarantee = random.chance(500) ? 8 : 16;
  const auto weight = static_cast<double>(random.between(1, 3));
  return teams_of(guarantee, weight,
                  random.chance(300) ? QuotaAmounts{{"h100", 4}} : QuotaAmounts{});
}

ctld::ControllerConfig world_site(std::uint32_t nodes) {
  ctld::ControllerConfig out{.cluster = "sim", .nodes = {}, .teams = {}, .policy = {}};
  for (std::uint32_t i = 1; i <= nodes; ++i) {
    out.nodes.push_back(
        {.name = fmt::format("n{}", i),
         .address = "127.0.0.1",
         .resources = {.cpus = 16, .memory = Bytes{64ULL << 30U}, .gpu_type = "h100", .gpus = 8},
         .simulated = true});
  }
  out.teams = teams_of(8, 2, {});
  out.policy.protect_priority = seconds{2};
  // Longer than any run in the end: runs that give way to each other for ever would be a cycle.
  out.policy.requeue_backoff = seconds{2};
  out.policy.most_backoffs = 300;
  out.policy.fair_preemption = true;
  out.policy.fair_patience = seconds{20};
  out.policy.protect_fair = seconds{5};
  return out;
}

void choose_line(JobSpec& spec, Random& random) {
  constexpr std::array kTeams = {"a", "b", "c"};
  constexpr std::array kClasses = {"development", "test", "experiment"};
  spec.owner.user = fmt::format("u{}", random.between(1, 3));
  spec.team = kTeams.at(random.between(0, 2));
  spec.queue = spec.team == "a" && random.chance(200) ? "strict" : "train";
  if (random.chance(150)) spec.queue = "few";
  spec.job_class = kClasses.at(random.between(0, 2));
  // What may not be evicted must fit into what its team is promised.
  const bool is_small = spec.component().nodes == 1;
  if (is_small && spec.team != "c" && random.chance(300)) spec.job_class = "production";
  if (random.chance(100)) spec.requeue = false;
}

}  // namespace artel::sim
