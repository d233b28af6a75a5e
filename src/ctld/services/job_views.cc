#include "ctld/services/job_views.h"

#include <string>

#include "wire/job_wire.h"

namespace artel::ctld {

std::string node_name(const Snapshot& snapshot, NodeId id) {
  return id.value < snapshot.nodes.size() ? snapshot.nodes[id.value].config.name : std::string();
}

void view(const Snapshot& snapshot, const Job& job, v1::JobView& out) {
  wire::to_proto(job, false, out);
  if (!job.attempt) return;
  const auto names = [&snapshot](NodeId id) { return node_name(snapshot, id); };
  wire::to_proto(*job.attempt, names, *out.add_attempts());
}

void view(const HistoryAttempt& attempt, v1::AttemptView& out) {
  const auto names = [&attempt](NodeId id) {
    return id.value < attempt.nodes.size() ? attempt.nodes[id.value] : std::string();
  };
  wire::to_proto(attempt.attempt, names, out);
}

void view(const HistoryJob& job, bool whole, v1::JobView& out) {
  wire::to_proto(job.job, whole, out);
  for (const HistoryAttempt& attempt : job.attempts) view(attempt, *out.add_attempts());
}

}  // namespace artel::ctld
