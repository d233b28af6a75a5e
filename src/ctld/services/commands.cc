#include "ctld/services/commands.h"

#include <fmt/format.h>

#include <utility>
#include <variant>
#include <vector>

#include "ctld/services/call.h"
#include "ctld/services/control_loop.h"
#include "ctld/services/rights.h"
#include "wire/step/types_wire.h"

namespace artel::ctld {
namespace {

/// Longest reason of a cancel; it is kept with every job that it ended.
constexpr std::size_t kMaxReason = 1000;

Result<> check_count(std::string_view verb, int count) {
  if (count >= 1 && count <= kMaxJobsPerCall) return {};
  return fail(
      ErrorCode::kInvalidArgument,
      fmt::format("one call may {} 1 to {} jobs; this one has {}", verb, kMaxJobsPerCall, count));
}

Result<> check_right(Verb verb, const Caller& caller) {
  // Whose jobs may be cancelled is decided by the core, where they are.
  const Role role = caller.is_operator ? Role::kOperator : Role::kOwner;
  if (may(verb, role)) return {};
  return fail(ErrorCode::kPermissionDenied,
              fmt::format("{} may not {} jobs", caller.owner.user,
                          kRights[static_cast<std::size_t>(verb)].name));
}

/// What the core is told: an operator only as far as the table says so.
Caller for_cancel(const Caller& caller) {
  return {caller.owner, caller.is_operator && may(Verb::kCancel, Role::kOperator)};
}

}  // namespace

Commands::Commands(ControlLoop& loop, std::string default_output)
    : loop_(loop), default_output_(std::move(default_output)) {}

Result<JobSpec> Commands::read_spec(const Caller& caller, const v1::JobSpec& in) const {
  auto spec = wire::from_proto(in);
  if (!spec) return spec;
  spec->owner = caller.owner;
  if (spec->output.empty() && !spec->attached) spec->output = default_output_;
  return spec;
}

Result<> Commands::submit(Call& call, const Caller& caller, const v1::SubmitRequest& request,
                          v1::SubmitReply& reply) {
  if (auto allowed = check_right(Verb::kSubmit, caller); !allowed) return allowed;
  if (auto counted = check_count("submit", request.jobs_size()); !counted) return counted;
  std::vector<JobSpec> specs;
  specs.reserve(static_cast<std::size_t>(request.jobs_size()));
  for (const v1::JobSpec& one : request.jobs()) {
    auto spec = read_spec(caller, one);
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
                          v1::CancelReply& reply) {
  if (auto allowed = check_right(Verb::kCancel, caller); !allowed) return allowed;
  if (auto counted = check_count("cancel", request.jobs_size()); !counted) return counted;
  if (request.reason().size() > kMaxReason) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("the reason has {} bytes; at most {} are kept", request.reason().size(),
                            kMaxReason));
  }
  std::vector<JobId> jobs;
  jobs.reserve(static_cast<std::size_t>(request.jobs_size()));
  for (const std::uint64_t job : request.jobs()) jobs.emplace_back(job);
  return loop_.command(
      [caller = for_cancel(caller), jobs = std::move(jobs), reason = request.reason()](
          Controller& controller, RequestId id, Time now) {
        controller.cancel(id, caller, jobs, reason, now);
      },
      [&call, &reply](decltype(Reply::body) body) {
        if (!body) return call.refuse(body.error());
        for (const CancelOutcome& outcome : std::get<Cancelled>(*body).outcomes) {
          auto& out = *reply.add_outcomes();
          out.set_job(outcome.job.value);
          if (!outcome.result) rpc::to_proto(outcome.result.error(), *out.mutable_error());
        }
        call.answer();
      });
}

}  // namespace artel::ctld
