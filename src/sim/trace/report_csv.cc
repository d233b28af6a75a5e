#include <fmt/format.h>

#include <string>

#include "sim/trace/report.h"

namespace artel::trace {
namespace {

/// In quotes where it holds what would end it (RFC 4180).
std::string field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

}  // namespace

std::string units_text(Milli amount) {
  return fmt::format("{}", static_cast<double>(amount) / static_cast<double>(kMilli));
}

std::string length_text(double seconds) {
  constexpr double kMinute = 60;
  constexpr double kHour = 3600;
  constexpr double kDay = 86400;
  if (seconds < 2 * kMinute) return fmt::format("{:.0f} s", seconds);
  if (seconds < 2 * kHour) return fmt::format("{:.0f} min", seconds / kMinute);
  if (seconds < 2 * kDay) return fmt::format("{:.1f} h", seconds / kHour);
  return fmt::format("{:.1f} d", seconds / kDay);
}

std::string pass_text(double ns) {
  constexpr double kMicro = 1e3;
  constexpr double kMilliSecond = 1e6;
  if (ns < 100 * kMicro) return fmt::format("{:.1f} us", ns / kMicro);
  if (ns < kMilliSecond) return fmt::format("{:.0f} us", ns / kMicro);
  return fmt::format("{:.1f} ms", ns / kMilliSecond);
}

std::string jobs_csv_head() {
  return "policy,job_id,user,team,queue,size,submit_s,start_s,end_s,wait_s,run_s,limit_s,slowdown,"
         "evictions\n";
}

std::string jobs_csv(const Problem& problem, const Outcome& outcome, std::string_view policy) {
  std::string out;
  const auto& names = problem.workload->names;
  for (TaskIndex i = 0; i < problem.tasks.size(); ++i) {
    const Task& task = problem.tasks[i];
    const TaskOutcome& result = outcome.tasks[i];
    if (result.refused) continue;
    const Job& job = problem.workload->jobs[task.job];
    out += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{:.3f},{}\n", policy, field(job.id),
                       field(names[job.user]), field(names[job.team]), field(names[job.queue]),
                       units_text(task.size), task.submit, result.start, result.end,
                       result.start - task.submit, task.run, task.limit,
                       bounded_slowdown(result.end - task.submit, task.run), result.evictions);
  }
  return out;
}

}  // namespace artel::trace
