#include "wire/job_wire.h"

#include "wire/step/types_wire.h"

namespace artel::wire {
namespace {

void put(const NodePart& part, const NodeNames& names, v1::NodePart& out) {
  out.set_node(names(part.share.node));
  out.mutable_gpus()->Reserve(static_cast<int>(part.share.gpus.size()));
  for (const std::uint16_t gpu : part.share.gpus) out.add_gpus(gpu);
  out.set_cpus(part.share.cpus);
  out.set_memory_bytes(part.share.memory.value);
  out.set_phase(static_cast<std::uint32_t>(part.phase));
  if (part.end) to_proto(*part.end, *out.mutable_end());
}

void put(const TaskOf& task, v1::JobView& out) {
  out.mutable_task()->set_array(task.array.value);
  out.mutable_task()->set_index(task.index.value);
  out.mutable_spec()->clear_array();  // as long as it may be, for each of its tasks
}

void put(const Job& job, v1::ArrayView& out) {
  const ArrayTasks& tasks = *job.tasks;
  if (job.spec->array) {
    out.set_tasks(job.spec->array->indexes.size());
    out.set_throttle(job.spec->array->throttle.value_or(0));
  }
  out.set_waiting(tasks.waiting.text());
  out.set_waiting_count(tasks.waiting.size());
  out.set_held(tasks.held.text());
  out.set_held_count(tasks.held.size());
  out.set_active(tasks.active);
  out.set_completed(tasks.completed);
  out.set_cancelled(tasks.cancelled);
  out.set_failed(tasks.failed);
}

}  // namespace

void to_proto(const WaitReason& wait, v1::WaitReason& out) {
  out.set_code(static_cast<std::uint32_t>(wait.code));
  out.set_nodes_wanted(wait.nodes_wanted);
  out.set_nodes_free(wait.nodes_free);
  out.set_behind_job(wait.behind.value);
  if (wait.planned_start) out.set_planned_start_ms(to_ms(*wait.planned_start));
  out.set_text(describe(wait));
  out.set_brief(brief(wait));
}

void to_proto(const Job& job, bool whole, v1::JobView& out) {
  out.set_id(job.id.value);
  if (whole) {
    to_proto(*job.spec, *out.mutable_spec());
  } else {
    to_proto_outline(*job.spec, *out.mutable_spec());
  }
  if (job.task) put(*job.task, out);
  if (job.tasks) put(job, *out.mutable_array());
  out.set_state(std::string(job_state_name(job.state)));
  out.set_submitted_ms(to_ms(job.submitted_at));
  if (job.ended_at) out.set_ended_ms(to_ms(*job.ended_at));
  if (job.wait.code != WaitCode::kNone) to_proto(job.wait, *out.mutable_wait());
  if (job.cause.actor != Actor::kNone) to_proto(job.cause, *out.mutable_cause());
  if (job.state == JobState::kHeld && out.has_cause())
    out.mutable_wait()->set_text(describe(job.cause));
}

void to_proto(const Attempt& attempt, const NodeNames& names, v1::AttemptView& out) {
  to_proto(attempt.key, *out.mutable_key());
  out.set_allocated_ms(to_ms(attempt.allocated_at));
  if (attempt.started_at) out.set_started_ms(to_ms(*attempt.started_at));
  if (attempt.ended_at) out.set_ended_ms(to_ms(*attempt.ended_at));
  if (attempt.limit_end) out.set_limit_end_ms(to_ms(*attempt.limit_end));
  if (is_final(attempt.outcome)) out.set_outcome(std::string(job_state_name(attempt.outcome)));
  if (attempt.cause.actor != Actor::kNone) to_proto(attempt.cause, *out.mutable_cause());
  out.mutable_parts()->Reserve(static_cast<int>(attempt.parts.size()));
  for (const NodePart& part : attempt.parts) put(part, names, *out.add_parts());
}

void to_proto(const Node& node, v1::NodeView& out) {
  out.set_name(node.config.name);
  out.set_state(std::string(node_state_name(node)));
  to_proto(node.config.resources, *out.mutable_resources());
  to_proto(node.used, *out.mutable_used());
  out.set_simulated(node.config.simulated);
  out.set_contact(std::string(node_contact_name(node.contact)));
  out.set_contact_since_ms(to_ms(node.contact_since));
  out.set_version(node.inventory.version);
  out.set_containment(node.inventory.containment);
  out.set_strikes(static_cast<std::uint32_t>(node.strikes.size()));
  std::string reasons;
  for (const Drain& drain : node.drains) {
    v1::NodeDrain& one = *out.add_drains();
    one.set_source(std::string(drain_source_name(drain.source)));
    one.set_reason_class(std::string(reason_class_name(drain.reason_class)));
    one.set_who(drain.who);
    one.set_text(drain.text);
    one.set_since_ms(to_ms(drain.since));
    reasons += (reasons.empty() ? "" : "; ") + describe(drain);
  }
  out.set_drain_reason(std::move(reasons));
  out.set_boot_id(node.inventory.boot_id);
}

}  // namespace artel::wire
