#include "noded/core/agent.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace artel::noded {
namespace {

template <typename... Handlers>
struct Overload : Handlers... {
  using Handlers::operator()...;
};

bool same_task(const AttemptKey& a, const AttemptKey& b) {
  return a.job == b.job && a.task == b.task;
}

}  // namespace

Agent::Agent(AgentConfig config, std::vector<AttemptRecord> records, Time now)
    : config_(std::move(config)),
      contacts_(config_.peers, config_.inventory.boot_id, config_.kept, config_.up) {
  static_cast<void>(now);
  for (AttemptRecord& record : records) {
    const AttemptKey key = record.spec.key;
    Held held;
    held.adopting = record.phase != NodePhase::kEnded;
    held.record = std::move(record);
    held_.emplace(key, std::move(held));
    effects_.adopts.push_back({key});  // an ended one, too: its daemon waits to be told to go
  }
}

bool Agent::settled() const {
  for (const auto& [key, held] : held_) {
    if (held.adopting || held.sweeping_for) return false;
  }
  return true;
}

AgentHello Agent::connected() {
  connected_ = true;
  effects_.controller_sends.clear();
  AgentHello hello{.node = config_.node,
                   .inventory = config_.inventory,
                   .attempts = {},
                   .peers = contacts_.names()};
  for (const auto& [key, held] : held_) {
    hello.attempts.push_back({.key = key,
                              .phase = held.record.phase,
                              .port = held.port,
                              .started = held.started,
                              .end = held.record.end});
  }
  return hello;
}

void Agent::disconnected() {
  connected_ = false;
  effects_.controller_sends.clear();
  for (const auto& [key, held] : held_) {
    if (held.record.end) save(held, true);
  }
}

void Agent::controller_message(const ToAgent& message, Time now, Duration up) {
  std::visit(Overload{[&](const Prepare& m) { prepare(m.spec, now); },
                      [&](const StartAttempt& m) { start(m, now); },
                      [&](const EndAttempt& m) { end(m, now); },
                      [&](const ForgetAttempt& m) { forget(m.key); },
                      [&](const WatchPeers& m) { watch(m, up); },
                      [&](const AskPeer& m) { send(contacts_.answer(m, up)); }},
             message);
}

void Agent::watch(const WatchPeers& message, Duration up) {
  contacts_.watch(message.peers, up);
  effects_.peers = SavePeers{message.peers};
  send(PeersWatched{contacts_.names()});
}

bool Agent::holds_any() const {
  return std::ranges::any_of(
      held_, [](const auto& entry) { return entry.second.record.phase != NodePhase::kEnded; });
}

KeptContacts Agent::leave(Duration up) {
  contacts_.leave();
  return contacts_.keep(up);
}

// The controller may have given this node up and may run the next attempts elsewhere soon.
void Agent::tick(Duration up) {
  if (contacts_.has_news() || (holds_any() && !contacts_.peers().empty())) {
    effects_.contacts = SaveContacts{contacts_.keep(up)};
    contacts_.kept();
  }
  if (!contacts_.lapsed(up)) return;
  for (auto& [key, held] : held_) {
    if (held.record.phase >= NodePhase::kEnding || held.sweeping_for) continue;
    held.record.phase = NodePhase::kEnding;
    const Cause cause{.actor = Actor::kNode,
                      .code = CauseCode::kNodeLost,
                      .node = config_.node,
                      .text = fmt::format("{} has heard neither the controller nor any other node "
                                          "for {} s and ended the job by itself",
                                          config_.node, kLease.count() / 1000)};
    effects_.step_sends.push_back({key, StepStop{cause, true}});
  }
}

std::optional<std::string> Agent::refusal(const AttemptKey& key) const {
  for (const auto& [other, held] : held_) {
    if (!same_task(other, key) || other == key) continue;
    if (other.attempt > key.attempt) {
      return fmt::format("attempt {} is older than attempt {} on {}", format_key(key),
                         format_key(other), config_.node);
    }
    if (held.record.phase != NodePhase::kEnded) {
      return fmt::format("attempt {} is still on {}", format_key(other), config_.node);
    }
  }
  return std::nullopt;
}

void Agent::prepare(const LaunchSpec& spec, Time now) {
  static_cast<void>(now);
  if (const auto it = held_.find(spec.key); it != held_.end()) return report(it->second);
  if (const auto why = refusal(spec.key)) {
    return send(AttemptRefused{spec.key, Cause{.actor = Actor::kLaunch,
                                               .code = CauseCode::kPrepareRefused,
                                               .node = config_.node,
                                               .text = *why}});
  }
  Held held;
  held.record.spec = spec;
  const auto it = held_.emplace(spec.key, std::move(held)).first;
  save(it->second, false);
  effects_.spawns.push_back({spec});
}

void Agent::start(const StartAttempt& message, Time now) {
  const auto it = held_.find(message.key);
  if (it == held_.end()) {
    // The controller believes that we got ready: what we had is gone with an earlier life of this
    // node.
    const Cause cause{.actor = Actor::kNode,
                      .code = CauseCode::kNodeLost,
                      .node = config_.node,
                      .text = fmt::format("{} does not know attempt {} any more", config_.node,
                                          format_key(message.key))};
    return send(
        AttemptEnded{message.key, NodeEnd{.ended = now, .cause = cause, .is_origin = true}});
  }
  Held& held = it->second;
  if (held.record.phase != NodePhase::kReady) return report(held);
  held.record.phase = NodePhase::kStarting;
  effects_.step_sends.push_back({message.key, StepStart{message.peers}});
}

