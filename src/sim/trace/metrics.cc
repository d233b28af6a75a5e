#include "sim/trace/metrics.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

namespace artel::trace {
namespace {

constexpr double kHour = 3600;
constexpr Seconds kTau = 10;

double units(Milli amount) { return static_cast<double>(amount) / static_cast<double>(kMilli); }
double number(std::int64_t value) { return static_cast<double>(value); }

/// What changes at an instant: units held, jobs waiting, units wanted (held or waiting).
struct Change {
  Seconds at{};
  Milli held{};
  std::int64_t waiting{};
  Milli wanted{};
};

/// How a quantity goes over time: each stretch between changes with what holds there.
template <typename Visit>
void sweep(std::vector<Change> changes, Visit visit) {
  std::sort(changes.begin(), changes.end(),
            [](const Change& a, const Change& b) { return a.at < b.at; });
  Change state;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    state.held += changes[i].held;
    state.waiting += changes[i].waiting;
    state.wanted += changes[i].wanted;
    if (i + 1 < changes.size() && changes[i + 1].at > changes[i].at)
      visit(changes[i].at, changes[i + 1].at, state);
  }
}

/// `wanted` leaves out tasks larger than `most_wanted`.
std::vector<Change> changes_of(const Problem& problem, const Outcome& outcome,
                               const std::vector<std::uint32_t>* team_of, std::uint32_t team,
                               Milli most_wanted) {
  std::vector<Change> changes;
  const auto counts = [&](TaskIndex task) {
    return team_of == nullptr || (*team_of)[task] == team;
  };
  for (TaskIndex i = 0; i < problem.tasks.size(); ++i) {
    if (!counts(i) || outcome.tasks[i].refused) continue;
    const Milli size = problem.tasks[i].size;
    const Milli wanted = size <= most_wanted ? size : 0;
    changes.push_back({problem.tasks[i].submit, 0, 1, wanted});
    changes.push_back({outcome.tasks[i].end, 0, -1, -wanted});
  }
  for (const Stay& stay : outcome.stays) {
    if (!counts(stay.task)) continue;
    const Milli size = problem.tasks[stay.task].size;
    changes.push_back({stay.from, size, -1, 0});
    changes.push_back({stay.to, -size, 1, 0});
  }
  return changes;
}

struct Span {
  Seconds first{};
  Seconds last_submit{};
  Seconds last_end{};
};

Span span_of(const Problem& problem, const Outcome& outcome) {
  Span span{problem.tasks.front().submit, problem.tasks.back().submit, 0};
  for (const TaskOutcome& task : outcome.tasks) span.last_end = std::max(span.last_end, task.end);
  return span;
}

/// Unit-seconds in thousandths held between two times.
Milli work_between(const Problem& problem, const Outcome& outcome, Seconds from, Seconds to) {
  Milli work = 0;
  for (const Stay& stay : outcome.stays) {
    const Seconds length = std::min(stay.to, to) - std::max(stay.from, from);
    if (length > 0) work += length * problem.tasks[stay.task].size;
  }
  return work;
}

double share_of(Milli work, Milli capacity, Seconds length) {
  return length > 0 ? number(work) / (number(capacity) * number(length)) : 0;
}

void measure_jobs(const Problem& problem, const Outcome& outcome, Metrics& metrics) {
  Summary& summary = metrics.summary;
  double slowdown = 0;
  std::size_t at_once = 0;
  for (TaskIndex i = 0; i < problem.tasks.size(); ++i) {
    const Task& task = problem.tasks[i];
    const TaskOutcome& result = outcome.tasks[i];
    if (result.refused) {
      ++summary.refused;
      continue;
    }
    metrics.sorted_waits.push_back(result.start - task.submit);
    if (result.start == task.submit) ++at_once;
    slowdown += bounded_slowdown(result.end - task.submit, task.run);
    summary.evictions += result.evictions;
  }
  summary.jobs = problem.tasks.size() - summary.refused;
  const auto count = static_cast<double>(std::max<std::uint64_t>(summary.jobs, 1));
  summary.wait_s = distribution_of(metrics.sorted_waits);
  summary.started_at_once = static_cast<double>(at_once) / count;
  summary.mean_slowdown = slowdown / count;
  std::sort(metrics.sorted_waits.begin(), metrics.sorted_waits.end());
}

void measure_use(const Problem& problem, const Outcome& outcome, const Span& span,
                 Summary& summary) {
  summary.makespan_s = span.last_end - span.first;
  const Milli all = work_between(problem, outcome, span.first, span.last_end);
  const Milli arrivals = work_between(problem, outcome, span.first, span.last_submit);
  summary.utilisation = share_of(all, problem.capacity, summary.makespan_s);
  summary.utilisation_arrivals =
      share_of(arrivals, problem.capacity, span.last_submit - span.first);
  summary.used_hours = units(all) / kHour;
  Milli lost = 0;
  for (const Stay& stay : outcome.stays) lost += stay.lost * problem.tasks[stay.task].size;
  summary.lost_hours = units(lost) / kHour;
}

void add_to_buckets(Metrics& metrics, const Span& span, Milli capacity, Seconds from, Seconds to,
                    const Change& state) {
  const auto index_of = [&](Seconds at) {
    return static_cast<std::size_t>((at - span.first) / metrics.bucket_s);
  };
  const double used = number(state.held) / number(capacity);
  for (std::size_t i = index_of(from); i < metrics.buckets.size(); ++i) {
    Bucket& bucket = metrics.buckets[i];
    const Seconds length =
        std::min(to, bucket.from + metrics.bucket_s) - std::max(from, bucket.from);
    if (length <= 0) break;
    const double part = number(length) / number(metrics.bucket_s);
    bucket.used += used * part;
    bucket.waiting += number(state.waiting) * part;
  }
}

void measure_time(const Problem& problem, const Outcome& outcome, const Span& span,
                  Metrics& metrics) {
  const Seconds length = std::max<Seconds>(span.last_end - span.first, 1);
  const auto count = static_cast<Seconds>(kBuckets);
  metrics.bucket_s = (length + count - 1) / count;
  for (Seconds from = span.first; from < span.last_end; from += metrics.bucket_s)
    metrics.buckets.push_back({from, 0, 0});
  Milli idle = 0;
  sweep(changes_of(problem, outcome, nullptr, 0, problem.capacity),
        [&](Seconds from, Seconds to, const Change& state) {
          if (state.waiting > 0) idle += (problem.capacity - state.held) * (to - from);
          add_to_buckets(metrics, span, problem.capacity, from, to, state);
        });
  metrics.summary.idle_while_waiting = share_of(idle, problem.capacity, length);
}

/// Of all that was free, how much lay on partly held nodes.
void measure_fragmentation(const Problem& problem, const Outcome& outcome, const Span& span,
                           Summary& summary) {
  if (outcome.stranded.empty()) return;
  double stranded = 0;
  for (std::size_t i = 0; i < outcome.stranded.size(); ++i) {
    const Seconds to =
        i + 1 < outcome.stranded.size() ? outcome.stranded[i + 1].first : span.last_end;
    stranded += number(outcome.stranded[i].second) * number(to - outcome.stranded[i].first);
  }
  const double free = number(problem.capacity) * number(summary.makespan_s) -
                      summary.used_hours * kHour * number(kMilli);
  summary.fragmentation = free > 0 ? stranded / free : 0;
}

TeamSummary measure_team(const Problem& problem, const Outcome& outcome, const Span& span,
                         const std::vector<std::uint32_t>& team_of, std::uint32_t team) {
  TeamSummary row;
  double wait = 0;
  double slowdown = 0;
  for (TaskIndex i = 0; i < problem.tasks.size(); ++i) {
    if (team_of[i] != team || outcome.tasks[i].refused) continue;
    const Task& task = problem.tasks[i];
    ++row.jobs;
    wait += number(outcome.tasks[i].start - task.submit);
    slowdown += bounded_slowdown(outcome.tasks[i].end - task.submit, task.run);
    row.evictions += outcome.tasks[i].evictions;
  }
  if (row.jobs > 0) {
    row.mean_wait_s = wait / static_cast<double>(row.jobs);
    row.mean_slowdown = slowdown / static_cast<double>(row.jobs);
  }
  Milli used = 0;
  Milli used_arrivals = 0;
  for (const Stay& stay : outcome.stays) {
    if (team_of[stay.task] != team) continue;
    const Milli size = problem.tasks[stay.task].size;
    used += (stay.to - stay.from) * size;
    used_arrivals += std::max<Seconds>(std::min(stay.to, span.last_submit) - stay.from, 0) * size;
  }
  row.used_hours = units(used) / kHour;
  const Seconds length = span.last_submit - span.first;
  row.mean_used = length > 0 ? units(used_arrivals) / number(length) : 0;
  return row;
}

double short_hours(const Problem& problem, const Outcome& outcome,
                   const std::vector<std::uint32_t>& team_of, std::uint32_t team, Milli guarantee) {
  Milli missing = 0;
  sweep(changes_of(problem, outcome, &team_of, team, guarantee), [&](Seconds from, Seconds to,
                                                                     const Change& state) {
    missing += std::max<Milli>(0, std::min(guarantee, state.wanted) - state.held) * (to - from);
  });
  return units(missing) / kHour;
}

void measure_teams(const Problem& problem, const Outcome& outcome, const Span& span,
                   const Teams& teams, Metrics& metrics) {
  std::vector<std::uint32_t> team_of;
  std::map<std::string, std::optional<std::uint32_t>> names;  // to the index of Workload::names
  for (const Team& team : teams.teams) names.emplace(team.name, std::nullopt);
  for (const Task& task : problem.tasks) {
    const std::uint32_t team = problem.workload->jobs[task.job].team;
    team_of.push_back(team);
    names[problem.workload->names[team]] = team;
  }
  if (names.size() == 1 && names.contains("")) return;
  for (const auto& [name, index] : names) {
    TeamSummary row;
    if (index) row = measure_team(problem, outcome, span, team_of, *index);
    row.name = name;
    const Team* team = teams.find(name);
    const auto guarantee = team == nullptr ? std::nullopt : guarantee_of(*team);
    if (guarantee) {
      row.guarantee = units(*guarantee);
      if (index) row.short_hours = short_hours(problem, outcome, team_of, *index, *guarantee);
    }
    if (metrics.summary.used_hours > 0) row.share = row.used_hours / metrics.summary.used_hours;
    metrics.teams.push_back(std::move(row));
  }
}

}  // namespace

