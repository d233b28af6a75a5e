#include "ctld/services/questions.h"

#include <fmt/format.h>

#include <utility>
#include <variant>

#include "ctld/core/scheduling_snapshot.h"
#include "ctld/services/call.h"
#include "ctld/services/commands.h"
#include "ctld/services/control_loop.h"
#include "ctld/services/job_views.h"
#include "wire/job_wire.h"

namespace artel::ctld {
namespace {

using Picture = std::shared_ptr<const SchedulingSnapshot>;

/// Each holds a copy of the scheduling state.
constexpr int kMostOpen = 16;

AmountWishes amounts(const google::protobuf::RepeatedPtrField<v1::AmountWish>& in) {
  AmountWishes out;
  for (const v1::AmountWish& one : in) {
    out.insert_or_assign(one.resource(),
                         one.has_amount() ? std::optional(one.amount()) : std::nullopt);
  }
  return out;
}

QuotaWish quota_wish(const v1::QuotaWish& in) {
  QuotaWish out{.quota = in.quota(),
                .guarantee = amounts(in.guarantee()),
                .limit = amounts(in.limit()),
                .borrow = amounts(in.borrow()),
                .lend = amounts(in.lend()),
                .weight = {}};
  if (in.has_weight()) out.weight = in.weight();
  return out;
}

Result<Wish> wish_of(const v1::WhatIfRequest& in) {
  switch (in.wish_case()) {
    case v1::WhatIfRequest::kQuota:
      return quota_wish(in.quota());
    case v1::WhatIfRequest::kPriority:
      return PriorityWish{JobId{in.priority().job()}, in.priority().priority()};
    case v1::WhatIfRequest::kNode: {
      using Fate = NodeWish::Fate;
      Fate fate = Fate::kDrained;
      if (in.node().fate() == v1::NodeWish::FATE_LOST) fate = Fate::kLost;
      if (in.node().fate() == v1::NodeWish::FATE_RETURNED) fate = Fate::kReturned;
      return NodeWish{in.node().node(), fate};
    }
    case v1::WhatIfRequest::kSubmit:
      return SubmitWish{};
    case v1::WhatIfRequest::kCancel:
      return CancelWish{JobId{in.cancel()}};
    case v1::WhatIfRequest::kHold:
      return HoldWish{JobId{in.hold().job()}, in.hold().held()};
    case v1::WhatIfRequest::WISH_NOT_SET:
      break;
  }
  return fail(ErrorCode::kInvalidArgument, "the question names no change");
}

void put_line(const SchedulingSnapshot& snapshot, JobId id, v1::JobLine& out) {
  out.set_job(id.value);
  const auto job = snapshot.jobs().find(id);
  if (!job) return;
  out.set_name(job->spec->name);
  out.set_user(job->spec->owner.user);
  out.set_team(job->spec->team);
}

void put(const SchedulingSnapshot& snapshot, const Outcome& outcome, v1::WhatIfReply& out) {
  for (const JobId job : outcome.starts) put_line(snapshot, job, *out.add_starts());
  for (const JobId job : outcome.evictions) put_line(snapshot, job, *out.add_evictions());
  for (const MovedStart& moved : outcome.moved) {
    v1::MovedStart& to = *out.add_moved();
    put_line(snapshot, moved.job, *to.mutable_job());
    if (moved.before) to.set_before_ms(to_ms(*moved.before));
    if (moved.after) to.set_after_ms(to_ms(*moved.after));
  }
  out.set_submitted(snapshot.candidate().value);
  out.set_is_whole(outcome.is_whole);
  out.set_now_ms(to_ms(snapshot.jobs().now));
}

}  // namespace

Questions::Questions(ControlLoop& loop, std::string default_output)
    : loop_(loop), default_output_(std::move(default_output)), workers_("question", 1, kMostOpen) {}

void Questions::stop() { workers_.stop(); }

Result<> Questions::ask(Call& call, const Caller& caller, std::optional<JobSpec> candidate,
                        Answer answer) {
  if (open_.fetch_add(1) >= kMostOpen) {
    open_.fetch_sub(1);
    return fail(ErrorCode::kTryAgain,
                fmt::format("{} questions wait for an answer, the most that are worked on; try "
                            "again in 5 s",
                            kMostOpen));
  }
  auto work_it_out = [this, &call, answer = std::move(answer)](const Picture& snapshot) {
    const auto done = answer(*snapshot);
    open_.fetch_sub(1);
    done ? call.answer() : call.refuse(done.error());
  };
  auto begun = loop_.command(
      [caller, candidate = std::move(candidate)](Controller& controller, RequestId id,
                                                 Time now) mutable {
        controller.scheduling_snapshot(id, caller, std::move(candidate), now);
      },
      [this, &call, work_it_out = std::move(work_it_out)](decltype(Reply::body) body) {
        Result<> posted = body ? workers_.post([work_it_out, snapshot = std::get<Picture>(*body)](
                                                   std::size_t) { work_it_out(snapshot); })
                               : fail(body.error().code, body.error().text);
        if (posted) return;
        open_.fetch_sub(1);
        call.refuse(posted.error());
      });
  if (!begun) open_.fetch_sub(1);
  return begun;
}

Result<> Questions::explain(Call& call, const Caller& caller, const v1::ExplainRequest& request,
                            v1::ExplainReply& reply) {
  if (auto allowed = check_right(Verb::kExplain, caller); !allowed) return allowed;
  const JobId job{request.job()};
  return ask(call, caller, std::nullopt, [job, &reply](const SchedulingSnapshot& snapshot) {
    const auto explanation = snapshot.explain(job);
    if (!explanation) return Result<>(fail(explanation));
    view(snapshot.jobs(), *snapshot.jobs().find(job), *reply.mutable_job());
    for (const WaitReason& blocker : explanation->blockers)
      wire::to_proto(blocker, *reply.add_blockers());
    if (explanation->expected) reply.set_expected_start_ms(to_ms(*explanation->expected));
    reply.set_is_whole(explanation->is_whole);
    reply.set_now_ms(to_ms(snapshot.jobs().now));
    return Result<>();
  });
}

Result<> Questions::what_if(Call& call, const Caller& caller, const v1::WhatIfRequest& request,
                            v1::WhatIfReply& reply) {
  if (auto allowed = check_right(Verb::kExplain, caller); !allowed) return allowed;
  auto wish = wish_of(request);
  if (!wish) return fail(wish);
  std::optional<JobSpec> candidate;
  if (request.has_submit()) {
    auto spec = read_spec(caller, request.submit(), default_output_);
    if (!spec) return fail(spec);
    candidate = std::move(*spec);
  }
  return ask(call, caller, std::move(candidate),
             [wish = std::move(*wish), &reply](const SchedulingSnapshot& snapshot) {
               const auto outcome = snapshot.what_if(wish);
               if (!outcome) return Result<>(fail(outcome));
               put(snapshot, *outcome, reply);
               return Result<>();
             });
}

}  // namespace artel::ctld
