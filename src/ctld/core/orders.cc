// What clients order and ask beside submit: cancel, hold and release jobs, drain and resume nodes,
// new team files, the state for questions.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/text.h"
#include "ctld/core/new_teams.h"
#include "ctld/core/scheduling_snapshot.h"
#include "ctld/core/state.h"

namespace artel::ctld {
namespace {

/// As much of a list as a message needs.
std::string shortened(const IndexSet& set) {
  constexpr std::size_t kMost = 8;
  if (set.runs().size() <= kMost) return set.text();
  IndexSet some;
  for (std::size_t i = 0; i < kMost; ++i) some.push_back(set.runs()[i]);
  return some.text() + ",...";
}

}  // namespace

void ControllerState::order_jobs(RequestId request, const Caller& caller,
                                 const std::vector<JobTarget>& jobs, const JobOrder& order,
                                 const TasksOrder& order_tasks) {
  JobOutcomes outcomes;
  outcomes.reserve(jobs.size());
  std::map<JobId, std::size_t> done;  // a whole array costs by its tasks: once is enough
  for (const JobTarget& target : jobs) {
    if (!target.tasks) {
      const auto [known, is_first] = done.emplace(target.job, outcomes.size());
      if (!is_first) {
        outcomes.push_back(outcomes[known->second]);
        continue;
      }
    }
    outcomes.push_back(order_one(caller, target, order, order_tasks));
  }
  effects_.replies.push_back({request, std::move(outcomes)});
}

JobOutcome ControllerState::order_one(const Caller& caller, const JobTarget& target,
                                      const JobOrder& order, const TasksOrder& order_tasks) {
  const JobId id = target.job;
  LiveArray* array = jobs_.contains(id) ? nullptr : array_of(id);
  if (!target.tasks) {
    if (array == nullptr) return {id, order(id)};
    if (array->job.id == id) return {id, order_tasks(*array, nullptr)};
    const auto rank = static_cast<std::uint32_t>(id.value - array->job.id.value - 1);
    const IndexSet one = IndexSet::of(array->job.spec->array->indexes.at(rank));
    return {id, order_tasks(*array, &one)};
  }
  const std::string text = shortened(*target.tasks);
  if (array == nullptr || array->job.id != id) {
    return {
        id,
        fail(ErrorCode::kNotFound, fmt::format("array {} does not exist or has ended", id.value)),
        text};
  }
  // Whose array it is comes first: strangers learn nothing of its tasks.
  if (auto mine = check_owner(caller, *array); !mine) return {id, mine, text};
  const IndexSet& all = array->job.spec->array->indexes;
  if (const auto strange = target.tasks->first_beyond(all)) {
    return {id,
            fail(ErrorCode::kNotFound, fmt::format("array {} has no task {}; it has {}", id.value,
                                                   *strange, shortened(all))),
            text};
  }
  return {id, order_tasks(*array, &*target.tasks), text};
}

void ControllerState::cancel(RequestId request, const Caller& caller,
                             const std::vector<JobTarget>& jobs, const std::string& reason,
                             Time now) {
  order_jobs(
      request, caller, jobs, [&](JobId id) { return cancel_one(caller, id, reason, now); },
      [&](LiveArray& array, const IndexSet* some) {
        return cancel_tasks(caller, array, some, reason, now);
      });
}

Cause by_person(std::string_view done, CauseCode code, const Caller& caller,
                const std::string& reason) {
  return {.actor = Actor::kUser,
          .code = code,
          .actor_name = caller.owner.user,
          .text = fmt::format("{} by {}{}{}", done, caller.owner.user, reason.empty() ? "" : ": ",
                              reason)};
}

Result<> ControllerState::cancel_one(const Caller& caller, JobId id, const std::string& reason,
                                     Time now) {
  const auto found = find_own(caller, id);
  if (!found) return fail(found);
  LiveJob& live = **found;
  const Cause cause = by_person("cancelled", CauseCode::kCancel, caller, reason);
  event(now, "cancel", id, caller.owner.user, reason);
  if (!is_placed(live.job.state)) {
    make_final(live, JobState::kCancelled, cause, now);
    return {};
  }
  live.job.cause = cause;  // no requeue from here on, whatever the attempt's outcome
  touch(live);
  end_attempt(live, cause, false, now);
  return {};
}

void ControllerState::hold_jobs(RequestId request, const Caller& caller,
                                const std::vector<JobTarget>& jobs, const std::string& reason,
                                Time now) {
  order_jobs(
      request, caller, jobs, [&](JobId id) { return hold_one(caller, id, reason, now); },
      [&](LiveArray& array, const IndexSet* some) {
        return hold_tasks(caller, array, some, reason, now);
      });
}

void ControllerState::release_jobs(RequestId request, const Caller& caller,
                                   const std::vector<JobTarget>& jobs, Time now) {
  order_jobs(
      request, caller, jobs, [&](JobId id) { return release_one(caller, id, now); },
      [&](LiveArray& array, const IndexSet* some) {
        return release_tasks(caller, array, some, now);
      });
}

void ControllerState::requeue_jobs(RequestId request, const Caller& caller,
                                   const std::vector<JobTarget>& jobs, const std::string& reason,
                                   Time now) {
  order_jobs(
      request, caller, jobs, [&](JobId id) { return requeue_one(caller, id, reason, now); },
      [&](LiveArray& array, const IndexSet* some) {
        return requeue_tasks(caller, array, some, reason, now);
      });
}

Result<> ControllerState::hold_one(const Caller& caller, JobId id, const std::string& reason,
                                   Time now) {
  const auto found = find_own(caller, id);
  if (!found) return fail(found);
  LiveJob& live = **found;
  if (live.job.state == JobState::kHeld) return {};
  if (live.job.state != JobState::kPending) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("job {} is {}; only a job that waits can be held, cancel ends one that "
                            "runs",
                            id.value, job_state_name(live.job.state)));
  }
  event(now, "hold", id, caller.owner.user, reason);
  hold(live, by_person("held", CauseCode::kHold, caller, reason), now);
  return {};
}

