// Timers and the scheduling pass.
#include <algorithm>
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

std::vector<NodeId> ids_of(const std::vector<std::string>& names, const ControllerState& state) {
  std::vector<NodeId> ids;
  for (const std::string& name : names) {
    if (const auto id = state.find_node(name)) ids.push_back(*id);
  }
  std::ranges::sort(ids);
  return ids;
}

}  // namespace

void ControllerState::set_timer(LiveJob& live, std::optional<Time> at) {
  if (live.timer) timers_.erase({*live.timer, live.job.id});
  live.timer = at;
  if (at) timers_.emplace(*at, live.job.id);
}

void ControllerState::tick(Time now) {
  run_timers(now);
  while (!token_ages_.empty() && token_ages_.front().at + config_.token_memory < now) {
    tokens_.erase(std::pair(token_ages_.front().uid, token_ages_.front().token));
    token_ages_.pop_front();
  }
  if (pass_due_ && (!pass_at_ || *pass_at_ <= now)) run_pass(now);
}

std::optional<Time> ControllerState::next_tick() const {
  std::optional<Time> next;
  if (!timers_.empty()) next = timers_.begin()->first;
  if (pass_due_) {
    const Time pass = pass_at_.value_or(Time{});
    next = next ? std::min(*next, pass) : pass;
  }
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
  if (live.job.state == JobState::kPending) {
    pass_due_ = true;  // may be tried again
    return;
  }
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
    if (attempt.limit_end && now >= *attempt.limit_end + live.job.spec->grace) {
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

sched::PendingView ControllerState::pending_view(const LiveJob& live) const {
  const JobSpec& spec = *live.job.spec;
  const ComponentSpec& part = spec.component();
  sched::PendingView out{.id = live.job.id,
                         .priority = spec.priority,
                         .order = to_ms(live.job.submitted_at),
                         .nodes = part.nodes,
                         .ranks_per_node = part.ranks_per_node,
                         .per_node = part.per_node,
                         .limit = spec.time_limit};
  if (!spec.nodes_wanted.empty()) out.only = ids_of(spec.nodes_wanted, *this);
  if (!spec.nodes_avoided.empty()) out.avoid = ids_of(spec.nodes_avoided, *this);
  // Nodes that failed this job are avoided while enough others are up.
  const auto others = std::ranges::count_if(nodes_, [&](const NodeEntry& on) {
    const NodeId id = on.node.id;
    return on.free.usable && !std::ranges::binary_search(out.avoid, id) &&
           (!out.only || std::ranges::binary_search(*out.only, id)) &&
           std::ranges::find(live.job.excluded, id) == live.job.excluded.end();
  });
  if (!live.job.excluded.empty() && static_cast<std::size_t>(others) >= part.nodes) {
    out.avoid.insert(out.avoid.end(), live.job.excluded.begin(), live.job.excluded.end());
    std::ranges::sort(out.avoid);
  }
  return out;
}

sched::ClusterView ControllerState::view(Time now) const {
  sched::ClusterView out{.now = now, .nodes = {}, .pending = {}, .running = {}};
  out.nodes.reserve(nodes_.size());
  for (const NodeEntry& on : nodes_) out.nodes.push_back(on.free);
  for (const auto& [id, live] : jobs_) {
    if (live.job.state == JobState::kPending && (!live.retry_at || *live.retry_at <= now)) {
      out.pending.push_back(pending_view(live));
    } else if (is_placed(live.job.state) && live.attempt) {
      sched::RunningView run{.id = id, .limit_end = live.attempt->limit_end, .shares = {}};
      if (!run.limit_end && live.job.spec->time_limit) {
        // Not started yet: allocation and the preparing time so far count (the limit runs from the
        // first process).
        run.limit_end = now + *live.job.spec->time_limit;
      }
      for (const NodePart& part : live.attempt->parts) {
        if (part.phase != NodePhase::kEnded) run.shares.push_back(part.share);
      }
      out.running.push_back(std::move(run));
    }
  }
  return out;
}

void ControllerState::run_pass(Time now) {
  pass_due_ = false;
  for (NodeEntry& on : nodes_) {
    on.free.usable = on.node.contact == NodeContact::kUp && !on.node.drained && on.strays.empty();
  }
  const sched::ClusterView before = view(now);
  sched::Plan plan = sched::make_plan(before);
  pass_at_ = now + pass_distance(before.pending.size());
  for (sched::Start& start : plan.starts) place(jobs_.at(start.job), std::move(start.shares), now);
  for (sched::Waiting& waiting : plan.waiting) {
    LiveJob& live = jobs_.at(waiting.job);
    if (live.job.wait == waiting.reason) continue;
    // Reasons are computed anew after a start, so they are shown but not stored.
    live.job.wait = std::move(waiting.reason);
    live.view = nullptr;
    snapshot_ = nullptr;
  }
}

}  // namespace artel::ctld
