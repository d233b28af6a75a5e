// Rules V1 to V6, F3.
#include "reference/eviction.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "reference/eligible.h"
#include "reference/quota.h"

namespace artel::reference {

namespace {

constexpr double kRounding = 1e-9;

enum class Step { kOthers = 1, kOwn = 2, kBoth = 3 };  // of rule V3

/// One attempt to make a plan, in one step and one domain.
struct Attempt {
  World& world;
  const Job& job;
  Variant variant;
  Amounts charge;
  std::vector<Planned> plans;
  bool protect = true;
  Step step = Step::kOthers;
  std::optional<std::string> domain;                    // a leaf or block
  std::map<std::string, std::vector<double>> entitled;  // F1 before the plan
  std::set<std::size_t> above_entitlement;              // quotas with use > E before it
  std::set<std::size_t> covered;                        // at the job's pool, before it
  bool is_covered = false;                              // the job, once it has its claim
  std::set<std::size_t> own;                            // V2's jobs
  std::set<std::size_t> others;                         // borrowed work of other pools
};

bool ran(const Attempt& attempt, const Job& victim, Minute least) {
  return !attempt.protect || attempt.world.now - victim.start >= least;
}

/// Running, preemptible, not in a reservation: what V1, V2 and F3 have in common.
bool may_leave(const World& world, const Job& victim) {
  return victim.stage == Stage::kRunning && victim.spec.preemptible && !is_inside(world, victim);
}

/// Rule V2.
bool is_own_victim(const Attempt& attempt, const Job& victim) {
  if (!attempt.is_covered && attempt.covered.contains(victim.number)) return false;
  return may_leave(attempt.world, victim) && victim.pool == attempt.job.pool &&
         victim.spec.priority < attempt.job.spec.priority &&
         ran(attempt, victim, attempt.world.policy.protect_priority);
}

/// V1 and F3: another pool's, not in cover(nv).
bool is_borrowed_elsewhere(const Attempt& attempt, const Job& victim) {
  const World& world = attempt.world;
  if (!may_leave(world, victim) || victim.pool == attempt.job.pool) return false;
  const std::size_t lca = common_ancestor(world, attempt.job.pool, victim.pool);
  const auto nv = child_towards(world, lca, victim.pool);
  return nv && !cover(world, *nv).contains(victim.number);
}

std::size_t np_of(const Attempt& attempt, const Job& victim) {
  const std::size_t lca = common_ancestor(attempt.world, attempt.job.pool, victim.pool);
  return *child_towards(attempt.world, lca, attempt.job.pool);
}

std::size_t nv_of(const Attempt& attempt, const Job& victim) {
  const std::size_t lca = common_ancestor(attempt.world, attempt.job.pool, victim.pool);
  return *child_towards(attempt.world, lca, victim.pool);
}

/// use(np) with p, in the state with the victims gone. Step 3: without V2's jobs.
std::int64_t use_after(const Attempt& attempt, std::size_t np, const std::string& resource) {
  const World& world = attempt.world;
  std::int64_t sum = use(world, np, resource) + amount(attempt.charge, resource);
  if (attempt.step == Step::kBoth) {
    for (const std::size_t own : attempt.own) {
      const Job& job = world.jobs[own];
      if (is_active(job)) sum -= amount(job.charge, resource);
    }
  }
  return sum;
}

/// Rule V1.
bool may_reclaim(const Attempt& attempt, const Job& victim) {
  if (!ran(attempt, victim, attempt.world.policy.protect_reclaim)) return false;
  const std::size_t np = np_of(attempt, victim);
  return std::ranges::all_of(attempt.charge, [&](const auto& entry) {
    return use_after(attempt, np, entry.first) <=
           amount(attempt.world.quotas[np].guarantee, entry.first);
  });
}

/// Rule F3, but for its waste factor.
bool may_level(const Attempt& attempt, const Job& victim) {
  const World& world = attempt.world;
  if (!world.policy.fair_preemption) return false;
  if (world.now - waits_since(attempt.job) < world.policy.fair_patience) return false;
  if (!ran(attempt, victim, world.policy.protect_fair)) return false;
  if (!attempt.above_entitlement.contains(nv_of(attempt, victim))) return false;
  const std::size_t np = np_of(attempt, victim);
  return std::ranges::all_of(attempt.charge, [&](const auto& entry) {
    return static_cast<double>(use_after(attempt, np, entry.first)) <=
           attempt.entitled.at(entry.first)[np] + kRounding;
  });
}

/// W4: the victim would leave in time for the latest start.
bool leaves_in_time(const Attempt& attempt, const Job& victim) {
  const auto latest = latest_start(attempt.job.spec);
  return !latest || attempt.world.now + victim.grace <= *latest;
}

bool may_take(const Attempt& attempt, const Job& victim) {
  if (!leaves_in_time(attempt, victim)) return false;
  if (victim.pool == attempt.job.pool) return true;
  return may_reclaim(attempt, victim) || may_level(attempt, victim);
}

/// The last grace of the victims.
Minute last_grace(const Attempt& attempt) {
  Minute last = attempt.world.now;
  for (const Job& job : attempt.world.jobs) {
    if (job.assumed_gone) last = std::max(last, attempt.world.now + job.grace);
  }
  return last;
}

/// When p starts on these nodes: after the victims, and who was signalled there before or holds
/// its licenses.
Minute start_on(const Attempt& attempt, const std::vector<Share>& shares) {
  Job claim = attempt.job;
  claim.shares = shares;
  return std::max(last_grace(attempt), expected_start(attempt.world, claim));
}

bool in_domain(const Attempt& attempt, const Node& node) {
  if (!attempt.domain) return true;
  const bool leaf = attempt.job.spec.topology == scenario::Topology::kLeaf;
  return (leaf ? node.spec.leaf : node.spec.block) == *attempt.domain;
}

/// V3: signalled jobs count as gone, claims and planned nodes as taken; beside reservations for
/// the time after the start.
std::optional<std::vector<Share>> place_after(const Attempt& attempt) {
  const World& world = attempt.world;
  Minute start = last_grace(attempt);
  while (true) {
    std::vector<Room> room = rooms(world, {.from = world.now,
                                           .end = end_of_run(attempt.job, start),
                                           .plans = attempt.plans,
                                           .signalled_gone = true,
                                           .plans_at_any_time = true});
    keep_only(world, room, [&](const Node& node) { return in_domain(attempt, node); });
    const auto shares = place(world, attempt.job, attempt.variant, room);
    if (!shares || start_on(attempt, *shares) <= start) return shares;
    start = start_on(attempt, *shares);
  }
}

std::optional<Failure> failure_after(const Attempt& attempt) {
  return quota_failure(attempt.world, attempt.job, attempt.charge, true);
}

/// Rule F3: GPUs of victims that only fair share gives are at most so many times p's.
bool wastes(const Attempt& attempt, const std::vector<std::size_t>& victims) {
  std::int64_t evicted = 0;
  for (const std::size_t number : victims) {
    const Job& victim = attempt.world.jobs[number];
    if (victim.pool == attempt.job.pool || may_reclaim(attempt, victim)) continue;
    evicted += gpus_of(victim.charge);
  }
  return static_cast<double>(evicted) >
         attempt.world.policy.fair_waste_factor * static_cast<double>(gpus_of(attempt.charge));
}

/// All conditions on the state in which the victims are gone.
bool holds(const Attempt& attempt, const std::vector<std::size_t>& victims) {
  if (failure_after(attempt) || !place_after(attempt)) return false;
  const auto latest = latest_start(attempt.job.spec);
  if (latest && start_on(attempt, *place_after(attempt)) > *latest) return false;
  return std::ranges::all_of(
      victims, [&](std::size_t number) { return may_take(attempt, attempt.world.jobs[number]); });
}

/// Rule V4, smallest first. V2's jobs come before the others where both are taken.
auto victim_key(const Attempt& attempt, const Job& victim) {
  const World& world = attempt.world;
  const bool own = victim.pool == attempt.job.pool;
  const std::size_t lca = common_ancestor(world, attempt.job.pool, victim.pool);
  return std::tuple(!own, own ? 0 : world.quotas[lca].depth,
                    own ? 0.0 : -over_by_weight(world, victim.team), victim.spec.priority,
                    lost_work(world, victim), -victim.start,
                    -static_cast<std::int64_t>(victim.number));
}

/// V4: below the node whose quota check fails; else on nodes of the domain tried and of the flavor
/// that the job may use (N3).
bool helps(const Attempt& attempt, const Job& victim, const std::optional<Failure>& failure) {
  if (failure) return is_below(attempt.world, victim.quota, failure->quota);
  return std::ranges::any_of(victim.shares, [&](const Share& share) {
    const Node& node = node_named(attempt.world, share.node);
    return in_domain(attempt, node) && node.spec.flavor == attempt.variant.flavor &&
           admits_node(attempt.job, node);
  });
}

std::optional<std::size_t> next_victim(const Attempt& attempt) {
  const auto failure = failure_after(attempt);
  std::optional<std::size_t> best;
  for (const Job& victim : attempt.world.jobs) {
    const bool own = attempt.own.contains(victim.number) && attempt.step != Step::kOthers;
    const bool other = attempt.others.contains(victim.number) && attempt.step != Step::kOwn;
    if ((!own && !other) || victim.assumed_gone || !helps(attempt, victim, failure)) continue;
    if (!may_take(attempt, victim)) continue;
    if (!best || victim_key(attempt, victim) < victim_key(attempt, attempt.world.jobs[*best])) {
      best = victim.number;
    }
  }
  return best;
}

/// Rule V5, until nobody can be put back.
void put_back(Attempt& attempt, std::vector<std::size_t>& victims) {
  for (std::size_t i = victims.size(); i-- > 0;) {
    std::vector<std::size_t> fewer = victims;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
    attempt.world.jobs[victims[i]].assumed_gone = false;
    if (!fewer.empty() && holds(attempt, fewer)) {
      victims = std::move(fewer);
      i = victims.size();
    } else {
      attempt.world.jobs[victims[i]].assumed_gone = true;
    }
  }
}

/// V4 and V5 in one domain.
std::optional<Eviction> attempt_eviction(Attempt& attempt) {
  std::vector<std::size_t> victims;
  while (!holds(attempt, victims)) {
    const auto next = next_victim(attempt);
    if (!next) break;
    attempt.world.jobs[*next].assumed_gone = true;
    victims.push_back(*next);
  }
  std::optional<Eviction> plan;
  if (!victims.empty() && holds(attempt, victims)) {
    put_back(attempt, victims);
    if (!wastes(attempt, victims)) plan = Eviction{victims, *place_after(attempt)};
  }
  for (Job& job : attempt.world.jobs) job.assumed_gone = false;
  return plan;
}

/// Rule V6, the cheapest first.
auto cost(const World& world, const Eviction& plan, const std::string& domain) {
  std::int64_t top = world.jobs[plan.victims.front()].spec.priority;
  std::int64_t lost = 0;
  for (const std::size_t number : plan.victims) {
    top = std::max(top, world.jobs[number].spec.priority);
    lost += lost_work(world, world.jobs[number]);
  }
  return std::tuple(top, lost, plan.victims.size(), domain);
}

/// The domains that V6 tries: those of the required level, else the cluster.
std::vector<std::optional<std::string>> domains_of(const World& world, const Job& job) {
  std::set<std::string> names;
  for (const Node& node : world.nodes) {
    const bool leaf = job.spec.topology == scenario::Topology::kLeaf;
    names.insert(leaf ? node.spec.leaf : node.spec.block);
  }
  if (job.spec.topology == scenario::Topology::kNone) return {std::nullopt};
  return {names.begin(), names.end()};
}

/// What the conditions compare with: the state before the plan.
void look_before(Attempt& attempt) {
  for (const auto& [resource, asked] : attempt.charge) {
    auto& entitled = attempt.entitled[resource];
    entitled = entitlements(attempt.world, resource);
    for (std::size_t quota = 1; quota < entitled.size(); ++quota) {
      const auto used = static_cast<double>(use(attempt.world, quota, resource));
      if (used > entitled[quota] + kRounding) attempt.above_entitlement.insert(quota);
    }
  }
  Job claim = attempt.job;
  claim.stage = Stage::kClaiming;
  claim.charge = attempt.charge;
  attempt.covered = cover(attempt.world, attempt.job.pool);
  attempt.is_covered = attempt.job.pool == kRoot ||
                       cover(attempt.world, attempt.job.pool, &claim).contains(attempt.job.number);
  for (const Job& job : attempt.world.jobs) {
    if (is_own_victim(attempt, job)) attempt.own.insert(job.number);
    if (is_borrowed_elsewhere(attempt, job)) attempt.others.insert(job.number);
  }
}

}  // namespace

std::map<std::size_t, Minute> protected_ends(World& world, const Job& job,
                                             const std::string& flavor) {
  const Variant variant{smallest_size(job), flavor};
  Attempt attempt{.world = world,
                  .job = job,
                  .variant = variant,
                  .charge = charge_of(world, job, variant),
                  .plans = {},
                  .protect = false};
  look_before(attempt);
  const scenario::Policy& policy = world.policy;
  std::map<std::size_t, Minute> ends;
  for (const std::size_t number : attempt.own) {
    const Job& victim = world.jobs[number];
    ends[number] = std::max(world.now, victim.start + policy.protect_priority) + victim.grace;
  }
  for (const std::size_t number : attempt.others) {
    const Job& victim = world.jobs[number];
    Minute free = world.now;
    if (may_reclaim(attempt, victim)) {
      free = std::max(free, victim.start + policy.protect_reclaim);
    } else if (may_level(attempt, victim)) {
      free = std::max(free, victim.start + policy.protect_fair);
    } else {
      continue;
    }
    ends[number] = free + victim.grace;
  }
  return ends;
}

std::optional<Eviction> make_eviction(World& world, const Job& job, const std::string& flavor,
                                      const std::vector<Planned>& plans, bool protect) {
  if (job.evicted_at == world.now) return std::nullopt;  // A7
  const Variant variant{smallest_size(job), flavor};
  Attempt attempt{.world = world,
                  .job = job,
                  .variant = variant,
                  .charge = charge_of(world, job, variant),
                  .plans = plans,
                  .protect = protect};
  look_before(attempt);
  for (const Step step : {Step::kOthers, Step::kOwn, Step::kBoth}) {
    attempt.step = step;
    std::optional<Eviction> best;
    std::string best_domain;
    for (const auto& domain : domains_of(world, job)) {
      attempt.domain = domain;
      const auto plan = attempt_eviction(attempt);
      const std::string name = domain.value_or("");
      if (plan && (!best || cost(world, *plan, name) < cost(world, *best, best_domain))) {
        best = plan;
        best_domain = name;
      }
    }
    if (best) return best;
  }
  return std::nullopt;
}

}  // namespace artel::reference
