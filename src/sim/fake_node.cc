#include "sim/fake_node.h"

#include <fmt/format.h>

#include <utility>

namespace artel::sim {
namespace {

template <typename... Handlers>
struct Overload : Handlers... {
  using Handlers::operator()...;
};

Cause node_cause(Actor actor, CauseCode code, const std::string& node, std::string text) {
  return Cause{.actor = actor, .code = code, .node = node, .text = std::move(text)};
}

/// Clocks of machines drift by some parts per million; these by more.
constexpr std::int64_t kMostDrift = 500;

}  // namespace

FakeNode::FakeNode(NodeConfig config, Events& events, Random& random, Truth& truth, NodeHooks hooks,
                   Mutation mutation)
    : config_(std::move(config)),
      events_(events),
      random_(random),
      truth_(truth),
      hooks_(std::move(hooks)),
      mutation_(mutation),
      drift_ppm_(static_cast<std::int64_t>(random.between(0, 2 * kMostDrift)) - kMostDrift) {}

Duration FakeNode::up() const {
  constexpr std::int64_t kMillion = 1'000'000;
  const std::int64_t ms = to_ms(events_.now());
  return Duration{ms + ms / kMillion * drift_ppm_};
}

void FakeNode::tick() {
  if (!agent_) return;
  agent_->tick(up());
  run_effects();
}

void FakeNode::start_agent() {
  if (agent_) return;
  ++life_;
  std::vector<noded::AttemptRecord> records;
  for (const auto& [key, record] : disk_) records.push_back(record);
  const Inventory inventory{.boot_id = fmt::format("{}-boot-{}", config_.name, boot_),
                            .resources = config_.resources,
                            .simulated = true,
                            .probe_port = 7819};
  agent_ = std::make_unique<noded::Agent>(
      noded::AgentConfig{config_.name, inventory, peers_, keeps_contacts ? kept_ : std::nullopt,
                         up()},
      std::move(records), wall());
  run_effects();
}

void FakeNode::crash_agent() {
  if (!agent_) return;
  agent_.reset();
  if (mutation_ == Mutation::kForgetRecords) disk_.clear();
  hooks_.agent_crashed();
}

bool FakeNode::stop_agent() {
  if (!agent_) return false;
  kept_ = agent_->leave(up());
  crash_agent();
  return true;
}

void FakeNode::reboot() {
  crash_agent();
  ++boot_;
  for (auto& [key, step] : steps_) {
    step->daemon = false;
    if (std::exchange(step->ranks, false)) truth_.ranks_gone(step->spec);
  }
  steps_.clear();
  // What the agent's disk adapter does with records of an earlier boot.
  for (auto& [key, record] : disk_) {
    if (record.phase == NodePhase::kEnded) continue;
    record.phase = NodePhase::kEnded;
    record.end = NodeEnd{.ended = wall(),
                         .cause = node_cause(Actor::kNode, CauseCode::kNodeLost, config_.name,
                                             config_.name + " was rebooted"),
                         .is_origin = true};
  }
}

void FakeNode::lose_power() {
  crash_agent();
  for (auto& [key, record] : unsynced_) {
    if (!random_.chance(500)) continue;
    disk_.erase(key);
    if (record) disk_.emplace(key, std::move(*record));
  }
  unsynced_.clear();
  reboot();
}

/// False: the agent has crashed in the middle of it.
bool FakeNode::save(const noded::Effects& effects) {
  for (const auto& [record, sync] : effects.saves) {
    if (random_.chance(faults.crash_while_saving)) {
      crash_agent();
      return false;
    }
    const AttemptKey& key = record.spec.key;
    const auto before = disk_.find(key);
    if (sync) {
      unsynced_.erase(key);
    } else {
      unsynced_.try_emplace(key,
                            before == disk_.end() ? std::nullopt : std::optional(before->second));
    }
    disk_[key] = record;
    if (record.end && record.end->cause.code == CauseCode::kExit &&
        record.end->cause.exit_code == 0) {
      hooks_.recorded_well(record.spec);
    }
  }
  return true;
}

void FakeNode::run_effects() {
  if (!agent_) return;
  noded::Effects effects = agent_->take_effects();
  const auto crashes = [&] {
    if (!random_.chance(faults.crash_between_effects)) return false;
    crash_agent();
    return true;
  };
  if (effects.peers) peers_ = std::move(effects.peers->peers);
  if (effects.contacts) kept_ = std::move(effects.contacts->contacts);
  if (!save(effects)) return;
  if (crashes()) return;
  for (const auto& spawned : effects.spawns) spawn(spawned.spec);
  for (const auto& adopted : effects.adopts) adopt(adopted.key);
  if (!effects.step_sends.empty() && crashes()) return;
  for (const auto& sent : effects.step_sends) receive(sent.key, sent.message);
  for (const auto& swept : effects.sweeps) sweep(swept.key);
  for (const auto& dropped : effects.drops) {
    if (const auto record = disk_.extract(dropped.key))
      unsynced_.try_emplace(dropped.key, record.mapped());
  }
  for (const auto& message : effects.controller_sends) hooks_.to_controller(message);
}

FakeNode::StepPtr FakeNode::find(const AttemptKey& key) {
  const auto it = steps_.find(key);
  return it == steps_.end() ? nullptr : it->second;
}

void FakeNode::tell_status(const StepPtr& step) {
  events_.after(random_.delay(0, 2), [this, step, life = life_] {
    if (!agent_ || life != life_ || !step->daemon) return;
    agent_->step_status(step->status, wall());
    run_effects();
  });
}

void FakeNode::spawn(const LaunchSpec& spec) {
  if (random_.chance(faults.fail_to_spawn)) return lose_step(spec.key, "no process could be made");
  auto step = std::make_shared<FakeStep>();
  step->spec = spec;
  step->status.key = spec.key;
  steps_[spec.key] = step;
  if (random_.chance(faults.hang_in_prepare)) return;
  events_.after(random_.delay(5, 200), [this, step] { prepared(step); });
}

void FakeNode::prepared(const StepPtr& step) {
  if (!step->daemon || step->status.phase != NodePhase::kPreparing) return;
  if (random_.chance(faults.refuse_prepare)) {
    return end_step(
        step, node_cause(Actor::kLaunch, CauseCode::kPrepareRefused, config_.name, "no space"),
        true, true);
  }
  step->status.phase = NodePhase::kReady;
  step->status.port = 4000;
  truth_.ready(step->spec);
  tell_status(step);
}

void FakeNode::receive(const AttemptKey& key, const ToStep& message) {
  const StepPtr step = find(key);
  if (!step || !step->daemon) return;
  std::visit(Overload{[](const StepPrepare&) {}, [&](const StepStart&) { start_ranks(step); },
                      [&](const StepStop& stop) {
                        const bool hangs = random_.chance(faults.hang_at_end);
                        const auto most = hangs ? 200'000U : stop.immediately ? 20U : 3000U;
                        events_.after(random_.delay(1, most), [this, step, cause = stop.cause] {
                          end_step(step, cause, false, step->status.phase == NodePhase::kPreparing);
                        });
                      },
                      [&](const StepForget&) {
                        if (step->status.phase != NodePhase::kEnded) {
                          truth_.report("a living step was forgotten: " + format_key(key));
                        }
                        step->daemon = false;
                        steps_.erase(key);
                      }},
             message);
}

void FakeNode::start_ranks(const StepPtr& step) {
  if (step->status.phase != NodePhase::kReady) return;
  step->status.phase = NodePhase::kRunning;
  step->status.started = wall();
  step->ranks = true;
  truth_.ranks_started(step->spec);
  tell_status(step);
  const Duration runtime{std::stoll(step->spec.argv.at(1))};
  if (step->spec.time_limit && *step->spec.time_limit < runtime) {
    events_.after(*step->spec.time_limit, [this, step] {
      hooks_.abort(step->spec.key, Cause{.actor = Actor::kLimit, .code = CauseCode::kTimeLimit});
    });
    return;
  }
  events_.after(runtime, [this, step] { program_ended(step); });
}

void FakeNode::program_ended(const StepPtr& step) {
  if (!step->ranks || step->local_done || step->status.phase != NodePhase::kRunning) return;
  const int code = std::stoi(step->spec.argv.at(2));
  if (code == 0) {
    step->local_done = true;
    return hooks_.local_done(step->spec);
  }
  hooks_.abort(step->spec.key, Cause{.actor = Actor::kApplication,
                                     .code = CauseCode::kExit,
                                     .node = config_.name,
                                     .rank = 0,
                                     .exit_code = code});
}

void FakeNode::gang_ends(const AttemptKey& key, const Cause& cause, bool is_origin) {
  const StepPtr step = find(key);
  // A daemon that was not told to start yet hears nothing from its gang.
  if (!step || !step->daemon || step->status.phase < NodePhase::kRunning) return;
  end_step(step, cause, is_origin, false);
}

void FakeNode::end_step(const StepPtr& step, Cause cause, bool is_origin, bool refused) {
  if (!step->daemon || step->status.phase == NodePhase::kEnded) return;
  if (std::exchange(step->ranks, false)) truth_.ranks_gone(step->spec);
  step->status.phase = NodePhase::kEnded;
  step->status.refused = refused;
  step->status.end = NodeEnd{.started = step->status.started.value_or(Time{}),
                             .ended = wall(),
                             .cause = std::move(cause),
                             .is_origin = is_origin};
  tell_status(step);
}

FakeNode::StepPtr FakeNode::any_running() {
  for (auto& [key, step] : steps_) {
    if (step->daemon && step->ranks) return step;
  }
  return nullptr;
}

void FakeNode::kill_rank() {
  if (const StepPtr step = any_running()) {
    hooks_.abort(step->spec.key, Cause{.actor = Actor::kApplication,
                                       .code = CauseCode::kSignal,
                                       .node = config_.name,
                                       .rank = 0,
                                       .signal = 9});
  }
}

void FakeNode::kill_step_daemon() {
  const StepPtr step = any_running();
  if (!step) return;
  step->daemon = false;  // its ranks live on until they are swept
  hooks_.abort(step->spec.key, node_cause(Actor::kNode, CauseCode::kStepLost, config_.name,
                                          "the step daemon on " + config_.name + " died"));
  lose_step(step->spec.key, "its socket was closed");
}

void FakeNode::lose_step(const AttemptKey& key, const std::string& why) {
  events_.after(random_.delay(0, 2), [this, key, why, life = life_] {
    if (!agent_ || life != life_) return;
    agent_->step_lost(key, why, wall());
    run_effects();
  });
}

void FakeNode::adopt(const AttemptKey& key) {
  const StepPtr step = find(key);
  if (step && step->daemon) return tell_status(step);
  lose_step(key, "no step daemon answers");
}

void FakeNode::sweep(const AttemptKey& key) {
  events_.after(random_.delay(10, 500), [this, key, life = life_] {
    const StepPtr step = find(key);
    if (mutation_ != Mutation::kSweepNothing && step && std::exchange(step->ranks, false))
      truth_.ranks_gone(step->spec);
    if (!agent_ || life != life_) return;
    steps_.erase(key);
    agent_->swept(key, wall());
    run_effects();
  });
}

}  // namespace artel::sim
