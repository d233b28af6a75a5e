// Timers and the scheduling pass.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "ctld/core/state.h"

namespace artel::ctld {
namespace {

// A pass looks at every pending job. With many of them passes keep a distance, so that the loop has
// time for others: about one millisecond for each 2,000 pending jobs, well above what looking at
// them costs.
Duration pass_distance(std::size_t pending) {
  return Duration{static_cast<std::int64_t>(pending / 2000)};
}

}  // namespace

void ControllerState::set_timer(LiveJob& live, std::optional<Time> at) {
  if (live.timer) timers_.erase({*live.timer, live.job.id});
  live.timer = at;
  if (at) timers_.emplace(*at, live.job.id);
}

void ControllerState::pause_starts(bool paused) {
  if (starts_paused_ && !paused) pass_due_ = true;
  starts_paused_ = paused;
  if (paused) core_->stop_pass();  // it would go on as of its old time
}

void ControllerState::tick(Time now, const sched::MayGoOn& may_go_on) {
  run_timers(now);
  while (!token_ages_.empty() && token_ages_.front().at + config_.token_memory < now) {
    tokens_.erase(std::pair(token_ages_.front().uid, token_ages_.front().token));
    token_ages_.pop_front();
  }
  if (nodes_due_ && *nodes_due_ <= now) {
    nodes_due_.reset();
    tell_health(true, now);  // claims wait no longer for nodes that did not come back (E2)
    pass_due_ = true;
  }
  if (peers_due_ && *peers_due_ <= now) deal_peers(now);
  run_inquiries(now);
  if (wake_at_ && *wake_at_ <= now) pass_due_ = true;
  const bool is_time = pass_due_ && (!pass_at_ || *pass_at_ <= now);
  if ((is_time || core_->in_pass() || core_->was_stopped()) && !starts_paused_)
    run_pass(now, may_go_on);
  if (past_due_ && *past_due_ <= now) store_past(now);
}

std::optional<Time> ControllerState::next_tick() const {
  if ((core_->in_pass() || core_->was_stopped()) && !starts_paused_) return Time{};
  std::optional<Time> next;
  const auto add = [&next](std::optional<Time> time) {
    if (time && (!next || *time < *next)) next = time;
  };
  if (!timers_.empty()) add(timers_.begin()->first);
  add(nodes_due_);
  add(peers_due_);
  for (const auto& [node, at] : silent_) {
    if (!entry(node).peers.empty()) add(at);
  }
  // Nothing of the past changes that a start could not compute while nothing runs.
  if (any_placed_) add(past_due_);
  const Time soonest = pass_at_.value_or(Time{});
  if (starts_paused_) return next;
  if (wake_at_) add(std::max(*wake_at_, soonest));
  if (pass_due_) add(soonest);
  return next;
}

void ControllerState::run_timers(Time now) {
  while (!timers_.empty() && timers_.begin()->first <= now) {
    LiveJob& live = jobs_.at(timers_.begin()->second);
    set_timer(live, std::nullopt);
    timer_fired(live, now);
  }
}

void ControllerState::timer_fired(LiveJob& live, Time now) {
  if (!is_placed(live.job.state) || !live.attempt) return;
  Attempt& attempt = *live.attempt;
  const Time again = now + config_.prepare_timeout;
  if (live.job.state == JobState::kPreparing) {
    const auto late = std::ranges::find_if(
        attempt.parts, [](const NodePart& part) { return part.phase == NodePhase::kPreparing; });
    if (late == attempt.parts.end())
      return set_timer(live, again);  // ordered to start; nodes will say
    return end_attempt(live,
                       Cause{.actor = Actor::kLaunch,
                             .code = CauseCode::kPrepareTimeout,
                             .node = entry(late->share.node).node.config.name},
                       true, now);
  }
  if (live.job.state == JobState::kRunning) {
    if (attempt.limit_end && attempt.limit_end == live.job.spec->deadline) {
      return end_attempt(live, Cause{.actor = Actor::kLimit, .code = CauseCode::kDeadline}, false,
                         now);
    }
    if (attempt.limit_end && now >= *attempt.limit_end + live.job.spec->time_to_end()) {
      return end_attempt(live, Cause{.actor = Actor::kLimit, .code = CauseCode::kTimeLimit}, true,
                         now);
    }
    return;
  }
  // Completing: whoever is still there is told once more, the hard way, or given up.
  set_timer(live, again);
  if (attempt.outcome != JobState::kPending) return end_attempt(live, attempt.cause, true, now);
  finish_if_done(live, now);
}

void ControllerState::preempt(const sched::Signalled& decision, Time now) {
  const auto victim = jobs_.find(decision.job);
  // Its run may be over or on the way out, which the core hears after the pass.
  if (victim == jobs_.end() || !is_placed(victim->second.job.state) ||
      victim->second.job.state == JobState::kCompleting)
    return;
  LiveJob& live = victim->second;
  const sched::EvictionRecord record = core_->core().evictions(live.job.id);
  live.job.standing.evictions = record.evictions;
  live.job.standing.backoff_until = record.backoff_until;
  Cause cause{.actor = Actor::kPreemption, .code = CauseCode::kPreempted};
  cause.text = "evicted for a reservation";
  if (const auto winner = jobs_.find(decision.by); winner != jobs_.end()) {
    cause.actor_name = fmt::format("job {}", decision.by.value);
    cause.text = fmt::format("evicted for job {} of team {}", decision.by.value,
                             winner->second.job.spec->team);
  } else if (const LiveArray* array = array_of(decision.by)) {
    cause.actor_name = fmt::format("job {}", decision.by.value);
    cause.text =
        fmt::format("evicted for job {} of team {}", decision.by.value, array->job.spec->team);
  }
  event(now, "preempt", live.job.id, "artel-ctld", cause.text);
  end_attempt(live, cause, false, now);
}

void ControllerState::give_up(const sched::GivenUp& decision, Time now) {
  LiveJob& live = job_for(decision.job, now);
  Cause cause{.actor = Actor::kSystem, .code = CauseCode::kDependencyNeverMet};
  JobState state = JobState::kCancelled;
  if (decision.cause == sched::GiveUp::kMaxWait) cause.code = CauseCode::kMaxWait;
  if (decision.cause == sched::GiveUp::kDeadline) {
    cause.code = CauseCode::kDeadline;
    state = JobState::kDeadline;
  }
  make_final(live, state, cause, now);
}

void ControllerState::carry_out(const std::vector<sched::Decision>& decisions, Time now) {
  for (const sched::Decision& decision : decisions) {
    if (const auto* started = std::get_if<sched::Started>(&decision)) {
      place(job_for(started->job, now), started->shares, now);
    } else if (const auto* signalled = std::get_if<sched::Signalled>(&decision)) {
      preempt(*signalled, now);
    } else {
      give_up(std::get<sched::GivenUp>(decision), now);
    }
  }
  pass_decided_ = pass_decided_ || !decisions.empty();
}

void ControllerState::show_reasons(std::size_t& pending) {
  for (auto& [id, live] : jobs_) {
    if (live.job.state > JobState::kPending) continue;
    ++pending;
    const sched::Wait wait = core_->core().wait(id);
    if (wait.reason == sched::Reason::kNone) continue;  // no pass has looked at it
    if (live.wait == wait && live.job.wait.code != WaitCode::kNotConsidered) continue;
    live.wait = wait;
    // Reasons are computed anew after a start, so they are shown but not stored.
    live.job.wait = layout_->reason(wait, live.job.spec->component().nodes);
    live.view = nullptr;
    snapshot_ = nullptr;
  }
}

void ControllerState::run_pass(Time now, const sched::MayGoOn& may_go_on) {
  const auto is_lost = [](const NodeEntry& on) { return on.usable && !is_usable(on); };
  if (core_->in_pass() && std::ranges::any_of(nodes_, is_lost)) core_->stop_pass();
  if (!core_->in_pass()) {
    pass_due_ = false;
    pass_decided_ = false;
    wake_at_.reset();
    tell_health(false, now);
    fill_windows(now);
    carry_out(core_->begin_instant(now), now);
  }
  carry_out(core_->pass(now, may_go_on), now);
  if (core_->in_pass()) return store_claims(now);
  core_->catch_up();
  if (!pass_decided_) carry_out(core_->end_waits(now), now);
  store_claims(now);
  // Passes repeat until one decides nothing; facts that come between two of them are heard.
  pass_due_ = pass_due_ || pass_decided_;
  std::size_t pending = 0;
  show_reasons(pending);
  any_placed_ = jobs_.size() > pending;
  show_array_reasons(pending);
  pass_at_ = now + pass_distance(pending);
  wake_at_ = core_->next_wake(now);
}

}  // namespace artel::ctld
