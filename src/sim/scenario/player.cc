// The virtual world around an engine.
#include "sim/scenario/player.h"

#include <algorithm>

#include "base/hostlist.h"

namespace artel::scenario {

namespace {

/// Passes at one instant; more means that the engine undoes what it did.
constexpr int kMostPasses = 1000;
constexpr std::int64_t kMilli = 1000;

std::unexpected<Error> impossible(Minute now, const std::string& what) {
  return fail(ErrorCode::kInvalidArgument, "minute " + std::to_string(now) + ": " + what);
}

}  // namespace

Player::Player(const Case& scenario, Engine& engine, PlayOptions options)
    : case_(scenario), engine_(engine), options_(options) {
  for (const Node& node : case_.nodes) healthy_[node.name] = true;
}

Result<> Player::advance_to(Minute t) {
  while (now_ < t) {
    const Minute next = std::min(next_instant(), t);
    if (auto played = play_instant(next); !played) return played;
  }
  return {};
}

Result<> Player::play_instant(Minute now) {
  now_ = now;
  end_runs();
  end_graces();
  engine_.end_reservations(now_);
  if (auto applied = apply_facts(); !applied) return applied;
  report_checkpoints();
  if (auto applied = apply(engine_.begin_reservations(now_)); !applied) return applied;
  do {
    if (auto rested = pass_until_rest(); !rested) return rested;
  } while (end_waits());
  return {};
}

Minute Player::next_instant() {
  Minute next = kNever;
  const auto consider = [&](Minute t) {
    if (t > now_) next = std::min(next, t);
  };
  if (next_event_ < case_.timeline.size()) {
    next = std::min(next, std::max(case_.timeline[next_event_].t, now_ + 1));
  }
  for (const Life& one : lives_) {
    if (one.stage == Stage::kRunning || one.stage == Stage::kTerminating) consider(run_end(one));
    if (one.stage == Stage::kTerminating) consider(one.grace_end);
    if (one.stage == Stage::kPending) consider(wait_end(one));
  }
  if (now_ >= 0) consider(engine_.next_wake(now_).value_or(kNever));
  if (options_.poll > 0) consider((now_ / options_.poll + 1) * options_.poll);
  return next;
}

Minute Player::run_end(const Life& life) const {
  Minute end = kNever;
  if (life.job->duration) end = life.start + *life.job->duration - life.saved;
  if (life.limit_end) end = std::min(end, *life.limit_end);
  const auto timeout = idle_timeout_of(case_, *life.job);
  if (life.job->idle_from && timeout) {
    end = std::min(end, life.start + *life.job->idle_from + *timeout);
  }
  return end;
}

std::string Player::end_reason(const Life& life) const {
  const bool worked = life.job->duration && life.start + *life.job->duration - life.saved <= now_;
  if (worked) return life.job->fails ? "Failed" : "";
  if (life.job->deadline && *life.job->deadline <= now_) return "Deadline";
  if (life.limit_end && *life.limit_end <= now_) return "Timeout";
  return "IdleTimeout";
}

/// When a waiting job is given up: T1, W4.
Minute Player::wait_end(const Life& life) const {
  Minute end = latest_start(*life.job).value_or(kNever);
  if (life.job->max_wait && !life.has_started) {
    end = std::min(end, life.submitted + *life.job->max_wait);
  }
  return end;
}

void Player::end_runs() {
  for (Life& one : lives_) {
    const bool holds = one.stage == Stage::kRunning || one.stage == Stage::kTerminating;
    if (holds && run_end(one) <= now_) {
      const std::string reason = end_reason(one);
      one.has_completed = reason.empty();
      finish(one, Stage::kDone, reason);
    }
  }
}

void Player::end_graces() {
  for (Life& one : lives_) {
    if (one.stage == Stage::kTerminating && one.grace_end <= now_) {
      interrupt(one, Requeue::kEvicted, "Preempted");
    }
  }
}

Result<> Player::apply_facts() {
  resolve_dependencies();
  while (next_event_ < case_.timeline.size() && case_.timeline[next_event_].t <= now_) {
    std::visit([this](const auto& one) { fact(one); }, case_.timeline[next_event_].fact);
    resolve_dependencies();
    ++next_event_;
  }
  return {};
}

Result<> Player::pass_until_rest() {
  for (int i = 0; i < kMostPasses; ++i) {
    end_missed();
    const std::vector<Decision> decisions = engine_.pass(now_);
    if (decisions.empty()) return {};
    if (auto applied = apply(decisions); !applied) return applied;
  }
  return impossible(now_, "the passes never come to rest");
}

/// W4: who waits again when its latest start is past is not looked at any more.
void Player::end_missed() {
  bool any = false;
  for (Life& one : lives_) {
    if (one.stage != Stage::kPending || latest_start(*one.job).value_or(kNever) >= now_) continue;
    finish(one, Stage::kCancelled, "Deadline");
    any = true;
  }
  if (any) resolve_dependencies();
}

bool Player::end_waits() {
  engine_.end_waits(now_);
  bool any = false;
  for (Life& one : lives_) {
    if (one.stage != Stage::kPending || wait_end(one) > now_) continue;
    const bool late = latest_start(*one.job).value_or(kNever) <= now_;
    finish(one, Stage::kCancelled, late ? "Deadline" : "MaxWait");
    any = true;
  }
  if (any) resolve_dependencies();
  return any;
}

Result<> Player::apply(const std::vector<Decision>& decisions) {
  for (const Decision& decision : decisions) {
    if (const auto* end = std::get_if<GiveUp>(&decision)) {
      return impossible(now_, "job " + end->job + " is given up: " + end->cause);
    }
    const auto* told = std::get_if<Signal>(&decision);
    auto applied = told != nullptr ? signal(*told) : start(std::get<Start>(decision));
    if (!applied) return applied;
  }
  resolve_dependencies();
  return {};
}

Result<> Player::start(const Start& decision) {
  if (!index_.contains(decision.job)) return impossible(now_, "start of an unknown job");
  Life& one = life(decision.job);
  if (one.stage != Stage::kPending) {
    return impossible(now_, "job " + decision.job + " is started but does not wait");
  }
  if (auto checked = check_shares(one, decision.shares); !checked) return checked;
  one.stage = Stage::kRunning;
  one.has_started = true;
  one.start = now_;
  one.limit_end.reset();
  if (one.job->walltime) one.limit_end = now_ + *one.job->walltime;
  if (one.job->deadline) {
    one.limit_end = std::min(one.limit_end.value_or(kNever), *one.job->deadline);
  }
  one.saved_at.reset();
  one.shares = decision.shares;
  std::ranges::sort(one.shares);
  return {};
}

/// Nobody gets what somebody else holds, and a gang is whole: no overcommitment, rule G1.
Result<> Player::check_shares(const Life& life, const std::vector<Share>& shares) const {
  std::int64_t most = 0;
  for (const Component& part : life.job->components) most += part.nodes;
  const auto size = static_cast<std::int64_t>(shares.size()) - life.job->spares;
  if (size > most || size < life.job->min_nodes.value_or(most)) {
    return impossible(now_, "job " + life.job->id + " starts on " + std::to_string(size) +
                                " nodes, wants " + std::to_string(most));
  }
  for (const Share& share : shares) {
    const auto node = std::ranges::find(case_.nodes, share.node, &Node::name);
    if (node == case_.nodes.end() || !healthy_.at(share.node)) {
      return impossible(now_,
                        "job " + life.job->id + " starts on " + share.node + ", which is down");
    }
    std::int64_t gpus = share.gpus * kMilli + share.gpu_milli;
    std::int64_t cpus = share.cpus;
    for (const Life& other : lives_) {
      for (const Share& held : other.shares) {
        if (held.node != share.node) continue;
        gpus += held.gpus * kMilli + held.gpu_milli;
        cpus += held.cpus;
        if (life.job->exclusive || other.job->exclusive) gpus = node->gpus * kMilli + 1;
      }
    }
    if (gpus > node->gpus * kMilli || cpus > node->cpus ||
        std::ranges::count(shares, share.node, &Share::node) != 1) {
      return impossible(
          now_, "job " + life.job->id + " starts on " + share.node + ", where there is no room");
    }
  }
  return {};
}

Result<> Player::signal(const Signal& decision) {
  if (!index_.contains(decision.job)) return impossible(now_, "signal to an unknown job");
  Life& one = life(decision.job);
  if (one.stage != Stage::kRunning) {
    return impossible(now_, "job " + decision.job + " is signalled but does not run");
  }
  ++one.evictions;
  one.stage = Stage::kTerminating;
  one.grace_end = now_ + grace_of(case_, *one.job);
  if (one.grace_end <= now_) interrupt(one, Requeue::kEvicted, "Preempted");
  return {};
}

void Player::report_checkpoints() {
  for (Life& one : lives_) {
    if (one.stage != Stage::kRunning && one.stage != Stage::kTerminating) continue;
    const auto every = one.job->checkpoint_every;
    const Minute ran = now_ - one.start;
    if (every && ran >= *every) save(one, one.start + ran / *every * *every);
  }
}

void Player::save(Life& life, Minute at) {
  if (life.saved_at && *life.saved_at >= at) return;
  life.saved_at = at;
  engine_.checkpoint(now_, life.job->id, at);
}

void Player::interrupt(Life& life, Requeue why, const std::string& reason) {
  if (!life.job->requeue) {
    finish(life, Stage::kCancelled, reason);
    return;
  }
  keep_saved_work(life);
  life.shares.clear();
  life.stage = Stage::kPending;
  engine_.requeue(now_, life.job->id, why);
}

void Player::keep_saved_work(Life& life) {
  if (life.job->checkpoint_every) {
    const Minute every = *life.job->checkpoint_every;
    const Minute at = life.start + (now_ - life.start) / every * every;
    if (at > life.start) life.saved_at = std::max(life.saved_at.value_or(at), at);
  }
  if (life.saved_at) life.saved += *life.saved_at - life.start;
  life.saved_at.reset();
}

void Player::finish(Life& life, Stage stage, const std::string& reason) {
  const bool waited = life.stage == Stage::kPending;
  life.stage = stage;
  life.reason = reason;
  life.shares.clear();
  Ending how =
      stage == Stage::kDone && life.has_completed ? Ending::kCompleted : Ending::kOtherwise;
  if (waited && reason == "DependencyNeverMet") how = Ending::kNeverMet;
  if (waited && reason == "Deadline") how = Ending::kDeadline;
  if (waited && reason == "MaxWait") how = Ending::kMaxWait;
  engine_.end(now_, life.job->id, how);
}

State Player::state() {
  State state{.t = now_, .refused_reservations = refused_, .beliefs = engine_.beliefs(now_)};
  for (const Life& one : lives_) {
    const std::string& id = one.job->id;
    if (one.evictions > 0) state.preempts[id] = one.evictions;
    switch (one.stage) {
      case Stage::kPending: {
        const auto reason = state.beliefs.reasons.find(id);
        state.pending[id] = reason == state.beliefs.reasons.end() ? "" : reason->second;
        break;
      }
      case Stage::kRunning:
        state.running[id] = one.shares;
        break;
      case Stage::kTerminating:
        state.terminating.push_back(id);
        break;
      case Stage::kDone:
        state.done[id] = one.reason;
        break;
      case Stage::kCancelled:
        state.cancelled[id] = one.reason;
        break;
      case Stage::kRejected:
        state.rejected[id] = one.reason;
        break;
    }
  }
  std::ranges::sort(state.terminating);
  return state;
}

}  // namespace artel::scenario
