// The facts of a timeline, and what follows from them: dependencies (rules D) and swaps.
#include <algorithm>
#include <tuple>

#include "sim/scenario/player.h"

namespace artel::scenario {

namespace {

bool is_active(const std::vector<Share>& shares, const std::string& node) {
  return std::ranges::find(shares, node, &Share::node) != shares.end();
}

const std::string& name_of(const Job& job) { return job.name.empty() ? job.id : job.name; }

}  // namespace

bool Player::is_over(const Life& life) {
  return life.stage == Stage::kDone || life.stage == Stage::kCancelled ||
         life.stage == Stage::kRejected;
}

void Player::fact(const Submit& submit) {
  for (const Job& task : tasks_of(submit.job)) submit_one(task);
}

void Player::submit_one(const Job& job) {
  jobs_.push_back(job);
  Life life{.job = &jobs_.back(), .submitted = now_, .is_held = job.held};
  for (const Dependency& on : job.after) life.parts.push_back({on});
  index_[job.id] = lives_.size();
  lives_.push_back(life);
  Life& one = lives_.back();
  if (const auto refusal = refusal_of(one)) {
    one.stage = Stage::kRejected;
    one.reason = *refusal;
    return;
  }
  one.depends = !one.parts.empty();
  if (one.is_held || one.depends) engine_.waits(now_, job.id, {one.is_held, one.depends});
}

std::optional<std::string> Player::refusal_of(const Life& life) {
  if (!admits_class(case_, *life.job)) return "AccessDenied";  // K2
  if (auto refusal = engine_.submit(now_, *life.job)) return refusal;
  const auto latest = latest_start(*life.job);  // W4
  if (!latest || std::max(now_, life.job->begin.value_or(now_)) <= *latest) return std::nullopt;
  engine_.end(now_, life.job->id, Ending::kOtherwise);
  return "NeverFits";
}

void Player::fact(const Cancel& cancel) {
  for (const std::size_t index : named(cancel.job)) {
    if (!is_over(lives_[index])) finish(lives_[index], Stage::kCancelled, "");
  }
}

void Player::fact(const Checkpoint& checkpoint) {
  for (const std::size_t index : named(checkpoint.job)) {
    Life& one = lives_[index];
    if (one.stage == Stage::kRunning || one.stage == Stage::kTerminating) save(one, now_);
  }
}

void Player::fact(const NodeDown& down) {
  if (!healthy_[down.node]) return;
  healthy_[down.node] = false;
  engine_.node(now_, down.node, false);
  std::vector<std::size_t> lost;
  for (std::size_t i = 0; i < lives_.size(); ++i) {
    if (is_active(lives_[i].shares, down.node)) lost.push_back(i);
  }
  lose_node(down.node, lost);
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

void Player::fact(const Hold& hold) { set_held(hold.job, true); }

void Player::fact(const Release& release) { set_held(release.job, false); }

void Player::set_held(const std::string& id, bool held) {
  for (const std::size_t index : named(id)) {
    Life& one = lives_[index];
    if (one.stage != Stage::kPending || one.is_held == held) continue;
    one.is_held = held;
    engine_.waits(now_, one.job->id, {one.is_held, one.depends});
  }
}

void Player::fact(const Throttle& throttle) {
  engine_.throttle(now_, throttle.array, throttle.limit);
}

void Player::fact(const SetFeatures& change) {
  engine_.features(now_, change.node, change.features);
}

void Player::fact(const NodeRefuses& refusal) {
  for (const std::size_t index : named(refusal.job)) {
    if (!is_active(lives_[index].shares, refusal.node)) continue;
    engine_.refuse(now_, lives_[index].job->id, refusal.node);
    lose_node(refusal.node, {index});
  }
}

void Player::lose_node(const std::string& node, std::vector<std::size_t> jobs) {
  std::ranges::sort(jobs, {}, [this](std::size_t index) {
    const Life& one = lives_[index];
    return std::tuple(one.job->preemptible, -one.job->priority, one.start, one.submitted, index);
  });
  for (const std::size_t index : jobs) {
    Life& one = lives_[index];
    if (!swap(one, node)) interrupt(one, Requeue::kNodeFailed, "NodeFailed");
  }
}

bool Player::swap(Life& life, const std::string& node) {
  if (life.stage != Stage::kRunning || !life.job->requeue) return false;
  const auto next = engine_.swap(now_, life.job->id, node);
  if (!next) return false;
  keep_saved_work(life);
  life.start = now_;
  life.shares = next->shares;
  std::ranges::sort(life.shares);
  return true;
}

std::vector<std::size_t> Player::named(const std::string& name) const {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < lives_.size(); ++i) {
    const Job& job = *lives_[i].job;
    if (job.id == name || job.array_id == name) found.push_back(i);
  }
  return found;
}

void Player::resolve_dependencies() {
  bool again = true;
  while (again) {  // D6 goes on along the chain
    again = false;
    for (Life& one : lives_) {
      if (one.depends && one.stage == Stage::kPending) again = resolve(one) || again;
    }
  }
}

/// Whether the job ended by it.
bool Player::resolve(Life& life) {
  std::size_t met = 0;
  std::size_t never = 0;
  for (Part& part : life.parts) {
    const Outlook found = part.is_met ? Outlook::kMet : outlook(life, part);
    part.is_met = found == Outlook::kMet;
    if (found == Outlook::kMet) ++met;
    if (found == Outlook::kNever) ++never;
  }
  const std::size_t all = life.parts.size();
  if (life.job->any_is_enough ? met > 0 : met == all) {
    life.depends = false;
    engine_.waits(now_, life.job->id, {life.is_held, false});
    return false;
  }
  if (life.job->any_is_enough ? never < all : never == 0) return false;
  finish(life, Stage::kCancelled, "DependencyNeverMet");
  return true;
}

/// Rule D1 for one part; D5 for arrays.
Player::Outlook Player::outlook(const Life& life, const Part& part) const {
  if (part.on.kind == Depends::kSingleton) {
    for (const Life& other : lives_) {
      if (&other == &life) break;
      const bool same =
          name_of(*other.job) == name_of(*life.job) && other.job->user == life.job->user;
      if (same && !is_over(other)) return Outlook::kOpen;
    }
    return Outlook::kMet;
  }
  const auto jobs = named(part.on.job);
  std::vector<Outlook> found;
  for (const std::size_t index : jobs) found.push_back(outlook(part.on, lives_[index]));
  if (part.on.kind == Depends::kAfterNotOk) return outlook_of_failure(jobs);
  if (std::ranges::count(found, Outlook::kNever) > 0) return Outlook::kNever;
  return std::ranges::count(found, Outlook::kOpen) > 0 ? Outlook::kOpen : Outlook::kMet;
}

Player::Outlook Player::outlook(const Dependency& on, const Life& other) const {
  switch (on.kind) {
    case Depends::kAfter:
      return other.has_started || is_over(other) ? Outlook::kMet : Outlook::kOpen;
    case Depends::kAfterOk:
      if (!is_over(other)) return Outlook::kOpen;
      return other.has_completed ? Outlook::kMet : Outlook::kNever;
    case Depends::kAfterAny:
    case Depends::kAfterNotOk:
    case Depends::kSingleton:
      return is_over(other) ? Outlook::kMet : Outlook::kOpen;
  }
  return Outlook::kOpen;
}

/// afternotok: it has started once, is over, and has not completed. An array has started when all
/// its tasks have, so one that was removed before its start decides.
Player::Outlook Player::outlook_of_failure(const std::vector<std::size_t>& jobs) const {
  bool is_open = false;
  bool has_failed = false;
  for (const std::size_t index : jobs) {
    const Life& one = lives_[index];
    if (is_over(one) && !one.has_started) return Outlook::kNever;
    is_open = is_open || !is_over(one);
    has_failed = has_failed || !one.has_completed;
  }
  if (is_open) return Outlook::kOpen;
  return has_failed ? Outlook::kMet : Outlook::kNever;
}

}  // namespace artel::scenario
