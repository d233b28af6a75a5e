#include "cli/json.h"

#include <nlohmann/json.hpp>

#include "cli/job_exit.h"
#include "cli/job_view.h"
#include "client.pb.h"
#include "model/attempt.h"
#include "model/ending.h"
#include "model/job.h"
#include "wire/step/types_wire.h"

namespace artel::cli {
namespace {

using Json = nlohmann::json;

template <typename T>
Json or_null(bool is_set, const T& value) {
  return is_set ? Json(value) : Json(nullptr);
}

template <typename Names>
Json names_json(const Names& names) {
  Json out = Json::array();
  for (const auto& name : names) out.push_back(name);
  return out;
}

Json cause_json(const v1::Cause& message) {
  const Cause cause = wire::from_proto(message);
  return {{"actor", actor_name(cause.actor)},
          {"code", cause_name(cause.code)},
          {"actor_name", cause.actor_name},
          {"node", or_null(!cause.node.empty(), cause.node)},
          {"rank", or_null(cause.rank.has_value(), cause.rank.value_or(0))},
          {"exit_code", cause.exit_code},
          {"signal", cause.signal},
          {"text", describe(cause)}};
}

Json part_json(const v1::NodePart& part) {
  const bool is_known = part.phase() <= static_cast<std::uint32_t>(NodePhase::kEnded);
  return {{"node", part.node()},
          {"gpus", names_json(part.gpus())},
          {"cpus", part.cpus()},
          {"memory_bytes", part.memory_bytes()},
          {"phase",
           is_known ? Json(node_phase_name(static_cast<NodePhase>(part.phase()))) : Json("other")},
          {"cpu_ms", or_null(part.has_end(), part.end().cpu_ms())},
          {"max_rss_bytes", or_null(part.has_end(), part.end().max_rss_bytes())},
          {"cause",
           part.has_end() && part.end().has_cause() ? cause_json(part.end().cause()) : Json()}};
}

Json attempt_json(const v1::AttemptView& attempt, Time now) {
  Json parts = Json::array();
  for (const v1::NodePart& part : attempt.parts()) parts.push_back(part_json(part));
  const auto spent = elapsed(attempt, now);
  return {{"attempt", attempt.key().attempt()},
          {"task", attempt.key().task()},
          {"allocated_ms", attempt.allocated_ms()},
          {"started_ms", or_null(attempt.has_started_ms(), attempt.started_ms())},
          {"ended_ms", or_null(attempt.has_ended_ms(), attempt.ended_ms())},
          {"limit_end_ms", or_null(attempt.has_limit_end_ms(), attempt.limit_end_ms())},
          {"elapsed_ms", spent ? Json(spent->count()) : Json()},
          {"outcome", or_null(!attempt.outcome().empty(), attempt.outcome())},
          {"cause", attempt.has_cause() ? cause_json(attempt.cause()) : Json()},
          {"parts", parts}};
}

Json array_json(const v1::JobView& job) {
  const v1::ArrayView& array = job.array();
  return {{"tasks", array.tasks()},
          {"indexes", job.spec().array()},
          {"throttle", or_null(array.throttle() > 0, array.throttle())},
          {"waiting", array.waiting()},
          {"waiting_count", array.waiting_count()},
          {"held", array.held()},
          {"held_count", array.held_count()},
          {"active", array.active()},
          {"completed", array.completed()},
          {"failed", array.failed()},
          {"cancelled", array.cancelled()}};
}

/// What the user asked for.
void add_spec(const v1::JobView& job, Json& out) {
  const v1::JobSpec& spec = job.spec();
  const v1::Component& part = component_of(job);
  const v1::NodeRequest& request = part.per_node();
  const bool is_launch = part.launch() <= static_cast<std::uint32_t>(LaunchKind::kScript);
  out["name"] = spec.name();
  out["user"] = spec.owner().user();
  out["uid"] = spec.owner().uid();
  out["team"] = spec.team();
  out["queue"] = spec.queue();
  out["project"] = spec.project();
  out["kind"] =
      spec.kind() <= 2 ? Json(job_kind_name(static_cast<JobKind>(spec.kind()))) : Json("other");
  out["priority"] = spec.priority();
  out["nodes"] = part.nodes();
  out["ranks"] = part.nodes() * part.ranks_per_node();
  out["tasks_per_node"] = part.ranks_per_node();
  out["whole_node"] = request.whole_node();
  out["gpus_per_node"] = request.gpu_milli() / GpuMilli::kPerDevice;
  out["gpu_type"] = request.gpu_type();
  out["cpus_per_node"] = request.cpus();
  out["memory_per_node_bytes"] = request.memory_bytes();
  out["launch"] =
      is_launch ? Json(launch_kind_name(static_cast<LaunchKind>(part.launch()))) : Json("other");
  out["time_limit_ms"] = or_null(spec.has_time_limit_ms(), spec.time_limit_ms());
  out["begin_ms"] = or_null(spec.has_begin_ms(), spec.begin_ms());
  out["deadline_ms"] = or_null(spec.has_deadline_ms(), spec.deadline_ms());
  out["max_wait_ms"] = or_null(spec.has_max_wait_ms(), spec.max_wait_ms());
}

void add_program(const v1::JobSpec& spec, Json& out) {
  Json environment = Json::object();
  for (const v1::Variable& variable : spec.environment())
    environment[variable.name()] = variable.value();
  out["argv"] = names_json(spec.argv());
  out["script"] = or_null(!spec.script().empty(), spec.script());
  out["environment"] = environment;
  out["working_directory"] = spec.working_directory();
  out["output"] = spec.output();
  out["error"] = or_null(!spec.error().empty(), spec.error());
  out["attached"] = spec.attached();
  out["nodelist"] = names_json(spec.nodes_wanted());
  out["exclude"] = names_json(spec.nodes_avoided());
  out["grace_ms"] = spec.grace_ms();
  out["class"] = spec.job_class();
  out["preemptible"] = spec.preemptible();
  out["requeue"] = !spec.no_requeue();
  out["features"] = spec.features();
}

}  // namespace

Json wait_json(const v1::WaitReason& wait) {
  const bool is_known = wait.code() <= static_cast<std::uint32_t>(kLastWaitCode);
  return {
      {"code", is_known ? Json(wait_code_name(static_cast<WaitCode>(wait.code()))) : Json("Other")},
      {"nodes_wanted", wait.nodes_wanted()},
      {"nodes_free", wait.nodes_free()},
      {"behind_job", or_null(wait.behind_job() != 0, wait.behind_job())},
      {"planned_start_ms", or_null(wait.has_planned_start_ms(), wait.planned_start_ms())},
      {"text", wait.text()}};
}

Json job_json(const v1::JobView& job, Time now, bool whole) {
  const v1::AttemptView* latest = latest_attempt(job);
  const auto spent = latest == nullptr ? std::nullopt : elapsed(*latest, now);
  const bool has_start = latest != nullptr && latest->has_started_ms();
  Json out = {{"job", job.id()}, {"state", job.state()}, {"submitted_ms", job.submitted_ms()}};
  out["task"] =
      job.has_task() ? Json{{"array", job.task().array()}, {"index", job.task().index()}} : Json();
  out["array"] = job.has_array() ? array_json(job) : Json();
  add_spec(job, out);
  out["started_ms"] = has_start ? Json(latest->started_ms()) : Json();
  out["ended_ms"] = or_null(job.has_ended_ms(), job.ended_ms());
  out["elapsed_ms"] = spent ? Json(spent->count()) : Json();
  out["node_list"] = latest == nullptr ? Json::array() : names_json(node_names(*latest));
  out["wait"] = job.has_wait() ? wait_json(job.wait()) : Json();
  out["cause"] = job.has_cause() ? cause_json(job.cause()) : Json();
  out["exit_code"] = is_final_state(job.state()) ? Json(job_exit_code(job)) : Json();
  if (!whole) return out;
  add_program(job.spec(), out);
  out["attempts"] = Json::array();
  for (const v1::AttemptView& attempt : job.attempts()) {
    out["attempts"].push_back(attempt_json(attempt, now));
  }
  return out;
}

namespace {

Json drains_json(const v1::NodeView& node) {
  Json out = Json::array();
  for (const v1::NodeDrain& drain : node.drains()) {
    out.push_back({{"source", drain.source()},
                   {"class", drain.reason_class()},
                   {"who", drain.who()},
                   {"since_ms", drain.since_ms()},
                   {"reason", drain.text()}});
  }
  return out;
}

}  // namespace

Json node_json(const v1::NodeView& node) {
  return {{"node", node.name()},
          {"state", node.state()},
          {"contact", node.contact()},
          {"contact_since_ms", node.contact_since_ms()},
          {"simulated", node.simulated()},
          {"gpu_type", node.resources().gpu_type()},
          {"gpus", node.resources().gpus()},
          {"gpus_used", node.used().gpus()},
          {"cpus", node.resources().cpus()},
          {"cpus_used", node.used().cpus()},
          {"memory_bytes", node.resources().memory_bytes()},
          {"memory_used_bytes", node.used().memory_bytes()},
          {"jobs", names_json(node.jobs())},
          {"version", node.version()},
          {"containment", node.containment()},
          {"boot_id", node.boot_id()},
          {"clock_offset_ms", node.clock_offset_ms()},
          {"strikes", node.strikes()},
          {"drains", drains_json(node)},
          {"drain_reason", or_null(!node.drain_reason().empty(), node.drain_reason())}};
}

Json usage_json(const v1::UsageReply& reply, const std::string& by) {
  Json rows = Json::array();
  for (const v1::UsageRow& row : reply.rows()) {
    rows.push_back({{by, row.key()},
                    {"jobs", row.jobs()},
                    {"attempts", row.attempts()},
                    {"gpu_ms", row.gpu_ms()},
                    {"cpu_ms", row.cpu_ms()},
                    {"node_ms", row.node_ms()}});
  }
  return {{"by", by}, {"from_ms", reply.from_ms()}, {"to_ms", reply.to_ms()}, {"rows", rows}};
}

std::string json_line(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace artel::cli
