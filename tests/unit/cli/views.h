// Replies as a controller makes them, for tests of what people and programs see.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "client.pb.h"
#include "model/ending.h"
#include "model/job.h"
#include "wire/step/types_wire.h"

namespace artel::cli {

inline constexpr std::int64_t kSubmittedMs = 1'764'550'800'000;  // 2025-12-01T01:00:00Z

inline v1::JobView job_view(std::uint64_t id, const std::string& state) {
  v1::JobView job;
  job.set_id(id);
  job.set_state(state);
  job.set_submitted_ms(kSubmittedMs);
  v1::JobSpec& spec = *job.mutable_spec();
  spec.set_name("train");
  spec.mutable_owner()->set_user("alice");
  spec.mutable_owner()->set_uid(1001);
  spec.set_team("nlp");
  spec.set_queue("nlp-train");
  spec.set_time_limit_ms(3'600'000);
  spec.set_output("artel-%j.out");
  spec.set_working_directory("/home/alice");
  spec.add_argv("./train");
  spec.add_argv("--name=two words");
  v1::Component& part = *spec.add_components();
  part.set_nodes(2);
  part.set_ranks_per_node(8);
  part.mutable_per_node()->set_whole_node(true);
  return job;
}

inline v1::AttemptView& add_attempt(v1::JobView& job, const std::vector<std::string>& nodes) {
  v1::AttemptView& attempt = *job.add_attempts();
  attempt.mutable_key()->set_job(job.id());
  attempt.mutable_key()->set_attempt(static_cast<std::uint32_t>(job.attempts_size()));
  attempt.set_allocated_ms(kSubmittedMs + 1000);
  attempt.set_started_ms(kSubmittedMs + 2000);
  for (const std::string& node : nodes) {
    v1::NodePart& part = *attempt.add_parts();
    part.set_node(node);
    for (const unsigned gpu : {0U, 1U, 2U, 5U}) part.add_gpus(gpu);
    part.set_cpus(64);
    part.set_memory_bytes(std::uint64_t{1} << 40U);
    part.set_phase(3);
  }
  return attempt;
}

inline void end_with(v1::JobView& job, const Cause& cause) {
  job.set_ended_ms(kSubmittedMs + 63'000);
  wire::to_proto(cause, *job.mutable_cause());
  if (job.attempts_size() > 0) {
    v1::AttemptView& attempt = *job.mutable_attempts(job.attempts_size() - 1);
    attempt.set_ended_ms(kSubmittedMs + 62'000);
    attempt.set_outcome(job.state());
    wire::to_proto(cause, *attempt.mutable_cause());
  }
}

inline void wait_because(v1::JobView& job, const WaitReason& reason) {
  v1::WaitReason& out = *job.mutable_wait();
  out.set_code(static_cast<std::uint32_t>(reason.code));
  out.set_nodes_wanted(reason.nodes_wanted);
  out.set_nodes_free(reason.nodes_free);
  out.set_behind_job(reason.behind.value);
  if (reason.planned_start) out.set_planned_start_ms(to_ms(*reason.planned_start));
  out.set_text(describe(reason));
  out.set_brief(brief(reason));
}

}  // namespace artel::cli
