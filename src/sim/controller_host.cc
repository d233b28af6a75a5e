#include "sim/controller_host.h"

#include <utility>

#include "base/assert.h"

namespace artel::sim {

ControllerHost::ControllerHost(ctld::ControllerConfig config, Events& events, Random& random,
                               ControllerHooks hooks)
    : config_(std::move(config)), events_(events), random_(random), hooks_(std::move(hooks)) {}

void ControllerHost::start() {
  if (core_) return;
  ++life_;
  auto stored = store_.load();
  ARTEL_ASSERT(stored.has_value());
  auto keys = [this] { return "key-" + std::to_string(++keys_); };
  core_ = std::make_unique<ctld::Controller>(config_, std::move(*stored), keys, events_.now());
  step([](ctld::Controller&, Time) {});
}

void ControllerHost::crash() {
  if (!core_) return;
  ++crashes_;
  if (committing_ && random_.chance(500)) {
    for (const ctld::Effects& effects : in_flight_)
      ARTEL_ASSERT(store_.commit(effects.writes).has_value());
  }
  core_.reset();
  parked_.clear();
  in_flight_.clear();
  committing_ = false;
  tick_planned_ = std::nullopt;
}

void ControllerHost::step(const std::function<void(ctld::Controller&, Time)>& act) {
  if (!core_) return;
  act(*core_, events_.now());
  if (const auto broken = core_->check()) hooks_.broken(*broken);
  ctld::Effects effects = core_->take_effects();
  if (answer_before_commit) {
    for (const ctld::Reply& reply : std::exchange(effects.replies, {})) hooks_.reply(reply);
  }
  if (!effects.empty()) parked_.push_back(std::move(effects));
  begin_commit();
  plan_tick();
}

void ControllerHost::begin_commit() {
  if (committing_ || parked_.empty()) return;
  committing_ = true;
  in_flight_ = std::exchange(parked_, {});
  events_.after(random_.delay(0, 8), [this, life = life_] {
    if (!core_ || life != life_) return;
    const auto batch = std::exchange(in_flight_, {});
    for (const ctld::Effects& effects : batch)
      ARTEL_ASSERT(store_.commit(effects.writes).has_value());
    committing_ = false;
    release(batch);
    begin_commit();
  });
}

void ControllerHost::release(const std::vector<ctld::Effects>& batch) {
  for (const ctld::Effects& effects : batch) {
    for (const ctld::AgentSend& send : effects.sends) hooks_.send(send);
    for (const ctld::Reply& reply : effects.replies) hooks_.reply(reply);
  }
}

void ControllerHost::plan_tick() {
  const auto next = core_->next_tick();
  if (!next || (tick_planned_ && *tick_planned_ <= *next)) return;
  Time at = std::max(*next, events_.now());
  // Between parts of a pass others are heard, for long where the machine is slow.
  if (core_->in_pass()) at += random_.chance(50) ? random_.delay(0, 3000) : random_.delay(0, 5);
  tick_planned_ = at;
  events_.after(at - events_.now(), [this, at, life = life_] {
    if (!core_ || life != life_ || tick_planned_ != at) return;
    tick_planned_ = std::nullopt;
    step([this](ctld::Controller& core, Time now) {
      // One part in two ends after a job or a few, wherever that is.
      const bool in_parts = random_.chance(500);
      std::uint64_t jobs = in_parts ? random_.between(0, 3) : 0;
      core.tick(now, [&] { return !in_parts || jobs-- > 0; });
    });
  });
}

}  // namespace artel::sim