void Agent::end(const EndAttempt& message, Time now) {
  const auto it = held_.find(message.key);
  if (it == held_.end()) {
    return send(AttemptEnded{message.key, NodeEnd{.ended = now, .cause = message.cause}});
  }
  Held& held = it->second;
  if (held.record.phase == NodePhase::kEnded) return report(held);
  if (held.sweeping_for) return;
  held.record.phase = NodePhase::kEnding;
  effects_.step_sends.push_back({message.key, StepStop{message.cause, message.immediately}});
}

void Agent::forget(const AttemptKey& key) {
  const auto it = held_.find(key);
  // A controller forgets only ends that it was told; anything else is a message out of its time.
  if (it == held_.end() || it->second.record.phase != NodePhase::kEnded) return;
  effects_.step_sends.push_back({key, StepForget{}});
  effects_.drops.push_back({key});
  held_.erase(it);
}

void Agent::step_status(const FromStep& status, Time now) {
  static_cast<void>(now);
  const auto it = held_.find(status.key);
  if (it == held_.end() || it->second.sweeping_for) return;
  Held& held = it->second;
  const bool adopted = std::exchange(held.adopting, false);
  if (held.record.phase == NodePhase::kEnded) return;
  switch (status.phase) {
    case NodePhase::kPreparing:
      // The agent that began to prepare it is gone, and with it whether it was told everything.
      if (adopted) {
        held.record.phase = NodePhase::kEnding;
        effects_.step_sends.push_back(
            {status.key, StepStop{Cause{.actor = Actor::kNode,
                                        .code = CauseCode::kPrepareRefused,
                                        .node = config_.node,
                                        .text = fmt::format("the agent of {} was restarted while "
                                                            "it prepared the job",
                                                            config_.node)},
                                  true}});
      }
      return;
    case NodePhase::kReady:
      held.port = status.port;
      // Told to start or to end already: an echo of before.
      if (!adopted && held.record.phase > NodePhase::kReady) return;
      held.record.phase = NodePhase::kReady;
      break;
    case NodePhase::kStarting:
    case NodePhase::kRunning:
      held.started = status.started;
      if (held.record.phase != NodePhase::kEnding) held.record.phase = NodePhase::kRunning;
      break;
    case NodePhase::kEnding:
      held.started = status.started;
      held.record.phase = NodePhase::kEnding;
      return;
    case NodePhase::kEnded:
      return finish(held, status.end.value_or(NodeEnd{}), status.refused);
  }
  save(held, false);
  report(held);
}

void Agent::step_lost(const AttemptKey& key, const std::string& why, Time now) {
  static_cast<void>(now);
  const auto it = held_.find(key);
  if (it == held_.end()) return;
  Held& held = it->second;
  held.adopting = false;
  if (held.record.phase == NodePhase::kEnded || held.sweeping_for) return;
  held.sweeping_for =
      Cause{.actor = Actor::kNode,
            .code = CauseCode::kStepLost,
            .node = config_.node,
            .text = fmt::format("the step daemon on {} is gone: {}", config_.node, why)};
  effects_.sweeps.push_back({key});
}

void Agent::swept(const AttemptKey& key, Time now) {
  const auto it = held_.find(key);
  if (it == held_.end() || !it->second.sweeping_for) return;
  Held& held = it->second;
  Cause cause = *std::exchange(held.sweeping_for, std::nullopt);
  const bool refused = held.record.phase == NodePhase::kPreparing;
  if (refused) {
    cause.actor = Actor::kLaunch;
    cause.code = CauseCode::kPrepareRefused;
  }
  finish(held,
         NodeEnd{.started = held.started.value_or(Time{}),
                 .ended = now,
                 .cause = std::move(cause),
                 .is_origin = true},
         refused);
}

void Agent::finish(Held& held, NodeEnd end, bool refused) {
  held.record.phase = NodePhase::kEnded;
  held.record.end = std::move(end);
  held.record.refused = refused;
  save(held, !connected_);
  report(held);
}

void Agent::report(const Held& held) {
  const AttemptKey& key = held.record.spec.key;
  switch (held.record.phase) {
    case NodePhase::kReady:
      return send(AttemptReady{key, held.port});
    case NodePhase::kRunning:
      return send(AttemptStarted{key, held.started.value_or(Time{})});
    case NodePhase::kEnded:
      if (held.record.refused) return send(AttemptRefused{key, held.record.end->cause});
      return send(AttemptEnded{key, *held.record.end});
    case NodePhase::kPreparing:
    case NodePhase::kStarting:
    case NodePhase::kEnding:
      return;  // the next status tells
  }
}

void Agent::save(const Held& held, bool sync) { effects_.saves.push_back({held.record, sync}); }

void Agent::send(FromAgent message) {
  if (connected_) effects_.controller_sends.push_back(std::move(message));
}

Effects Agent::take_effects() { return std::exchange(effects_, {}); }

std::optional<std::string> Agent::check() const {
  std::map<std::pair<JobId, TaskIndex>, int> alive;
  for (const auto& [key, held] : held_) {
    if (held.record.phase == NodePhase::kEnded) {
      if (!held.record.end) return fmt::format("{} is ended without an end", format_key(key));
      continue;
    }
    if (held.record.phase > NodePhase::kReady && ++alive[{key.job, key.task}] > 1) {
      return fmt::format("S4: two attempts of job {} are alive on {}", key.job.value, config_.node);
    }
  }
  return std::nullopt;
}

}  // namespace artel::noded
