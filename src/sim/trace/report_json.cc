#include <nlohmann/json.hpp>
#include <string>

#include "sim/trace/report.h"

namespace artel::trace {
namespace {

using Json = nlohmann::json;

template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

double units(Milli amount) { return static_cast<double>(amount) / static_cast<double>(kMilli); }

Json distribution_json(const Distribution& distribution) {
  return {{"mean", distribution.mean},
          {"median", distribution.median},
          {"p90", distribution.p90},
          {"p99", distribution.p99},
          {"max", distribution.max}};
}

Json team_json(const TeamSummary& team) {
  return {{"team", team.name},
          {"jobs", team.jobs},
          {"mean_wait_s", team.mean_wait_s},
          {"mean_slowdown", team.mean_slowdown},
          {"used_hours", team.used_hours},
          {"share", team.share},
          {"mean_used", team.mean_used},
          {"guarantee", or_null(team.guarantee)},
          {"short_hours", team.short_hours},
          {"evictions", team.evictions}};
}

Json run_json(const Metrics& metrics) {
  const Summary& summary = metrics.summary;
  Json teams = Json::array();
  for (const TeamSummary& team : metrics.teams) teams.push_back(team_json(team));
  Json buckets = Json::array();
  for (const Bucket& bucket : metrics.buckets)
    buckets.push_back(
        {{"from_s", bucket.from}, {"used", bucket.used}, {"waiting", bucket.waiting}});
  return {{"policy", metrics.policy},
          {"jobs", summary.jobs},
          {"refused", summary.refused},
          {"wait_s", distribution_json(summary.wait_s)},
          {"started_at_once", summary.started_at_once},
          {"mean_slowdown", summary.mean_slowdown},
          {"utilisation", summary.utilisation},
          {"utilisation_arrivals", summary.utilisation_arrivals},
          {"makespan_s", summary.makespan_s},
          {"used_hours", summary.used_hours},
          {"evictions", summary.evictions},
          {"lost_hours", summary.lost_hours},
          {"idle_while_waiting", summary.idle_while_waiting},
          {"fragmentation", or_null(summary.fragmentation)},
          {"passes", summary.passes},
          {"pass_ns", distribution_json(summary.pass_ns)},
          {"run_s", metrics.run_s},
          {"teams", std::move(teams)},
          {"bucket_s", metrics.bucket_s},
          {"over_time", std::move(buckets)}};
}

}  // namespace

std::string json_report(const Report& report) {
  const Problem& problem = *report.problem;
  Json runs = Json::array();
  for (const Metrics& metrics : report.runs) runs.push_back(run_json(metrics));
  const Json all = {
      {"workload", problem.workload->name},   {"resource", resource_name(problem.resource)},
      {"capacity", units(problem.capacity)},  {"jobs", problem.tasks.size()},
      {"too_large", problem.too_large},       {"needs_none", problem.needs_none},
      {"dropped", problem.workload->dropped}, {"without_limit", problem.no_limit},
      {"cut_at_limit", problem.cut},          {"runs", std::move(runs)}};
  return all.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace artel::trace
