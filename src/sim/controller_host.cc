#include "sim/controller_host.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/assert.h"

namespace artel::sim {
namespace {

/// What a start would not know if it were not kept.
void forget(ctld::StoredState& stored, Mutation mutation) {
  if (mutation == Mutation::kForgetTokens) stored.tokens.clear();
  if (mutation == Mutation::kReuseNumbers) {
    stored.last_job = {};
    for (const Job& job : stored.jobs) {
      const std::uint64_t tasks = job.tasks ? job.spec->array->indexes.size() : 0;
      stored.last_job = std::max(stored.last_job, JobId{job.id.value + tasks});
    }
  }
  if (mutation == Mutation::kForgetDrains) {
    for (ctld::NodeRow& node : stored.nodes) node.drains.clear();
  }
  for (Job& job : stored.jobs) {
    if (mutation == Mutation::kForgetArrays && job.tasks) {
      ArrayTasks tasks = *job.tasks;
      tasks.waiting = job.spec->array->indexes;
      job.tasks = std::make_shared<const ArrayTasks>(std::move(tasks));
    }
    if (mutation == Mutation::kForgetCancels) job.cause = {};
    if (mutation == Mutation::kForgetHolds && job.state == JobState::kHeld)
      job.state = JobState::kPending;
    if (mutation == Mutation::kForgetAttempts && is_placed(job.state)) {
      job.state = JobState::kPending;
      job.attempt = nullptr;
    }
  }
}

}  // namespace

ControllerHost::ControllerHost(ctld::ControllerConfig config, Events& events, Random& random,
                               ControllerHooks hooks, Mutation mutation)
    : config_(std::move(config)),
      events_(events),
      random_(random),
      hooks_(std::move(hooks)),
      mutation_(mutation) {}

void ControllerHost::start() {
  if (core_) return;
  ++life_;
  auto stored = store_.load();
  ARTEL_ASSERT(stored.has_value());
  forget(*stored, mutation_);
  choose_clock();
  auto keys = [this] { return "key-" + std::to_string(++keys_); };
  core_ = std::make_unique<ctld::Controller>(config_, std::move(*stored), keys, now());
  clock_offset_ = core_->begin() - events_.now();
  step([](ctld::Controller&, Time) {});
}

void ControllerHost::choose_clock() {
  constexpr std::uint64_t kMostMs = 600'000;
  if (random_.chance(faults.clock_jump)) {
    clock_offset_ = random_.delay(0, 2 * kMostMs) - Duration{kMostMs};
  }
}

void ControllerHost::change_terms(TeamsConfig teams) {
  config_.teams = std::move(teams);
  step([this](ctld::Controller& core, Time now) {
    if (const auto done = core.change_teams(config_.teams, now); !done)
      hooks_.broken("good terms were refused: " + done.error().text);
  });
}

void ControllerHost::crash() {
  if (!core_) return;
  ++crashes_;
  if (mutation_ == Mutation::kTearCommits && committing_) {
    for (ctld::Effects& effects : in_flight_) effects.writes.resize(effects.writes.size() / 2);
    keep(in_flight_);
  } else if (committing_ && random_.chance(500)) {
    keep(in_flight_);
  }
  core_.reset();
  parked_.clear();
  in_flight_.clear();
  unsynced_.clear();
  committing_ = false;
  tick_planned_ = std::nullopt;
}

void ControllerHost::step(const std::function<void(ctld::Controller&, Time)>& act) {
  if (!core_) return;
  act(*core_, now());
  if (const auto broken = core_->check()) hooks_.broken(*broken);
  ctld::Effects effects = core_->take_effects();
  if (mutation_ == Mutation::kAnswerBeforeCommit) {
    for (const ctld::Reply& reply : std::exchange(effects.replies, {})) hooks_.reply(reply);
  }
  if (mutation_ == Mutation::kSendBeforeCommit) {
    for (const ctld::AgentSend& send : std::exchange(effects.sends, {})) hooks_.send(send);
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
    if (core_ && life == life_) end_commit();
  });
}

void ControllerHost::end_commit() {
  if (std::exchange(faults.fail_next_commit, false)) {
    crash();  // what the disk has of it, nobody knows before the next start
    return hooks_.died();
  }
  const auto batch = std::exchange(in_flight_, {});
  if (mutation_ == Mutation::kLoseCommits) {
    keep(std::exchange(unsynced_, batch));
  } else {
    keep(batch);
  }
  committing_ = false;
  release(batch);
  begin_commit();
}

void ControllerHost::keep(const std::vector<ctld::Effects>& batch) {
  for (const ctld::Effects& effects : batch)
    ARTEL_ASSERT(store_.commit(effects.writes).has_value());
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
  Time at = std::max(*next, now());
  // Between parts of a pass others are heard, for long where the machine is slow.
  if (core_->in_pass()) at += random_.chance(50) ? random_.delay(0, 3000) : random_.delay(0, 5);
  tick_planned_ = at;
  events_.after(at - now(), [this, at, life = life_] {
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
