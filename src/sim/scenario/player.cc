// The virtual world around an engine.
#include "sim/scenario/player.h"

#include <algorithm>

#include "base/hostlist.h"

namespace artel::scenario {

namespace {

/// Passes at one instant; more means that the engine undoes what it did.
constexpr int kMostPasses = 1000;

bool is_active(const std::vector<Share>& shares, const std::string& node) {
  return std::ranges::find(shares, node, &Share::node) != shares.end();
}

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
  if (life.job->walltime) end = std::min(end, life.start + *life.job->walltime);
  const auto timeout = idle_timeout_of(case_, *life.job);
  if (life.job->idle_from && timeout)
    end = std::min(end, life.start + *life.job->idle_from + *timeout);
  return end;
}

bool Player::is_idle_end(const Life& life) const {
  const bool worked = life.job->duration && life.start + *life.job->duration - life.saved <= now_;
  const bool limited = life.job->walltime && life.start + *life.job->walltime <= now_;
  return !worked && !limited;
}

Minute Player::wait_end(const Life& life) const {
  if (!life.job->max_wait || life.has_started) return kNever;
  return life.submitted + *life.job->max_wait;
}

void Player::end_runs() {
  for (Life& one : lives_) {
    const bool holds = one.stage == Stage::kRunning || one.stage == Stage::kTerminating;
    if (holds && run_end(one) <= now_) {
      finish(one, Stage::kDone, is_idle_end(one) ? "IdleTimeout" : "");
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
  while (next_event_ < case_.timeline.size() && case_.timeline[next_event_].t <= now_) {
    std::visit([this](const auto& one) { fact(one); }, case_.timeline[next_event_].fact);
    ++next_event_;
  }
  return {};
}

Result<> Player::pass_until_rest() {
  for (int i = 0; i < kMostPasses; ++i) {
    const std::vector<Decision> decisions = engine_.pass(now_);
    if (decisions.empty()) return {};
    if (auto applied = apply(decisions); !applied) return applied;
  }
  return impossible(now_, "the passes never come to rest");
}

bool Player::end_waits() {
  bool any = false;
  for (Life& one : lives_) {
    if (one.stage != Stage::kPending || wait_end(one) > now_) continue;
    finish(one, Stage::kCancelled, "MaxWait");
    any = true;
  }
  return any;
}

Result<> Player::apply(const std::vector<Decision>& decisions) {
  // Victims without grace leave before anybody takes their place.
  for (const Decision& decision : decisions) {
    const auto* told = std::get_if<Signal>(&decision);
    if (told == nullptr) continue;
    if (auto applied = signal(*told); !applied) return applied;
  }
  for (const Decision& decision : decisions) {
    const auto* begun = std::get_if<Start>(&decision);
    if (begun == nullptr) continue;
    if (auto applied = start(*begun); !applied) return applied;
  }
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
  one.saved_at.reset();
  one.shares = decision.shares;
  std::ranges::sort(one.shares);
  return {};
}

/// Nobody gets what somebody else holds, and a gang is whole: no overcommitment, rule G1.
Result<> Player::check_shares(const Life& life, const std::vector<Share>& shares) const {
  std::int64_t most = 0;
  for (const Component& part : life.job->components) most += part.nodes;
  const auto size = static_cast<std::int64_t>(shares.size());
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
    std::int64_t gpus = share.gpus;
    std::int64_t cpus = share.cpus;
    for (const Life& other : lives_) {
      for (const Share& held : other.shares) {
        if (held.node != share.node) continue;
        gpus += held.gpus;
        cpus += held.cpus;
        if (life.job->exclusive || other.job->exclusive) gpus = node->gpus + 1;
      }
    }
    if (gpus > node->gpus || cpus > node->cpus ||
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

void Player::fact(const Submit& submit) {
  const std::size_t index = lives_.size();
  index_[submit.job.id] = index;
  lives_.push_back({.job = &submit.job, .submitted = now_});
  if (const auto refusal = engine_.submit(now_, submit.job)) {
    lives_[index].stage = Stage::kRejected;
    lives_[index].reason = *refusal;
  }
}

void Player::fact(const Cancel& cancel) {
  Life& one = life(cancel.job);
  const bool is_over =
      one.stage == Stage::kDone || one.stage == Stage::kCancelled || one.stage == Stage::kRejected;
  if (!is_over) finish(one, Stage::kCancelled, "");
}

void Player::fact(const Checkpoint& checkpoint) {
  Life& one = life(checkpoint.job);
  if (one.stage == Stage::kRunning || one.stage == Stage::kTerminating) save(one, now_);
}

void Player::fact(const NodeDown& down) {
  if (!healthy_[down.node]) return;
  healthy_[down.node] = false;
  engine_.node(now_, down.node, false);
  for (Life& one : lives_) {
    if (is_active(one.shares, down.node)) interrupt(one, Requeue::kNodeFailed, "NodeFailed");
  }
}

void Player::fact(const NodeUp& up) {
  if (healthy_[up.node]) return;
  healthy_[up.node] = true;
  engine_.node(now_, up.node, true);
}

void Player::fact(const SetQuota& change) { engine_.set_quota(now_, change); }

void Player::fact(const Reserve& reserve) {
  if (const auto refusal = engine_.reserve(now_, reserve.reservation)) {
    refused_[reserve.reservation.name] = *refusal;
  }
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
  if (life.job->checkpoint_every) {
    const Minute every = *life.job->checkpoint_every;
    const Minute at = life.start + (now_ - life.start) / every * every;
    if (at > life.start) life.saved_at = std::max(life.saved_at.value_or(at), at);
  }
  if (life.saved_at) life.saved += *life.saved_at - life.start;
  life.saved_at.reset();
  life.shares.clear();
  life.stage = Stage::kPending;
  engine_.requeue(now_, life.job->id, why);
}

void Player::finish(Life& life, Stage stage, const std::string& reason) {
  life.stage = stage;
  life.reason = reason;
  life.shares.clear();
  engine_.end(now_, life.job->id);
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