Result<> ControllerState::release_one(const Caller& caller, JobId id, Time now) {
  const auto found = find_own(caller, id);
  if (!found) return fail(found);
  LiveJob& live = **found;
  if (live.job.state != JobState::kHeld) return {};  // a repeated call finds what it has done
  const Cause& held = live.job.cause;
  if (held.code == CauseCode::kHold && held.actor_name != live.job.spec->owner.user &&
      !caller.is_operator) {
    return fail(ErrorCode::kPermissionDenied,
                fmt::format("job {} is {}; an operator must release it", id.value, held.text));
  }
  if (held.code == CauseCode::kRetriesSpent) live.job.retries = {};
  live.job.cause = {};
  event(now, "release", id, caller.owner.user, "");
  core_->set_held(now, id, false);
  move_to(live, JobState::kPending);
  touch(live);
  pass_due_ = true;
  return {};
}

// It waits again in its old place (E1) once nothing of the run is left.
Result<> ControllerState::requeue_one(const Caller& caller, JobId id, const std::string& reason,
                                      Time now) {
  const auto found = find_own(caller, id);
  if (!found) return fail(found);
  LiveJob& live = **found;
  const JobSpec& spec = *live.job.spec;
  const auto refused = [&](std::string why) {
    return fail(ErrorCode::kWrongState, fmt::format("job {} {}", id.value, why));
  };
  if (!is_placed(live.job.state)) {
    if (live.job.last_attempt.value > 0) return {};  // a repeated call finds what it has done
    return refused("has not started yet; there is no run that could be ended");
  }
  if (live.attempt->cause.code == CauseCode::kRequeue) return {};
  if (live.job.state == JobState::kCompleting)
    return refused(fmt::format("is ending already: {}", describe(live.attempt->cause)));
  if (spec.attached || spec.kind == JobKind::kInteractive)
    return refused("has somebody who waits at its terminal; cancel it and start it again");
  event(now, "requeue", id, caller.owner.user, reason);
  end_attempt(live, by_person("requeued", CauseCode::kRequeue, caller, reason), false, now);
  return {};
}

Result<NodeEntry*> ControllerState::find_entry(const std::string& name) {
  if (const auto id = find_node(name)) return &entry(*id);
  std::vector<std::string_view> known;
  known.reserve(nodes_.size());
  for (const NodeEntry& on : nodes_) known.emplace_back(on.node.config.name);
  return fail(ErrorCode::kNotFound,
              fmt::format("there is no node '{}'{}", name, did_you_mean(name, known)));
}

void ControllerState::order_nodes(RequestId request, const std::vector<std::string>& nodes,
                                  const std::function<Result<>(NodeEntry&)>& order) {
  NodeOutcomes outcomes;
  for (const std::string& name : nodes) {
    const auto found = find_entry(name);
    outcomes.push_back({name, found ? order(**found) : fail(found)});
  }
  pass_due_ = true;
  effects_.replies.push_back({request, std::move(outcomes)});
}

void ControllerState::drain_nodes(RequestId request, const Caller& caller,
                                  const std::vector<std::string>& nodes, const DrainOrder& order,
                                  Time now) {
  order_nodes(request, nodes, [&](NodeEntry& on) -> Result<> {
    if (order.is_off && on.session) {
      return fail(ErrorCode::kWrongState,
                  fmt::format("node {} is in contact, so it is not off; drain it, or cut its power "
                              "first",
                              on.node.config.name));
    }
    add_drain(on, {.source = order.until_reboot || order.is_off ? DrainSource::kReboot
                                                                : DrainSource::kOperator,
                   .reason_class = order.reason_class,
                   .who = caller.owner.user,
                   .text = order.reason,
                   .since = now});
    if (order.is_off) give_up_node(on, "off, as " + caller.owner.user + " says", now);
    return {};
  });
}

void ControllerState::resume_nodes(RequestId request, const Caller& caller,
                                   const std::vector<std::string>& nodes, Time now) {
  order_nodes(request, nodes, [&](NodeEntry& on) -> Result<> {
    // The operator has seen what was wrong: the row of strikes begins anew.
    on.node.strikes.clear();
    on.node.drains.clear();
    event(now, "resume", JobId{}, caller.owner.user, on.node.config.name);
    touch_node(on);
    return {};
  });
}

Result<std::size_t> ControllerState::change_teams(TeamsConfig teams, Time now) {
  const auto terms = new_terms(config_.teams, teams, *layout_);
  if (!terms) return fail(terms);
  for (const auto& [quota, change] : *terms) {
    core_->change(now, quota, change);
    layout_->changed(quota, change);
    event(now, "quota", JobId{}, "artel-ctld", layout_->label(quota));
  }
  config_.teams = std::move(teams);
  pass_due_ = true;
  return terms->size();
}

void ControllerState::scheduling_snapshot(RequestId request, const Caller& caller,
                                          std::optional<JobSpec> candidate, Time now) {
  std::optional<sched::JobFacts> facts;
  if (candidate) {
    const auto spec = admit(caller, std::move(*candidate));
    if (!spec) return effects_.replies.push_back({request, fail(spec)});
    facts = facts_of(JobId{last_job_.value + 1}, *spec);
  }
  effects_.replies.push_back(
      {request, std::make_shared<const SchedulingSnapshot>(core_->snapshot(), *layout_,
                                                           snapshot(now), std::move(facts))});
}

}  // namespace artel::ctld
