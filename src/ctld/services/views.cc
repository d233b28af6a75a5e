#include "ctld/services/views.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "ctld/services/agent_hub.h"
#include "ctld/services/call.h"
#include "ctld/services/commands.h"
#include "ctld/services/control_loop.h"
#include "ctld/services/job_views.h"
#include "ctld/services/reader_pool.h"
#include "ctld/services/rights.h"
#include "wire/job_wire.h"

namespace artel::ctld {
namespace {

constexpr std::uint32_t kMaxHistory = 100'000;
constexpr int kMaxIds = 10'000;

Result<> check_list(Verb verb, const Caller& caller) {
  const Role role = caller.is_operator ? Role::kOperator : Role::kOther;
  if (may(verb, role)) return {};
  return fail(ErrorCode::kPermissionDenied,
              fmt::format("{} may not {}", caller.owner.user,
                          kRights[static_cast<std::size_t>(verb)].name));
}

Result<> check_ids(int count) {
  if (count <= kMaxIds) return {};
  return fail(ErrorCode::kInvalidArgument,
              fmt::format("one call may name at most {} jobs; this one names {}", kMaxIds, count));
}

class QueueFilter {
 public:
  explicit QueueFilter(const v1::QueueRequest& request)
      : request_(request), ids_(request.jobs().begin(), request.jobs().end()) {}

  [[nodiscard]] bool wants(const Job& job) const {
    const JobSpec& spec = *job.spec;
    return (request_.user().empty() || request_.user() == spec.owner.user) &&
           (request_.team().empty() || request_.team() == spec.team) &&
           (request_.queue().empty() || request_.queue() == spec.queue) &&
           (ids_.empty() || ids_.contains(job.id.value) ||
            (job.task && ids_.contains(job.task->array.value)));
  }

