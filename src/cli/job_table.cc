#include "cli/job_table.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "base/hostlist.h"
#include "base/text.h"
#include "cli/context.h"
#include "cli/job_exit.h"
#include "cli/job_view.h"
#include "client.pb.h"
#include "model/attempt.h"
#include "model/ending.h"
#include "model/job_spec.h"
#include "wire/step/types_wire.h"

namespace artel::cli {
namespace {

constexpr std::size_t kFactColumn = 13;

/// "2026-11-30 01:23:52".
std::string short_time(std::int64_t ms) {
  std::string text = format_time(time_from_ms(ms));
  text.pop_back();
  text[text.find('T')] = ' ';
  return text;
}

void fact(std::string& page, std::string_view name, const std::string& value) {
  if (!value.empty()) page += fmt::format("  {:<{}}{}\n", name, kFactColumn, printable(value));
}

std::string program_line(const v1::JobView& job) {
  if (!job.spec().script().empty()) return program_text(job);
  const auto launch = static_cast<LaunchKind>(std::min(component_of(job).launch(), 3U));
  return fmt::format("{} (launch {})", program_text(job), launch_kind_name(launch));
}

std::string gpu_list(const v1::NodePart& part) {
  std::string out;
  for (int i = 0; i < part.gpus_size(); ++i) {
    int last = i;
    while (last + 1 < part.gpus_size() && part.gpus(last + 1) == part.gpus(last) + 1) ++last;
    out += fmt::format("{}{}", out.empty() ? "" : ",", part.gpus(i));
    if (last > i) out += fmt::format("-{}", part.gpus(last));
    i = last;
  }
  return out.empty() ? "none" : out;
}

std::string part_line(const v1::NodePart& part) {
  const auto phase = static_cast<NodePhase>(std::min(part.phase(), 5U));
  std::string line =
      fmt::format("    {}  GPUs {}  {} CPUs  {}  {}", part.node(), gpu_list(part), part.cpus(),
                  format_bytes(Bytes{part.memory_bytes()}), node_phase_name(phase));
  if (part.has_end()) {
    const v1::NodeEnd& end = part.end();
    line += fmt::format("  CPU time {}  memory {}", format_elapsed(Duration{end.cpu_ms()}),
                        format_bytes(Bytes{end.max_rss_bytes()}));
  }
  return printable(line) + "\n";
}

std::string attempt_part(const v1::AttemptView& attempt, Time now) {
  std::string page = fmt::format("  attempt {}\n", attempt.key().attempt());
  const auto line = [&page](std::string_view name, const std::string& value) {
    if (!value.empty())
      page += fmt::format("    {:<{}}{}\n", name, kFactColumn - 2, printable(value));
  };
  line("nodes", fold_hosts(node_names(attempt)));
  line("allocated", format_time(time_from_ms(attempt.allocated_ms())));
  if (attempt.has_started_ms()) line("started", format_time(time_from_ms(attempt.started_ms())));
  if (attempt.has_ended_ms()) line("ended", format_time(time_from_ms(attempt.ended_ms())));
  if (attempt.has_limit_end_ms() && !attempt.has_ended_ms()) {
    line("limit ends", format_time(time_from_ms(attempt.limit_end_ms())));
  }
  if (const auto spent = elapsed(attempt, now)) line("elapsed", format_elapsed(*spent));
  line("outcome", attempt.outcome());
  if (attempt.has_cause()) {
    const Cause cause = wire::from_proto(attempt.cause());
    line("cause", fmt::format("{} ({}, {})", describe(cause), actor_name(cause.actor),
                              cause_name(cause.code)));
  }
  for (const v1::NodePart& part : attempt.parts()) page += part_line(part);
  return page;
}

void add_tasks(std::string& page, const v1::JobView& job) {
  if (job.has_task())
    fact(page, "number",
         fmt::format("{} (task {} of array {})", job.id(), job.task().index(), job.task().array()));
  if (!job.has_array()) return;
  const v1::ArrayView& array = job.array();
  const auto some = [](std::uint32_t count, const std::string& indexes) {
    return count == 0 ? std::string() : fmt::format("{} ({})", count, indexes);
  };
  fact(page, "tasks", some(array.tasks(), job.spec().array()));
  fact(page, "waiting", some(array.waiting_count(), array.waiting()));
  fact(page, "held", some(array.held_count(), array.held()));
  fact(page, "active", std::to_string(array.active()));
  fact(page, "ended",
       fmt::format("{} completed, {} failed, {} cancelled", array.completed(), array.failed(),
                   array.cancelled()));
}

void add_request(std::string& page, const v1::JobView& job) {
  const v1::Component& part = component_of(job);
  const v1::JobSpec& spec = job.spec();
  fact(page, "nodes",
       fmt::format("{} ({} rank{} each), {}", part.nodes(), part.ranks_per_node(),
                   part.ranks_per_node() == 1 ? "" : "s", request_text(part)));
  if (spec.nodes_wanted_size() > 0) {
    fact(page, "only on", fold_hosts({spec.nodes_wanted().begin(), spec.nodes_wanted().end()}));
  }
  if (spec.nodes_avoided_size() > 0) {
    fact(page, "never on", fold_hosts({spec.nodes_avoided().begin(), spec.nodes_avoided().end()}));
  }
  const auto limit = time_limit(job);
  fact(page, "time limit", limit ? format_duration(*limit) : "none");
}

void add_program(std::string& page, const v1::JobView& job) {
  const v1::JobSpec& spec = job.spec();
  fact(page, "program", program_line(job));
  fact(page, "directory", spec.working_directory());
  fact(page, "output", spec.attached() ? "to the caller of artel run" : spec.output());
  fact(page, "error", spec.error());
  std::vector<std::string> variables;
  for (const v1::Variable& variable : spec.environment()) {
    variables.push_back(variable.name() + "=" + variable.value());
  }
  fact(page, "environment", fmt::format("{}", fmt::join(variables, " ")));
}

}  // namespace

Style state_style(const std::string& state) {
  if (state == "RUNNING" || state == "COMPLETED") return Style::kGood;
  if (is_final_state(state)) return Style::kBad;
  return state == "PENDING" ? Style::kDim : Style::kPlain;
}

Result<std::string> user_filter(const Parsed& parsed) {
  if (parsed.has("mine") && parsed.has("user")) {
    return fail(ErrorCode::kInvalidArgument, "--mine and --user exclude each other");
  }
  return parsed.has("mine") ? caller_name() : parsed.value("user");
}

std::string queue_table(const v1::QueueReply& reply, Terminal terminal, bool whole) {
  const Time now = time_from_ms(reply.now_ms());
  if (whole) terminal.width = 0;
  Table table({{"JOB", true, 0},
               {"NAME", false, 8},
               {"USER", false, 6},
               {"TEAM", false, 6},
               {"STATE", false, 0},
               {"NODES", true, 0},
               {"TIME/LIMIT", true, 0},
               {"REASON OR NODES", false, 14}});
  for (const v1::JobView& job : reply.jobs()) {
    const v1::JobSpec& spec = job.spec();
    const std::string state = waiting_state(job);
    table.add({job_name(job, whole), spec.name(), spec.owner().user(), spec.team(),
               Cell(state, state_style(state)), std::to_string(component_of(job).nodes()),
               time_column(job, now), reason_column(job, now, whole)});
  }
  return table.text(terminal);
}

std::string history_table(const v1::HistoryReply& reply, Time now, Terminal terminal, bool whole) {
  if (whole) terminal.width = 0;
  Table table({{"JOB", true, 0},
               {"NAME", false, 8},
               {"USER", false, 6},
               {"TEAM", false, 6},
               {"STATE", false, 0},
               {"NODES", true, 0},
               {"ENDED (UTC)", false, 16},
               {"ELAPSED", true, 0},
               {"EXIT", true, 0},
               {"CAUSE", false, 12}});
  for (const v1::JobView& job : reply.jobs()) {
    const v1::JobSpec& spec = job.spec();
    const v1::AttemptView* attempt = latest_attempt(job);
    const auto spent = attempt == nullptr ? std::nullopt : elapsed(*attempt, now);
    const bool is_final = is_final_state(job.state());
    table.add(
        {job_name(job, whole), spec.name(), spec.owner().user(), spec.team(),
         Cell(job.state(), state_style(job.state())), std::to_string(component_of(job).nodes()),
         job.has_ended_ms() ? short_time(job.ended_ms()) : "-",
         spent ? format_elapsed(*spent) : "-", is_final ? std::to_string(job_exit_code(job)) : "-",
         job.state() == "COMPLETED" ? "" : cause_text(job)});
  }
  return table.text(terminal);
}

std::string job_page(const v1::JobView& job, Time now) {
  const v1::JobSpec& spec = job.spec();
  std::string page =
      printable(fmt::format("job {}  {}  {}", job_name(job, false), spec.name(), job.state())) +
      "\n";
  fact(page, "user", fmt::format("{} (uid {})", spec.owner().user(), spec.owner().uid()));
  fact(page, "team", spec.team());
  fact(page, "queue", spec.queue());
  fact(page, "project", spec.project());
  if (!spec.job_class().empty()) {
    fact(page, "class",
         spec.job_class() + (spec.preemptible() ? "" : " (not to be evicted for others)"));
  }
  if (spec.priority() != 0) fact(page, "priority", std::to_string(spec.priority()));
  add_tasks(page, job);
  add_request(page, job);
  add_program(page, job);
  fact(page, "submitted", format_time(time_from_ms(job.submitted_ms())));
  if (job.has_ended_ms()) fact(page, "ended", format_time(time_from_ms(job.ended_ms())));
  if (job.has_wait()) fact(page, "waits", job.wait().text());
  if (job.has_cause()) {
    const Cause cause = wire::from_proto(job.cause());
    fact(page, "cause",
         fmt::format("{} ({}, {})", describe(cause), actor_name(cause.actor),
                     cause_name(cause.code)));
  }
  if (is_final_state(job.state())) fact(page, "exit code", std::to_string(job_exit_code(job)));
  for (const v1::AttemptView& attempt : job.attempts()) page += attempt_part(attempt, now);
  return page;
}

}  // namespace artel::cli
