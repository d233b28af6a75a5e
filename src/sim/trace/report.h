// What `artel simulate` gives out for programs and browsers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/trace/metrics.h"
#include "sim/trace/replay.h"
#include "sim/trace/task.h"

namespace artel::trace {

/// One workload under one or several policies.
struct Report {
  const Problem* problem{};  // outlives this
  std::vector<Metrics> runs;
};

/// One JSON object in one line; names and units are those of artel-simulate(1).
std::string json_report(const Report& report);

/// A page without scripts or anything from elsewhere: tables and plots.
std::string html_report(const Report& report);

/// The first line of the file of jobs.
std::string jobs_csv_head();
/// One line a job.
std::string jobs_csv(const Problem& problem, const Outcome& outcome, std::string_view policy);

/// Units of the machine, "100" or "0.5".
std::string units_text(Milli amount);
/// "3.4 h", "12 s", "2.1 d": a length for people.
std::string length_text(double seconds);
/// "1.2 us", "35 ms".
std::string pass_text(double ns);

}  // namespace artel::trace
