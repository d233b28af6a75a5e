#include "ctld/services/commands.h"

#include <fmt/format.h>

#include <map>
#include <utility>
#include <variant>
#include <vector>

#include "ctld/services/call.h"
#include "ctld/services/control_loop.h"
#include "wire/step/types_wire.h"

namespace artel::ctld {
namespace {

/// Longest reason of a cancel or drain; it is kept with every job that it ended.
constexpr std::size_t kMaxReason = 1000;

Result<> check_count(std::string_view verb, std::string_view what, int count, int most) {
  if (count >= 1 && count <= most) return {};
  return fail(ErrorCode::kInvalidArgument,
              fmt::format("one call may {} 1 to {} {}; this one has {}", verb, most, what, count));
}

Result<> check_jobs(std::string_view verb, int count) {
  return check_count(verb, "jobs", count, kMaxJobsPerCall);
}

Result<> check_reason(const std::string& reason) {
  if (reason.size() <= kMaxReason) return {};
  return fail(
      ErrorCode::kInvalidArgument,
      fmt::format("the reason has {} bytes; at most {} are kept", reason.size(), kMaxReason));
}

/// What the core is told: an operator only as far as the table says so.
Caller as_far_as(Verb verb, const Caller& caller) {
  return {caller.owner, caller.is_operator && may(verb, Role::kOperator)};
}

/// Lists of tasks may have so many ranges and single numbers in one call.
constexpr std::size_t kMaxRunsPerCall = 100'000;
/// So many lists may name several tasks of one array: each may go over all that run of it.
constexpr int kMaxListsOfArray = 30;

/// Counts what the lists of one call cost.
class Lists {
 public:
  Result<> add(const JobTarget& target) {
    runs_ += target.tasks->runs().size();
    if (runs_ > kMaxRunsPerCall)
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("tasks: more than {} ranges and single indexes in one call; name "
                              "ranges, or use several calls",
                              kMaxRunsPerCall));
    if (target.tasks->size() > 1 && ++of_array_[target.job] > kMaxListsOfArray)
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("tasks: more than {} lists for array {} in one call; name its tasks "
                              "in one list",
                              kMaxListsOfArray, target.job.value));
    return {};
  }

 private:
  std::size_t runs_ = 0;
  std::map<JobId, int> of_array_;
};

/// What a command of `Request` is about.
template <typename Request>
Result<std::vector<JobTarget>> targets_of(std::string_view verb, const Request& request) {
  if (auto counted = check_jobs(verb, request.jobs_size() + request.tasks_size()); !counted)
    return fail(counted);
  std::vector<JobTarget> out;
  Lists lists;
  for (const std::uint64_t job : request.jobs()) out.emplace_back(JobId{job});
  for (const v1::ArrayTasks& some : request.tasks()) {
    auto indexes = IndexSet::parse(some.indexes(), kMostArrayTasks);
    if (!indexes) return fail(indexes.error().code, "tasks: " + indexes.error().text);
    out.emplace_back(JobId{some.array()}, std::move(*indexes));
    if (auto few = lists.add(out.back()); !few) return fail(few);
  }
  return out;
}

JobChange change_of(const v1::UpdateRequest& request) {
  const auto names = [](const v1::UpdateRequest::Nodes& nodes) {
    return std::vector<std::string>(nodes.names().begin(), nodes.names().end());
  };
  JobChange out;
  if (request.has_name()) out.name = request.name();
  if (request.has_priority()) out.priority = request.priority();
  if (request.has_time_limit_ms()) out.time_limit = Duration{request.time_limit_ms()};
  if (request.has_nodes()) out.nodes = request.nodes();
  if (request.has_nodes_wanted()) out.nodes_wanted = names(request.nodes_wanted());
  if (request.has_nodes_avoided()) out.nodes_avoided = names(request.nodes_avoided());
  return out;
}

