#include "cli/job_view.h"

#include <fmt/ranges.h>

#include "base/hostlist.h"
#include "base/text.h"
#include "cli/job_exit.h"
#include "client.pb.h"
#include "model/ending.h"
#include "model/job.h"
#include "wire/step/types_wire.h"

namespace artel::cli {
namespace {

/// "in 2h5m": a planned start is an estimate, seconds would lie.
std::string planned(std::int64_t planned_ms, Time now) {
  const auto left = std::chrono::ceil<std::chrono::minutes>(time_from_ms(planned_ms) - now);
  if (left <= std::chrono::minutes(0)) return "due";
  return "in " + format_duration(left);
}

std::string short_reason(const v1::WaitReason& wait, Time now) {
  std::string out = wait.brief().empty() ? wait.text() : wait.brief();
  if (!wait.has_planned_start_ms()) return out;
  return out + (out.empty() ? "" : ", ") + planned(wait.planned_start_ms(), now);
}

std::string quoted(const std::string& word) {
  const bool plain =
      !word.empty() && word.find_first_of(" \t\n'\"\\$`&|;<>()*?[]{}~#") == std::string::npos;
  if (plain) return word;
  std::string out = "'";
  for (const char c : word) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out + "'";
}

/// Where the tasks of an array are, in a few words.
std::string counts_text(const v1::ArrayView& array) {
  std::string out = fmt::format("{} wait", array.waiting_count());
  const auto add = [&out](std::uint32_t count, std::string_view what) {
    if (count > 0) out += fmt::format(", {} {}", count, what);
  };
  add(array.held_count(), "held");
  add(array.active(), "run");
  add(array.completed(), "done");
  add(array.failed(), "failed");
  add(array.cancelled(), "cancelled");
  return out;
}

/// Not more of a list than a column takes.
std::string shortened(const std::string& indexes) {
  constexpr std::size_t kMost = 20;
  if (indexes.size() <= kMost) return indexes;
  const auto end = indexes.rfind(',', kMost);
  return indexes.substr(0, end == std::string::npos ? kMost : end) + ",...";
}

}  // namespace

std::string job_name(const v1::JobView& job, bool whole) {
  if (job.has_task()) return fmt::format("{}_{}", job.task().array(), job.task().index());
  if (!job.has_array()) return std::to_string(job.id());
  const v1::ArrayView& array = job.array();
  const std::string& left = array.waiting_count() > 0 ? array.waiting()
                            : array.held_count() > 0  ? array.held()
                                                      : job.spec().array();
  const std::size_t end = left.find('%');
  std::string indexes = left.substr(0, end);
  if (!whole) indexes = shortened(indexes);
  if (array.throttle() > 0) indexes += fmt::format("%{}", array.throttle());
  return fmt::format("{}_[{}]", job.id(), indexes);
}

std::string waiting_state(const v1::JobView& job) {
  if (!job.has_array() || is_final_state(job.state())) return job.state();
  return job.array().waiting_count() > 0 ? "PENDING" : "HELD";
}

const v1::AttemptView* latest_attempt(const v1::JobView& job) {
  return job.attempts_size() == 0 ? nullptr : &job.attempts(job.attempts_size() - 1);
}

const v1::Component& component_of(const v1::JobView& job) {
  return job.spec().components_size() == 0 ? v1::Component::default_instance()
                                           : job.spec().components(0);
}

std::vector<std::string> node_names(const v1::AttemptView& attempt) {
  std::vector<std::string> names;
  for (const v1::NodePart& part : attempt.parts()) names.push_back(part.node());
  return names;
}

std::optional<Duration> elapsed(const v1::AttemptView& attempt, Time now) {
  if (!attempt.has_started_ms()) return std::nullopt;
  const Time end = attempt.has_ended_ms() ? time_from_ms(attempt.ended_ms()) : now;
  return std::max(Duration{0}, end - time_from_ms(attempt.started_ms()));
}

std::optional<Duration> time_limit(const v1::JobView& job) {
  if (!job.spec().has_time_limit_ms()) return std::nullopt;
  return Duration{job.spec().time_limit_ms()};
}

std::string time_column(const v1::JobView& job, Time now) {
  const v1::AttemptView* attempt = latest_attempt(job);
  const auto spent = attempt == nullptr ? std::nullopt : elapsed(*attempt, now);
  const auto limit = time_limit(job);
  const std::string used = spent ? format_elapsed(*spent) : "-";
  return limit ? used + "/" + format_duration(*limit) : used;
}

std::string reason_column(const v1::JobView& job, Time now, bool whole) {
  if (is_final_state(job.state())) return cause_text(job);
  if (job.has_wait()) {
    const std::string why =
        whole && !job.wait().text().empty() ? job.wait().text() : short_reason(job.wait(), now);
    return job.has_array() ? why + "; " + counts_text(job.array()) : why;
  }
  const v1::AttemptView* attempt = latest_attempt(job);
  const bool is_placed = attempt != nullptr && !attempt->has_ended_ms();
  return is_placed ? fold_hosts(node_names(*attempt)) : "";
}

std::string program_text(const v1::JobView& job) {
  const v1::JobSpec& spec = job.spec();
  std::string out;
  if (!spec.script().empty())
    out = fmt::format("script ({})", format_bytes(Bytes{spec.script().size()}));
  for (const std::string& word : spec.argv()) out += (out.empty() ? "" : " ") + quoted(word);
  return out;
}

std::string request_text(const v1::Component& component) {
  const v1::NodeRequest& request = component.per_node();
  std::vector<std::string> parts;
  if (request.whole_node()) parts.emplace_back("whole nodes");
  if (request.gpu_milli() > 0) {
    const std::uint64_t gpus = request.gpu_milli() / GpuMilli::kPerDevice;
    parts.push_back(fmt::format("{} GPU{}{}", gpus, gpus == 1 ? "" : "s",
                                request.gpu_type().empty() ? "" : " " + request.gpu_type()));
  }
  if (request.cpus() > 0) {
    parts.push_back(fmt::format("{} CPU{}", request.cpus(), request.cpus() == 1 ? "" : "s"));
  }
  if (request.memory_bytes() > 0) parts.push_back(format_bytes(Bytes{request.memory_bytes()}));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string cause_text(const v1::JobView& job) {
  return job.has_cause() ? describe(wire::from_proto(job.cause())) : "";
}

}  // namespace artel::cli