double bounded_slowdown(Seconds response, Seconds run) {
  return std::max(1.0, number(response) / number(std::max(run, kTau)));
}

Distribution distribution_of(std::vector<std::int64_t> values) {
  Distribution distribution;
  if (values.empty()) return distribution;
  std::sort(values.begin(), values.end());
  const std::size_t count = values.size();
  const auto at = [&](double part) {
    return values[static_cast<std::size_t>(part * static_cast<double>(count))];
  };
  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  distribution.mean = sum / static_cast<double>(count);
  distribution.median = values[count / 2];
  distribution.p90 = at(0.9);
  distribution.p99 = at(0.99);
  distribution.max = values.back();
  return distribution;
}

Metrics measure(const Problem& problem, const Outcome& outcome, const Teams& teams) {
  Metrics metrics;
  const Span span = span_of(problem, outcome);
  measure_jobs(problem, outcome, metrics);
  measure_use(problem, outcome, span, metrics.summary);
  measure_time(problem, outcome, span, metrics);
  measure_fragmentation(problem, outcome, span, metrics.summary);
  measure_teams(problem, outcome, span, teams, metrics);
  metrics.summary.passes = outcome.pass_ns.size();
  metrics.summary.pass_ns = distribution_of(outcome.pass_ns);
  return metrics;
}

}  // namespace artel::trace
