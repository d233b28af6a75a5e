// Sessions of agents and reconciliation by full state at each connect.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ctld/core/state.h"

namespace artel::ctld {
namespace {

template <typename... Handlers>
struct Overload : Handlers... {
  using Handlers::operator()...;
};

}  // namespace

std::pair<LiveJob*, NodePart*> ControllerState::find_part(const AttemptKey& key, NodeId node) {
  const auto it = jobs_.find(key.job);
  if (it == jobs_.end()) return {};
  LiveJob& live = it->second;
  if (!is_placed(live.job.state) || !live.attempt || live.attempt->key != key) return {};
  for (NodePart& part : live.attempt->parts) {
    if (part.share.node == node) return {&live, &part};
  }
  return {};
}

Result<> ControllerState::agent_connected(SessionId session, const AgentHello& hello, Time now) {
  const auto id = find_node(hello.node);
  if (!id) {
    return fail(ErrorCode::kNotFound,
                fmt::format("node '{}' is not in the controller's configuration", hello.node));
  }
  NodeEntry& on = entry(*id);
  if (on.session) sessions_.erase(*on.session);
  on.session = session;
  sessions_.emplace(session, *id);
  const bool rebooted =
      !on.node.inventory.boot_id.empty() && on.node.inventory.boot_id != hello.inventory.boot_id;
  on.node.contact = NodeContact::kUp;
  on.node.contact_since = now;
  on.node.inventory = hello.inventory;
  on.heard = now;
  on.inquiry.reset();
  on.told.clear();
  set_peers(on, hello.peers);
  silent_.erase(*id);
  if (!peers_due_) peers_due_ = now + kDealDelay;
  if (rebooted) {
    lift_drain(on, DrainSource::kReboot, now);
    lift_drain(on, DrainSource::kLeftovers, now);
  }
  compare_inventory(on, now);
  touch_node(on);
  pass_due_ = true;
  event(now, "node-up", JobId{}, on.node.config.name, rebooted ? "rebooted" : "");
  on.strays.clear();
  for (const HeldAttempt& held : hello.attempts) reconcile_held(on, held, now);
  // What should be there and is not. Ids first: a part's end may make its job final.
  std::vector<JobId> missing;
  for (auto& [job_id, live] : jobs_) {
    if (!is_placed(live.job.state) || !live.attempt) continue;
    const bool held = std::ranges::any_of(
        hello.attempts, [&](const HeldAttempt& h) { return h.key == live.attempt->key; });
    if (!held) missing.push_back(job_id);
  }
  for (const JobId job_id : missing) {
    LiveJob& live = jobs_.at(job_id);
    const auto [found, part] = find_part(live.attempt->key, *id);
    if (part != nullptr) reconcile_missing(live, *part, rebooted, now);
  }
  return {};
}

bool ControllerState::is_beyond_store(JobId job) const {
  const bool is_lost = lost_first_ <= job && job <= lost_last_;
  return job > last_job_ || is_lost || unreadable_.contains(job);
}

void ControllerState::reconcile_held(NodeEntry& on, const HeldAttempt& held, Time now) {
  const NodeId id = on.node.id;
  const auto [live, part] = find_part(held.key, id);
  if (part == nullptr || part->phase == NodePhase::kEnded) {
    const bool ended = held.phase == NodePhase::kEnded;
    if (is_beyond_store(held.key.job)) {
      // Unknown is never a reason to kill, nor to throw away an end.
      event(now, "stray", held.key.job, on.node.config.name,
            "attempt of a job that the store cannot read");
      if (!ended) on.strays.insert(held.key);
      return;
    }
    if (ended) return send(id, ForgetAttempt{held.key});
    on.strays.insert(held.key);
    return send(id, EndAttempt{held.key,
                               Cause{.actor = Actor::kSystem,
                                     .code = CauseCode::kNodeLost,
                                     .node = on.node.config.name,
                                     .text = "this attempt was given up while the node was away"},
                               true});
  }
  switch (held.phase) {
    case NodePhase::kEnded:
      part_ended(*live, *part, held.end.value_or(NodeEnd{.ended = now}), now, true);
      return send(id, ForgetAttempt{held.key});
    case NodePhase::kReady:
      if (part->phase <= NodePhase::kStarting) return part_ready(*live, *part, held.port, now);
      break;
    case NodePhase::kStarting:
    case NodePhase::kRunning:
      if (part->phase <= NodePhase::kStarting && held.started) {
        part->phase = NodePhase::kStarting;
        return part_started(*live, *part, *held.started, now, true);
      }
      break;
    case NodePhase::kPreparing:
    case NodePhase::kEnding:
      break;
  }
  if (part->phase == NodePhase::kEnding) {
    send(id, EndAttempt{held.key, live->attempt->cause, false});
  }
}

void ControllerState::reconcile_missing(LiveJob& live, NodePart& part, bool rebooted, Time now) {
  switch (part.phase) {
    case NodePhase::kPreparing: {
      const auto index = static_cast<std::size_t>(&part - live.attempt->parts.data());
      return send(part.share.node, Prepare{launch_spec(live, index)});
    }
    case NodePhase::kEnded:
      return;
    case NodePhase::kEnding:
      // Its peers may have failed because it went down.
      if (rebooted && live.attempt->start_ordered) break;
      return part_ended(live, part, NodeEnd{.ended = now, .cause = live.attempt->cause}, now,
                        false);
    case NodePhase::kReady:
    case NodePhase::kStarting:
    case NodePhase::kRunning:
      break;
  }
  const std::string& name = entry(part.share.node).node.config.name;
  const Cause cause{.actor = Actor::kNode,
                    .code = CauseCode::kNodeLost,
                    .node = name,
                    .text = rebooted ? fmt::format("{} was rebooted", name)
                                     : fmt::format("{} has lost the attempt", name)};
  // Whether it ran is not known; a start that was ordered counts as one, so that the next attempt
  // waits for this node's word.
  part_ended(live, part, NodeEnd{.ended = now, .cause = cause, .is_origin = true}, now, false);
}

void ControllerState::agent_message(SessionId session, const FromAgent& message, Time now) {
  const auto it = sessions_.find(session);
  if (it == sessions_.end()) return;  // of a session that was replaced
  const NodeId id = it->second;
  const auto with_part = [&](const AttemptKey& key, auto&& act) {
    const auto [live, part] = find_part(key, id);
    if (part != nullptr) act(*live, *part);
  };
  const auto ended = [&](const AttemptKey& key, NodeEnd end) {
    with_part(key, [&](LiveJob& live, NodePart& part) {
      part_ended(live, part, std::move(end), now, false);
    });
    if (entry(id).strays.erase(key) > 0) pass_due_ = true;
    // Also an end that nobody waits for: it would be re-sent for ever.
    if (!is_beyond_store(key.job)) send(id, ForgetAttempt{key});
  };
  std::visit(Overload{[&](const AttemptReady& m) {
                        with_part(m.key, [&](LiveJob& live, NodePart& part) {
                          if (part.phase <= NodePhase::kStarting)
                            part_ready(live, part, m.port, now);
                        });
                      },
                      [&](const AttemptRefused& m) {
                        ended(m.key, NodeEnd{.ended = now, .cause = m.cause, .is_origin = true});
                      },
                      [&](const AttemptStarted& m) {
                        with_part(m.key, [&](LiveJob& live, NodePart& part) {
                          part_started(live, part, m.at, now, false);
                        });
                      },
                      [&](const AttemptEnded& m) { ended(m.key, m.end); },
                      [&](const PeersWatched& m) { peers_watched(id, m); },
                      [&](const PeerSeen& m) { peer_seen(id, m, now); }},
             message);
}

void ControllerState::agent_lost(SessionId session, Time now, Duration silent_for) {
  const auto it = sessions_.find(session);
  if (it == sessions_.end()) return;
  NodeEntry& on = entry(it->second);
  sessions_.erase(it);
  on.session = std::nullopt;
  on.node.contact = NodeContact::kLost;
  on.node.contact_since = now;
  on.heard = now - silent_for;
  silent_[on.node.id] = on.heard + config_.give_up_after;
  touch_node(on);
  event(now, "node-lost", JobId{}, on.node.config.name, "");
  pass_due_ = true;  // reasons change
}

}  // namespace artel::ctld