/// Writes down what became of the jobs and answers.
auto answer_jobs(Call& call, v1::JobOutcomes& reply) {
  return [&call, &reply](decltype(Reply::body) body) {
    if (!body) return call.refuse(body.error());
    for (const JobOutcome& outcome : std::get<JobOutcomes>(*body)) {
      auto& out = *reply.add_outcomes();
      out.set_job(outcome.job.value);
      out.set_indexes(outcome.tasks);
      if (!outcome.result) rpc::to_proto(outcome.result.error(), *out.mutable_error());
    }
    call.answer();
  };
}

}  // namespace

Result<> check_right(Verb verb, const Caller& caller) {
  // Whose jobs may be cancelled or held is decided by the core, where they are.
  const Role role = caller.is_operator ? Role::kOperator : Role::kOwner;
  if (may(verb, role)) return {};
  return fail(ErrorCode::kPermissionDenied,
              fmt::format("{} may not {}; operators may (operators in artel.toml)",
                          caller.owner.user, kRights[static_cast<std::size_t>(verb)].name));
}

Result<JobSpec> read_spec(const Caller& caller, const v1::JobSpec& in,
                          const std::string& default_output) {
  auto spec = wire::from_proto(in);
  if (!spec) return spec;
  spec->owner = caller.owner;
  if (spec->output.empty() && !spec->attached) spec->output = default_output;
  return spec;
}

Commands::Commands(ControlLoop& loop, std::string default_output, std::function<Result<>()> room)
    : loop_(loop), default_output_(std::move(default_output)), room_(std::move(room)) {}

Result<> Commands::submit(Call& call, const Caller& caller, const v1::SubmitRequest& request,
                          v1::SubmitReply& reply) {
  if (auto allowed = check_right(Verb::kSubmit, caller); !allowed) return allowed;
  if (auto counted = check_jobs("submit", request.jobs_size()); !counted) return counted;
  // What ends jobs and keeps nodes out of use is small, and needed most when something is wrong.
  if (room_)
    if (auto room = room_(); !room) return room;
  std::vector<JobSpec> specs;
  specs.reserve(static_cast<std::size_t>(request.jobs_size()));
  for (const v1::JobSpec& one : request.jobs()) {
    auto spec = read_spec(caller, one, default_output_);
    if (!spec) return fail(spec);
    specs.push_back(std::move(*spec));
  }
  return loop_.command(
      [caller, specs = std::move(specs)](Controller& controller, RequestId id, Time now) mutable {
        controller.submit(id, caller, std::move(specs), now);
      },
      [&call, &reply](decltype(Reply::body) body) {
        if (!body) return call.refuse(body.error());
        const auto& jobs = std::get<Submitted>(*body).jobs;
        reply.mutable_jobs()->Reserve(static_cast<int>(jobs.size()));
        for (const JobId job : jobs) reply.add_jobs(job.value);
        call.answer();
      });
}

Result<> Commands::cancel(Call& call, const Caller& caller, const v1::CancelRequest& request,
                          v1::JobOutcomes& reply) {
  if (auto allowed = check_right(Verb::kCancel, caller); !allowed) return allowed;
  auto targets = targets_of("cancel", request);
  if (!targets) return fail(targets);
  if (auto kept = check_reason(request.reason()); !kept) return kept;
  return loop_.command(
      [caller = as_far_as(Verb::kCancel, caller), jobs = std::move(*targets),
       reason = request.reason()](Controller& controller, RequestId id, Time now) {
        controller.cancel(id, caller, jobs, reason, now);
      },
      answer_jobs(call, reply));
}

