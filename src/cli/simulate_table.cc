#include "cli/simulate_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/table.h"

namespace artel::cli {
namespace {

using trace::length_text;
using trace::Metrics;
using trace::Summary;
using trace::TeamSummary;

std::string percent(double share) { return fmt::format("{:.2f} %", 100 * share); }

/// One row for each figure, one column for each policy.
std::string summary_text(const trace::Report& report, const Terminal& terminal) {
  std::vector<Column> columns{{"", false, 0}};
  for (const Metrics& run : report.runs) columns.push_back({run.policy, true, 0});
  Table table(std::move(columns));
  const auto add = [&](std::string name, auto print) {
    std::vector<Cell> cells{std::move(name)};
    for (const Metrics& run : report.runs) cells.emplace_back(print(run.summary));
    table.add(std::move(cells));
  };
  using S = const Summary&;
  const auto seconds = [](std::int64_t value) { return fmt::format("{} s", value); };
  add("jobs", [](S s) { return fmt::format("{}", s.jobs); });
  add("wait, mean", [](S s) { return fmt::format("{:.1f} s", s.wait_s.mean); });
  add("wait, median", [&](S s) { return seconds(s.wait_s.median); });
  add("wait, 9 of 10 less", [&](S s) { return seconds(s.wait_s.p90); });
  add("wait, longest", [&](S s) { return seconds(s.wait_s.max); });
  add("started at once", [](S s) { return percent(s.started_at_once); });
  add("bounded slowdown, mean", [](S s) { return fmt::format("{:.3f}", s.mean_slowdown); });
  add("utilisation, to the last end", [](S s) { return percent(s.utilisation); });
  add("utilisation, to the last submit", [](S s) { return percent(s.utilisation_arrivals); });
  add("idle while a job waited", [](S s) { return percent(s.idle_while_waiting); });
  add("free, but in pieces",
      [](S s) { return s.fragmentation ? percent(*s.fragmentation) : std::string("-"); });
  add("length of the schedule", [&](S s) { return seconds(s.makespan_s); });
  add("preemptions", [](S s) { return fmt::format("{}", s.evictions); });
  add("unit-hours lost to them", [](S s) { return fmt::format("{:.1f}", s.lost_hours); });
  add("passes", [](S s) { return fmt::format("{}", s.passes); });
  add("pass, mean", [](S s) { return trace::pass_text(s.pass_ns.mean); });
  add("pass, 99 of 100 less",
      [](S s) { return trace::pass_text(static_cast<double>(s.pass_ns.p99)); });
  add("pass, longest", [](S s) { return trace::pass_text(static_cast<double>(s.pass_ns.max)); });
  std::vector<Cell> cells{"time of the replay"};
  for (const Metrics& run : report.runs) cells.emplace_back(fmt::format("{:.2f} s", run.run_s));
  table.add(std::move(cells));
  return table.text(terminal);
}

std::vector<Cell> team_cells(const TeamSummary& team) {
  const bool is_owed = team.guarantee.has_value();
  return {team.name.empty() ? "(none)" : team.name,
          fmt::format("{}", team.jobs),
          length_text(team.mean_wait_s),
          fmt::format("{:.2f}", team.mean_slowdown),
          percent(team.share),
          fmt::format("{:.1f}", team.mean_used),
          is_owed ? fmt::format("{:.0f}", *team.guarantee) : "-",
          is_owed ? fmt::format("{:.0f}", team.short_hours) : "-",
          fmt::format("{}", team.evictions)};
}

std::string teams_text(const Metrics& run, const Terminal& terminal) {
  constexpr std::size_t kMost = 20;
  std::vector<TeamSummary> teams = run.teams;
  std::stable_sort(teams.begin(), teams.end(), [](const TeamSummary& a, const TeamSummary& b) {
    return std::pair(b.guarantee.has_value(), b.used_hours) <
           std::pair(a.guarantee.has_value(), a.used_hours);
  });
  const std::size_t hidden = teams.size() > kMost ? teams.size() - kMost : 0;
  teams.resize(teams.size() - hidden);
  Table table({{"TEAM", false, 8},
               {"JOBS", true, 0},
               {"WAIT", true, 0},
               {"SLOWDOWN", true, 0},
               {"SHARE", true, 0},
               {"MEAN USE", true, 0},
               {"GUARANTEE", true, 0},
               {"SHORT H", true, 0},
               {"PREEMPTED", true, 0}});
  for (const TeamSummary& team : teams) table.add(team_cells(team));
  std::string out = fmt::format("\nTeams under {}:\n", run.policy) + table.text(terminal);
  if (hidden > 0) out += fmt::format("and {} more, see --json or --html\n", hidden);
  return out;
}

std::string notes_text(const trace::Report& report) {
  const trace::Problem& problem = *report.problem;
  std::string out;
  const auto add = [&out](std::uint64_t count, std::string_view what) {
    if (count > 0) out += fmt::format("{} {}\n", count, what);
  };
  add(problem.too_large, "jobs are left out: they need more than the machine has");
  add(problem.needs_none, "jobs are left out: they ask for nothing of what is counted");
  add(problem.workload->dropped, "lines of the workload are left out: they describe no run");
  add(problem.no_limit, "jobs have no limit: their run time stands for it");
  add(problem.cut, "jobs ran longer than their limit: they are ended there");
  for (const Metrics& run : report.runs) {
    if (run.summary.refused > 0)
      out += fmt::format("{} jobs are refused by {}: no node of the cluster fits them\n",
                         run.summary.refused, run.policy);
  }
  return out.empty() ? out : "\n" + out;
}

}  // namespace

std::string simulate_table(const trace::Report& report, const Terminal& terminal) {
  const trace::Problem& problem = *report.problem;
  std::string out = fmt::format("{}: {} jobs on {} {}\n\n", printable(problem.workload->name),
                                problem.tasks.size(), trace::units_text(problem.capacity),
                                trace::resource_name(problem.resource));
  out += summary_text(report, terminal);
  for (const Metrics& run : report.runs) {
    if (!run.teams.empty()) out += teams_text(run, terminal);
  }
  return out + notes_text(report);
}

}  // namespace artel::cli