 private:
  const v1::QueueRequest& request_;
  std::unordered_set<std::uint64_t> ids_;
};

/// Ids of the jobs that hold something on each node.
std::map<NodeId, std::vector<JobId>> jobs_by_node(const Snapshot& snapshot) {
  std::map<NodeId, std::vector<JobId>> out;
  for (const auto& job : snapshot.jobs) {
    if (!job->attempt || !is_placed(job->state)) continue;
    for (const NodePart& part : job->attempt->parts) {
      if (part.phase != NodePhase::kEnded) out[part.share.node].push_back(job->id);
    }
  }
  return out;
}

}  // namespace

Views::Views(ControlLoop& loop, ReaderPool& readers, const AgentHub& agents,
             std::vector<SetAside> set_aside)
    : loop_(loop), readers_(readers), agents_(agents), set_aside_(std::move(set_aside)) {}

Result<> Views::with_snapshot(Call& call,
                              std::move_only_function<void(StoreReader&, const Snapshot&)> work) {
  return loop_.read(
      [this, &call, work = std::move(work)](std::shared_ptr<const Snapshot> snapshot) mutable {
        const auto posted =
            readers_.post([snapshot = std::move(snapshot), work = std::move(work)](
                              StoreReader& reader) mutable { work(reader, *snapshot); });
        if (!posted) call.refuse(posted.error());
      });
}

Result<> Views::queue(Call& call, const Caller& caller, const v1::QueueRequest& request,
                      v1::QueueReply& reply) {
  if (auto allowed = check_list(Verb::kList, caller); !allowed) return allowed;
  if (auto counted = check_ids(request.jobs_size()); !counted) return counted;
  return with_snapshot(call, [this, &call, &request, &reply](StoreReader&, const Snapshot& now) {
    const QueueFilter filter(request);
    for (const auto& job : in_scheduling_order(now)) {
      if (filter.wants(*job)) view(now, *job, *reply.add_jobs());
    }
    reply.set_now_ms(to_ms(loop_.now()));
    call.answer();
  });
}

Result<> Views::show(Call& call, const Caller& caller, const v1::ShowRequest& request,
                     v1::ShowReply& reply) {
  return with_snapshot(
      call, [this, &call, caller, &request, &reply](StoreReader& reader, const Snapshot& snapshot) {
        const auto shown = show_job(reader, snapshot, caller, JobId{request.job()}, reply);
        if (!shown) return call.refuse(shown.error());
        reply.set_now_ms(to_ms(loop_.now()));
        call.answer();
      });
}

/// Live jobs: the snapshot's state and latest attempt, earlier attempts from the store.
Result<> Views::show_job(StoreReader& reader, const Snapshot& snapshot, const Caller& caller,
                         JobId id, v1::ShowReply& reply) const {
  const auto live = snapshot.find(id);
  Result<HistoryJob> stored = HistoryJob{};
  if (!live || live->last_attempt.value > 1) {
    stored = reader.show(id);
    if (!stored) return fail(stored);
  }
  const Job& job = live ? *live : stored->job;
  const Role role = role_of(caller, job.spec->owner);
  if (!may(Verb::kShow, role)) {
    return fail(ErrorCode::kPermissionDenied,
                fmt::format("{} may not show job {} of {}", caller.owner.user, id.value,
                            job.spec->owner.user));
  }
  const bool whole = may(Verb::kReadScript, role);
  if (!live) {
    view(*stored, whole, *reply.mutable_job());
    return {};
  }
  v1::JobView& out = *reply.mutable_job();
  wire::to_proto(job, whole, out);
  const AttemptNo latest = job.attempt ? job.attempt->key.attempt : AttemptNo{};
  for (const HistoryAttempt& attempt : stored->attempts) {
    if (attempt.attempt.key.attempt != latest) view(attempt, *out.add_attempts());
  }
  if (job.attempt) {
    const auto names = [&snapshot](NodeId node) { return node_name(snapshot, node); };
    wire::to_proto(*job.attempt, names, *out.add_attempts());
  }
  return {};
}

Result<> Views::nodes(Call& call, const Caller& caller, v1::NodesReply& reply) {
  if (auto allowed = check_list(Verb::kNodes, caller); !allowed) return allowed;
  return with_snapshot(call, [this, &call, &reply](StoreReader&, const Snapshot& snapshot) {
    const auto jobs = jobs_by_node(snapshot);
    for (const Node& node : snapshot.nodes) {
      v1::NodeView& out = *reply.add_nodes();
      wire::to_proto(node, out);
      if (const auto offset = agents_.clock_offset(node.config.name)) {
        out.set_clock_offset_ms(offset->count());
      }
      const auto found = jobs.find(node.id);
      if (found == jobs.end()) continue;
      for (const JobId job : found->second) out.add_jobs(job.value);
    }
    call.answer();
  });
}

Result<> Views::history(Call& call, const Caller& caller, const v1::HistoryRequest& request,
                        v1::HistoryReply& reply) {
  if (auto allowed = check_list(Verb::kList, caller); !allowed) return allowed;
  if (auto counted = check_ids(request.jobs_size()); !counted) return counted;
  if (request.limit() > kMaxHistory) {
    return fail(
        ErrorCode::kInvalidArgument,
        fmt::format("a limit of {} jobs; one call gives at most {}", request.limit(), kMaxHistory));
  }
  HistoryFilter filter;
  filter.user = request.user();
  filter.team = request.team();
  filter.from = time_from_ms(request.from_ms());
  if (request.to_ms() != 0) filter.to = time_from_ms(request.to_ms());
  if (request.limit() != 0) filter.limit = request.limit();
  for (const std::uint64_t job : request.jobs()) filter.jobs.emplace_back(job);
  return readers_.post([&call, filter = std::move(filter), &reply](StoreReader& reader) {
    const auto jobs = reader.history(filter);
    if (!jobs) return call.refuse(jobs.error());
    for (const HistoryJob& job : *jobs) view(job, false, *reply.add_jobs());
    call.answer();
  });
}

Result<> Views::usage(Call& call, const Caller& caller, const v1::UsageRequest& request,
                      v1::UsageReply& reply) {
  if (auto allowed = check_list(Verb::kUsage, caller); !allowed) return allowed;
  const auto by = parse_usage_by(request.by());
  if (!by) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("usage by '{}'; it can be cut by team, user, queue, node or day",
                            request.by()));
  }
  UsageFilter filter;
  filter.now = loop_.now();
  filter.from = time_from_ms(request.from_ms());
  filter.to = request.to_ms() != 0 ? time_from_ms(request.to_ms()) : filter.now;
  filter.by = *by;
  return readers_.post([&call, filter, &reply](StoreReader& reader) {
    const auto rows = reader.usage(filter);
    if (!rows) return call.refuse(rows.error());
    for (const UsageRow& row : *rows) {
      v1::UsageRow& out = *reply.add_rows();
      out.set_key(row.key);
      out.set_jobs(row.jobs);
      out.set_attempts(row.attempts);
      out.set_gpu_ms(row.gpu_ms);
      out.set_cpu_ms(row.cpu_ms);
      out.set_node_ms(row.node_ms);
    }
    reply.set_from_ms(to_ms(filter.from));
    reply.set_to_ms(to_ms(filter.to));
    call.answer();
  });
}

Result<> Views::lost_and_found(Call& call, const Caller& caller,
                               v1::LostAndFoundReply& reply) const {
  if (auto allowed = check_right(Verb::kStore, caller); !allowed) return allowed;
  for (const SetAside& one : set_aside_) {
    auto& out = *reply.add_records();
    out.set_kind(one.kind);
    out.set_name(one.name);
    out.set_why(one.why);
  }
  call.answer();
  return {};
}

}  // namespace artel::ctld
