#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "sim/trace/plot.h"
#include "sim/trace/report.h"

namespace artel::trace {
namespace {

constexpr std::string_view kStyle = R"(
body { font: 15px/1.45 system-ui, sans-serif; color: #1d2430; background: #fff; max-width: 60em;
       margin: 2em auto; padding: 0 1em; }
h1 { font-size: 1.5em; margin-bottom: 0; }
h2 { font-size: 1.15em; margin: 1.8em 0 .5em; }
p { color: #4a5463; margin: .3em 0; }
table { border-collapse: collapse; }
th, td { padding: .25em .8em; text-align: right; border-bottom: 1px solid #e2e6ec; }
th:first-child, td:first-child { text-align: left; }
th { color: #4a5463; font-weight: 600; }
svg { width: 100%; height: auto; margin: 1em 0; }
svg text { font: 12px system-ui, sans-serif; fill: #4a5463; }
svg .t { font-size: 14px; font-weight: 600; fill: #1d2430; }
svg .g { stroke: #e2e6ec; }
svg .m { stroke: #1d2430; stroke-width: 2; }
)";

std::string row_of(const std::string& name, const std::vector<std::string>& cells) {
  std::string out = "<tr><td>" + escaped(name) + "</td>";
  for (const std::string& cell : cells) out += "<td>" + escaped(cell) + "</td>";
  return out + "</tr>\n";
}

template <typename Print>
std::string summary_row(const Report& report, const std::string& name, Print print) {
  std::vector<std::string> cells;
  for (const Metrics& run : report.runs) cells.push_back(print(run.summary));
  return row_of(name, cells);
}

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

std::string head_row(const std::vector<std::string>& titles) {
  std::string out = "<table>\n<tr>";
  for (const std::string& title : titles) out += "<th>" + escaped(title) + "</th>";
  return out + "</tr>\n";
}

std::string summary_table(const Report& report) {
  std::vector<std::string> titles{""};
  for (const Metrics& run : report.runs) titles.push_back(run.policy);
  std::string out = head_row(titles);
  const auto add = [&](const std::string& name, auto print) {
    out += summary_row(report, name, print);
  };
  using S = const Summary&;
  add("jobs that ran", [](S s) { return fmt::format("{}", s.jobs); });
  add("mean wait", [](S s) { return length_text(s.wait_s.mean); });
  add("median wait", [](S s) { return length_text(static_cast<double>(s.wait_s.median)); });
  add("wait, 9 of 10 less", [](S s) { return length_text(static_cast<double>(s.wait_s.p90)); });
  add("longest wait", [](S s) { return length_text(static_cast<double>(s.wait_s.max)); });
  add("started at once", [](S s) { return percent(s.started_at_once); });
  add("mean bounded slowdown", [](S s) { return fmt::format("{:.2f}", s.mean_slowdown); });
  add("utilisation, to the last end", [](S s) { return percent(s.utilisation); });
  add("utilisation, to the last submit", [](S s) { return percent(s.utilisation_arrivals); });
  add("idle while a job waited", [](S s) { return percent(s.idle_while_waiting); });
  add("free GPUs on partly held nodes",
      [](S s) { return s.fragmentation ? percent(*s.fragmentation) : std::string("-"); });
  add("length of the schedule", [](S s) { return length_text(static_cast<double>(s.makespan_s)); });
  add("preemptions", [](S s) { return fmt::format("{}", s.evictions); });
  add("unit-hours lost to them", [](S s) { return fmt::format("{:.0f}", s.lost_hours); });
  add("passes", [](S s) { return fmt::format("{}", s.passes); });
  add("pass, mean / 99 of 100 less / longest", [](S s) {
    return fmt::format("{} / {} / {}", pass_text(s.pass_ns.mean),
                       pass_text(static_cast<double>(s.pass_ns.p99)),
                       pass_text(static_cast<double>(s.pass_ns.max)));
  });
  return out + "</table>\n";
}

std::string team_table(const Metrics& run) {
  std::string out = fmt::format("<h2>Teams under {}</h2>\n", escaped(run.policy));
  out += head_row({"team", "jobs", "mean wait", "slowdown", "unit-hours", "share", "mean use",
                   "guarantee", "short of it", "preemptions"});
  for (const TeamSummary& team : run.teams) {
    out +=
        row_of(team.name.empty() ? "(none)" : team.name,
               {fmt::format("{}", team.jobs), length_text(team.mean_wait_s),
                fmt::format("{:.2f}", team.mean_slowdown), fmt::format("{:.0f}", team.used_hours),
                percent(team.share), fmt::format("{:.1f}", team.mean_used),
                team.guarantee ? fmt::format("{:.0f}", *team.guarantee) : "-",
                team.guarantee ? fmt::format("{:.0f} h", team.short_hours) : "-",
                fmt::format("{}", team.evictions)});
  }
  return out + "</table>\n";
}

Axis days_axis(const Report& report) {
  Seconds last = 1;
  for (const Metrics& run : report.runs) last = std::max(last, run.summary.makespan_s);
  return linear_axis("days since the first submit", static_cast<double>(last) / 86400, "");
}

LinePlot over_time(const Report& report, const std::string& title, double Bucket::* value,
                   double factor) {
  LinePlot plot;
  plot.title = title;
  plot.x = days_axis(report);
  double high = 0;
  for (const Metrics& run : report.runs) {
    Line line{run.policy, {}};
    for (const Bucket& bucket : run.buckets) {
      const double middle =
          static_cast<double>(bucket.from) + static_cast<double>(run.bucket_s) / 2;
      line.points.emplace_back(middle / 86400, bucket.*value * factor);
      high = std::max(high, bucket.*value * factor);
    }
    plot.lines.push_back(std::move(line));
  }
  plot.y = linear_axis("", high, "");
  return plot;
}

std::string utilisation_plot(const Report& report) {
  LinePlot plot = over_time(report, "Share of the machine in use", &Bucket::used, 100);
  plot.y = linear_axis("", 100, " %");
  return line_plot(plot);
}

/// Share of jobs that have started after a wait of so long.
std::string wait_plot(const Report& report) {
  constexpr std::size_t kPoints = 300;
  LinePlot plot;
  plot.title = "Share of jobs that started within a wait";
  double longest = 10;
  for (const Metrics& run : report.runs) {
    const auto& waits = run.sorted_waits;
    if (waits.empty()) continue;
    Line line{run.policy, {}};
    for (std::size_t i = 0; i <= kPoints; ++i) {
      const std::size_t at = std::min(waits.size() - 1, i * waits.size() / kPoints);
      line.points.emplace_back(
          static_cast<double>(waits[at]),
          100 * static_cast<double>(at + 1) / static_cast<double>(waits.size()));
    }
    longest = std::max(longest, static_cast<double>(waits.back()));
    plot.lines.push_back(std::move(line));
  }
  plot.x = wait_axis("wait, logarithmic", longest);
  plot.y = linear_axis("", 100, " %");
  return line_plot(plot);
}

/// As much as fits beside a bar.
std::string short_name(const std::string& name) {
  constexpr std::size_t kMost = 14;
  if (name.empty()) return "(none)";
  return name.size() <= kMost ? name : name.substr(0, kMost - 1) + "~";
}

/// What each team had on average beside its guarantee; the largest teams only.
std::string team_plot(const Report& report) {
  constexpr std::size_t kMost = 25;
  BarPlot plot;
  plot.title = "Mean use of teams, in units; the dark line is the guarantee";
  plot.mark_name = "guarantee";
  std::vector<TeamSummary> largest = report.runs.front().teams;
  std::stable_sort(largest.begin(), largest.end(), [](const TeamSummary& a, const TeamSummary& b) {
    return a.used_hours > b.used_hours;
  });
  if (largest.size() > kMost) largest.resize(kMost);
  double high = 0;
  for (const TeamSummary& team : largest) {
    Bar bar{short_name(team.name), {}, team.guarantee};
    for (const Metrics& run : report.runs) {
      const auto same = std::ranges::find(run.teams, team.name, &TeamSummary::name);
      bar.values.push_back(same == run.teams.end() ? 0 : same->mean_used);
      high = std::max({high, bar.values.back(), team.guarantee.value_or(0)});
    }
    plot.bars.push_back(std::move(bar));
  }
  for (const Metrics& run : report.runs) plot.series.push_back(run.policy);
  plot.x = linear_axis("", high, "");
  return bar_plot(plot);
}

std::string notes(const Problem& problem) {
  std::string out = fmt::format("<p>{} jobs on {} {}.", problem.tasks.size(),
                                units_text(problem.capacity), resource_name(problem.resource));
  if (problem.too_large > 0)
    out += fmt::format(" {} jobs that need more than that are left out.", problem.too_large);
  if (problem.needs_none > 0)
    out += fmt::format(" {} jobs that ask for none are left out.", problem.needs_none);
  if (problem.no_limit > 0)
    out += fmt::format(" {} jobs have no limit: their run time stands for it.", problem.no_limit);
  if (problem.cut > 0) out += fmt::format(" {} jobs are ended at their limit.", problem.cut);
  return out + "</p>\n";
}

}  // namespace

std::string html_report(const Report& report) {
  const std::string name = escaped(report.problem->workload->name);
  std::string out = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta "
      "name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{0}</title>\n"
      "<style>{1}</style>\n</head>\n<body>\n<h1>{0}</h1>\n",
      name, kStyle);
  out += notes(*report.problem);
  out += summary_table(report);
  out += utilisation_plot(report);
  out += line_plot(over_time(report, "Jobs waiting", &Bucket::waiting, 1));
  out += wait_plot(report);
  if (!report.runs.front().teams.empty()) {
    out += team_plot(report);
    for (const Metrics& run : report.runs) out += team_table(run);
  }
  return out + "</body>\n</html>\n";
}

}  // namespace artel::trace
