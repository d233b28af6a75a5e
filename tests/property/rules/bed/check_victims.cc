// Rules V and A: who may be told to leave, and for whom.
#include <algorithm>
#include <tuple>

#include "property/rules/bed/checks.h"

namespace artel::rules {

using namespace scenario;

namespace {

/// The victim's run time that protects it from this claimant (A3).
Minute protection(const Moment& moment, const Track& victim, const Track& claimant) {
  const Policy& policy = moment.mirror.stream().policy;
  if (!moment.mirror.child_of_lca(claimant.queue, victim.queue)) return policy.protect_priority;
  return moment.kind == Kind::kFair ? policy.protect_fair : policy.protect_reclaim;
}

bool is_covered_at_lca(const Mirror& mirror, const Track& victim, const Track& claimant) {
  const auto theirs = mirror.child_of_lca(victim.queue, claimant.queue);
  return theirs && mirror.cover(*theirs).contains(victim.number);
}

bool may_evict(const Moment& moment, const Track& victim, const Track& claimant) {
  const Mirror& mirror = moment.mirror;
  if (mirror.now() - victim.start < protection(moment, victim, claimant)) return false;
  if (!mirror.child_of_lca(claimant.queue, victim.queue)) {
    return victim.spec.priority < claimant.spec.priority;
  }
  return !is_covered_at_lca(mirror, victim, claimant);
}

/// Each property holds if it holds for one of those who may have caused the signal.
template <typename Property>
bool for_some(const Moment& moment, const Property& property) {
  return std::ranges::any_of(
      moment.claimants, [&](const std::string& id) { return property(moment.mirror.job(id)); });
}

void check_victim(const Moment& moment, const Track& victim) {
  const Mirror& mirror = moment.mirror;
  const std::string what = moment.when + ": " + victim.spec.id + " is evicted";
  moment.ledger.expect("A2", victim.stage == Stage::kRunning, what + " but does not run");
  moment.ledger.expect("I2", victim.spec.preemptible, what + " though not preemptible");
  moment.ledger.expect("V3", !moment.claimants.empty(), what + " and nobody has a claim");
  if (moment.claimants.empty()) return;
  moment.ledger.expect(
      "I1", for_some(moment, [&](const Track& p) { return !is_covered_at_lca(mirror, victim, p); }),
      what + " though covered");
  moment.ledger.expect("A3",
                       for_some(moment,
                                [&](const Track& p) {
                                  return mirror.now() - victim.start >=
                                         protection(moment, victim, p);
                                }),
                       what + " before its minimum run time");
  moment.ledger.expect("V2",
                       for_some(moment,
                                [&](const Track& p) {
                                  return mirror.child_of_lca(p.queue, victim.queue).has_value() ||
                                         victim.spec.priority < p.spec.priority;
                                }),
                       what + " by one of its own pool of no higher priority");
}

/// Rule V1 on the final state: own jobs that p outranks and drove out count as gone (step 3).
void check_right(const Moment& moment, const Track& p, const std::vector<const Track*>& victims) {
  const Mirror& mirror = moment.mirror;
  if (moment.kind == Kind::kFair) return;
  for (const Track* victim : victims) {
    const auto mine = mirror.child_of_lca(p.queue, victim->queue);
    if (!mine) continue;
    std::int64_t use = mirror.use(*mine) + mirror.charge(p, mirror.smallest(p));
    for (const Track& job : mirror.jobs()) {
      if (job.stage != Stage::kRunning || !mirror.is_below(job.queue, *mine)) continue;
      const bool gone = std::ranges::find(victims, &job) != victims.end();
      const bool outranked = mirror.pool(job.queue) == mirror.pool(p.queue) &&
                             job.spec.preemptible && job.spec.priority < p.spec.priority;
      if (gone || outranked) use -= mirror.charge(job);
    }
    moment.ledger.expect("V1", use <= mirror.guarantee(*mine),
                         moment.when + ": " + p.spec.id + " reclaims beyond its guarantee");
  }
}

/// Rule V5 where only room and limits count: without a victim p would lack room or a check.
void check_needed(const Moment& moment, const Track& p, const std::vector<const Track*>& victims) {
  if (!is_plain(moment.kind) || !moment.after.planned.empty()) return;
  const Mirror& mirror = moment.mirror;
  if (std::ranges::any_of(mirror.jobs(), &Track::claims)) return;
  std::int64_t free = 0;
  for (const Node& node : mirror.stream().nodes) {
    if (mirror.healthy(node.name) && mirror.is_empty(node.name)) ++free;
  }
  std::int64_t gained = 0;
  for (const Track* victim : victims) gained += static_cast<std::int64_t>(victim->shares.size());
  for (const Track* victim : victims) {
    const auto part = static_cast<std::int64_t>(victim->shares.size());
    const bool room = free + gained - part >= mirror.smallest(p);
    // Without limits the only quota check is that all teams together fit the cluster.
    std::int64_t all = mirror.charge(p, mirror.smallest(p));
    for (const std::size_t child : mirror.tree().front().children) all += mirror.use(child);
    for (const Track* other : victims) all -= other == victim ? 0 : mirror.charge(*other);
    const bool quota = all <= mirror.capacity();
    moment.ledger.expect("V5", !room || !quota,
                         moment.when + ": " + victim->spec.id + " need not leave for " + p.spec.id);
  }
  moment.ledger.expect("V3", free + gained >= mirror.smallest(p),
                       moment.when + ": " + p.spec.id + " evicts and still lacks room");
}

/// Rule P1: with the room there is, nobody had to leave.
void check_no_room(const Moment& moment, const Track& p) {
  if (!is_plain(moment.kind) || !moment.after.planned.empty()) return;
  const Mirror& mirror = moment.mirror;
  if (std::ranges::any_of(mirror.jobs(), &Track::claims)) return;
  const bool allowed = passes_limits(mirror, p, mirror.smallest(p)) &&
                       !fills_the_cluster(mirror, p, mirror.smallest(p));
  const auto roomy = static_cast<std::int64_t>(mirror.roomy(p).size());
  moment.ledger.expect("P1", !allowed || roomy < mirror.smallest(p),
                       moment.when + ": " + p.spec.id + " evicts though it has room");
}

auto damage(const Mirror& mirror, const Track& victim) {
  return std::tuple(victim.spec.priority, mirror.lost_work(victim), -victim.start,
                    -static_cast<std::int64_t>(victim.number));
}

/// Rule V4 among single-node borrowers of one team: who costs least goes.
void check_cheapest(const Moment& moment, const Track& p,
                    const std::vector<const Track*>& victims) {
  if (!is_plain(moment.kind) || victims.size() != 1) return;
  const Mirror& mirror = moment.mirror;
  const Track& victim = *victims.front();
  if (victim.shares.size() != 1 || mirror.smallest(p) != 1) return;
  for (const Track& other : mirror.jobs()) {
    if (other.stage != Stage::kRunning || other.queue != victim.queue) continue;
    if (other.number == victim.number || other.shares.size() != 1 || !other.spec.preemptible) {
      continue;
    }
    if (!may_evict(moment, other, p)) continue;
    moment.ledger.expect("V4", damage(mirror, victim) < damage(mirror, other),
                         moment.when + ": " + other.spec.id + " costs less than " + victim.spec.id);
  }
}

/// Rule F3: who has no more than its entitlement is no victim of it.
void check_fair(const Moment& moment, const Track& p, const std::vector<const Track*>& victims) {
  if (moment.kind != Kind::kFair) return;
  const Mirror& mirror = moment.mirror;
  std::int64_t wasted = 0;
  for (const Track* victim : victims) {
    const std::size_t theirs = top_of(mirror, *victim);
    if (theirs == top_of(mirror, p)) continue;
    wasted += mirror.charge(*victim);
    const double entitled = moment.after.entitlement.at(mirror.tree()[theirs].path);
    moment.ledger.expect("F3", static_cast<double>(mirror.use(theirs)) > entitled - 1e-6,
                         moment.when + ": " + victim->spec.id + " of a team at its entitlement");
  }
  const auto most = mirror.stream().policy.fair_waste_factor *
                    static_cast<double>(mirror.charge(p, mirror.smallest(p)));
  moment.ledger.expect("F3", static_cast<double>(wasted) <= most + 1e-6,
                       moment.when + ": " + p.spec.id + " destroys too much");
}

}  // namespace

void check_victims(const Moment& moment, const std::vector<std::string>& names) {
  std::vector<const Track*> victims;
  for (const std::string& name : names) victims.push_back(&moment.mirror.job(name));
  for (const Track* victim : victims) check_victim(moment, *victim);
  if (moment.claimants.size() != 1) return;
  const Track& p = moment.mirror.job(*moment.claimants.begin());
  check_right(moment, p, victims);
  check_needed(moment, p, victims);
  check_no_room(moment, p);
  check_cheapest(moment, p, victims);
  check_fair(moment, p, victims);
  const bool within =
      moment.mirror.within_path(p, moment.mirror.charge(p, moment.mirror.smallest(p)));
  moment.ledger.expect("A4", within || !is_backing_off(moment.mirror, p),
                       moment.when + ": " + p.spec.id + " evicts during its back-off");
}

}  // namespace artel::rules