Result<> Commands::hold(Call& call, const Caller& caller, const v1::HoldRequest& request,
                        v1::JobOutcomes& reply) {
  if (auto allowed = check_right(Verb::kHold, caller); !allowed) return allowed;
  const auto* const verb = request.release() ? "release" : "hold";
  auto targets = targets_of(verb, request);
  if (!targets) return fail(targets);
  if (auto kept = check_reason(request.reason()); !kept) return kept;
  if (room_)
    if (auto room = room_(); !room) return room;
  return loop_.command(
      [caller = as_far_as(Verb::kHold, caller), jobs = std::move(*targets),
       reason = request.reason(),
       release = request.release()](Controller& controller, RequestId id, Time now) {
        release ? controller.release(id, caller, jobs, now)
                : controller.hold(id, caller, jobs, reason, now);
      },
      answer_jobs(call, reply));
}

Result<> Commands::requeue(Call& call, const Caller& caller, const v1::RequeueRequest& request,
                           v1::JobOutcomes& reply) {
  if (auto allowed = check_right(Verb::kRequeue, caller); !allowed) return allowed;
  auto targets = targets_of("requeue", request);
  if (!targets) return fail(targets);
  if (auto kept = check_reason(request.reason()); !kept) return kept;
  if (room_)
    if (auto room = room_(); !room) return room;
  return loop_.command(
      [caller = as_far_as(Verb::kRequeue, caller), jobs = std::move(*targets),
       reason = request.reason()](Controller& controller, RequestId id, Time now) {
        controller.requeue(id, caller, jobs, reason, now);
      },
      answer_jobs(call, reply));
}

Result<> Commands::update(Call& call, const Caller& caller, const v1::UpdateRequest& request,
                          v1::JobOutcomes& reply) {
  if (auto allowed = check_right(Verb::kUpdate, caller); !allowed) return allowed;
  if (auto counted = check_jobs("update", request.jobs_size()); !counted) return counted;
  const JobChange change = change_of(request);
  std::vector<JobTarget> jobs;
  for (const std::uint64_t job : request.jobs()) jobs.emplace_back(JobId{job});
  if (change.is_empty())
    return fail(ErrorCode::kInvalidArgument, "an update names at least one thing to change");
  if (room_)
    if (auto room = room_(); !room) return room;
  return loop_.command([caller = as_far_as(Verb::kUpdate, caller), jobs = std::move(jobs), change](
                           Controller& controller, RequestId id,
                           Time now) { controller.update(id, caller, jobs, change, now); },
                       answer_jobs(call, reply));
}

Result<> Commands::drain(Call& call, const Caller& caller, const v1::DrainRequest& request,
                         v1::NodeOutcomes& reply) {
  if (auto allowed = check_right(Verb::kDrain, caller); !allowed) return allowed;
  const auto* const verb = request.resume() ? "resume" : "drain";
  const int count = request.nodes_size();
  if (auto counted = check_count(verb, "nodes", count, kMaxNodesPerCall); !counted) return counted;
  if (auto kept = check_reason(request.reason()); !kept) return kept;
  if (!request.resume() && request.reason().empty()) {
    return fail(ErrorCode::kInvalidArgument,
                "a drain needs a reason: whoever finds the node later must know why");
  }
  DrainOrder order{.reason = request.reason(),
                   .until_reboot = request.until_reboot(),
                   .is_off = request.is_off()};
  if (!request.reason_class().empty()) {
    const auto named = parse_reason_class(request.reason_class());
    if (!named) return fail(named);
    order.reason_class = *named;
  }
  return loop_.command(
      [caller, nodes = std::vector<std::string>(request.nodes().begin(), request.nodes().end()),
       order = std::move(order),
       resume = request.resume()](Controller& controller, RequestId id, Time now) {
        resume ? controller.resume(id, caller, nodes, now)
               : controller.drain(id, caller, nodes, order, now);
      },
      [&call, &reply](decltype(Reply::body) body) {
        if (!body) return call.refuse(body.error());
        for (const NodeOutcome& outcome : std::get<NodeOutcomes>(*body)) {
          auto& out = *reply.add_outcomes();
          out.set_node(outcome.node);
          if (!outcome.result) rpc::to_proto(outcome.result.error(), *out.mutable_error());
        }
        call.answer();
      });
}

}  // namespace artel::ctld
