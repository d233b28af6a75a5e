#include "cli/forecast_text.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "base/text.h"
#include "cli/table.h"
#include "client.pb.h"

namespace artel::cli {
namespace {

std::string name_of(std::uint64_t job, const v1::WhatIfReply& reply) {
  return job == reply.submitted() ? "this job" : fmt::format("job {}", job);
}

std::string list(const google::protobuf::RepeatedPtrField<v1::JobLine>& jobs,
                 const v1::WhatIfReply& reply) {
  if (jobs.empty()) return "nothing";
  std::string out;
  for (const v1::JobLine& job : jobs) {
    if (!out.empty()) out += ", ";
    out += name_of(job.job(), reply);
    if (!job.user().empty()) {
      out += fmt::format(" ({}, user {}, team {})", printable(job.name()), printable(job.user()),
                         printable(job.team()));
    }
  }
  return out;
}

std::string cell(bool has, std::int64_t ms) {
  return has ? format_time(time_from_ms(ms)) : "not foreseen";
}

std::string change(const v1::MovedStart& moved) {
  if (!moved.has_before_ms()) return "can be foreseen";
  if (!moved.has_after_ms()) return "no more foreseen";
  const std::int64_t later = moved.after_ms() - moved.before_ms();
  return fmt::format("{} {}", format_duration(Duration{std::abs(later)}),
                     later > 0 ? "later" : "earlier");
}

nlohmann::json line_json(const v1::JobLine& job) {
  return {{"job", job.job()}, {"name", job.name()}, {"user", job.user()}, {"team", job.team()}};
}

nlohmann::json lines_json(const google::protobuf::RepeatedPtrField<v1::JobLine>& jobs) {
  nlohmann::json out = nlohmann::json::array();
  for (const v1::JobLine& job : jobs) out.push_back(line_json(job));
  return out;
}

}  // namespace

std::string start_text(Time start, Time now) {
  if (start <= now) return "now";
  return fmt::format("{} (in {})", format_time(start), format_duration(start - now));
}

std::string consequences_text(const v1::WhatIfReply& reply, const Terminal& terminal) {
  std::string out = fmt::format("Starts at once:  {}\nEvicted at once: {}\n",
                                list(reply.starts(), reply), list(reply.evictions(), reply));
  if (reply.moved().empty()) {
    out += "No expected start would change.\n";
  } else {
    Table table({{"JOB", false, 0},
                 {"NAME", false, 4},
                 {"USER", false, 4},
                 {"TEAM", false, 4},
                 {"EXPECTED NOW", false, 0},
                 {"EXPECTED THEN", false, 0},
                 {"CHANGE", false, 0}});
    for (const v1::MovedStart& moved : reply.moved()) {
      const v1::JobLine& job = moved.job();
      const bool is_new = job.job() == reply.submitted();
      table.add({is_new ? "this" : std::to_string(job.job()), job.name(), job.user(), job.team(),
                 is_new ? "-" : cell(moved.has_before_ms(), moved.before_ms()),
                 cell(moved.has_after_ms(), moved.after_ms()), is_new ? "" : change(moved)});
    }
    out += "\n" + table.text(terminal);
  }
  if (!reply.is_whole()) out += "Starts further ahead were not looked at.\n";
  return out;
}

nlohmann::json consequences_json(const v1::WhatIfReply& reply) {
  nlohmann::json moved = nlohmann::json::array();
  for (const v1::MovedStart& one : reply.moved()) {
    nlohmann::json out = line_json(one.job());
    out["before_ms"] = one.has_before_ms() ? nlohmann::json(one.before_ms()) : nlohmann::json();
    out["after_ms"] = one.has_after_ms() ? nlohmann::json(one.after_ms()) : nlohmann::json();
    moved.push_back(std::move(out));
  }
  return {
      {"starts", lines_json(reply.starts())},
      {"evictions", lines_json(reply.evictions())},
      {"moved", std::move(moved)},
      {"submitted", reply.submitted() == 0 ? nlohmann::json() : nlohmann::json(reply.submitted())},
      {"is_whole", reply.is_whole()},
      {"now_ms", reply.now_ms()}};
}

}  // namespace artel::cli
