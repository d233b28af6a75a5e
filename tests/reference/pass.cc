// The walk, rule by rule.
#include "reference/pass.h"

#include <algorithm>
#include <set>

#include "reference/eligible.h"
#include "reference/eviction.h"
#include "reference/order.h"
#include "reference/quota.h"
#include "reference/reservations.h"

namespace artel::reference {

namespace {

using scenario::Decision;
using scenario::Signal;

struct Pass {
  World& world;
  std::vector<Decision> decisions;
  std::vector<Planned> plans;
  std::map<std::size_t, std::int64_t> plans_of_team;
  std::set<std::size_t> stopped;  // strict queues behind a job that did not start (Q7)
};

void start_job(Pass& pass, Job& job, const std::vector<Share>& shares) {
  World& world = pass.world;
  job.stage = Stage::kRunning;
  job.start = world.now;
  job.saved_at = world.now;
  job.limit_end = end_of_run(job, world.now);
  if (job.spec.deadline) job.limit_end = std::min(*job.limit_end, *job.spec.deadline);
  job.shares = shares;
  job.charge = charge_for(world, job, shares);
  job.needed = static_cast<std::int64_t>(shares.size()) - job.spec.spares;
  job.reason.clear();
  pass.decisions.emplace_back(scenario::Start{job.spec.id, shares});
}

/// Rule A1: the claim; it starts at once if nothing is left to wait for.
void claim_for(Pass& pass, Job& job, const std::string& flavor, const Eviction& plan) {
  World& world = pass.world;
  for (const std::size_t victim : plan.victims) {
    signal_job(world, world.jobs[victim]);
    pass.decisions.emplace_back(Signal{world.jobs[victim].spec.id});
  }
  job.stage = Stage::kClaiming;
  job.shares = plan.shares;
  job.charge = charge_of(world, job, {smallest_size(job), flavor});
  job.claim_number = ++world.claims_made;
  job.reason = "Preempting";
  if (can_start(world, job)) start_job(pass, job, plan.shares);
}

/// Rule B3: the plan of p binds p's team, p's pool, and whoever is not within its child of the LCA.
bool binds(const World& world, const Planned& plan, const Job& later, const Amounts& charge) {
  const Job& p = world.jobs[plan.job];
  if (p.team == later.team || p.pool == later.pool) return true;
  const std::size_t lca = common_ancestor(world, p.pool, later.pool);
  const auto child = child_towards(world, lca, later.pool);
  return !child || !is_within(world, *child, charge);
}

std::vector<Planned> binding_plans(const Pass& pass, const Job& job, const Amounts& charge) {
  std::vector<Planned> binding;
  for (const Planned& plan : pass.plans) {
    if (binds(pass.world, plan, job, charge)) binding.push_back(plan);
  }
  return binding;
}

/// Beside all plans, else beside those that bind the job (B3).
std::optional<std::vector<Share>> place_now(const Pass& pass, const Job& job,
                                            const Variant& variant, const Amounts& charge) {
  const World& world = pass.world;
  Interval interval{.from = world.now, .end = end_of_run(job, world.now), .plans = pass.plans};
  if (auto shares = place(world, job, variant, rooms(world, interval))) return shares;
  interval.plans = binding_plans(pass, job, charge);
  return place(world, job, variant, rooms(world, interval));
}

bool in_backoff(const World& world, const Job& job) { return world.now < job.backoff_until; }

/// The start loops: G3, then G4's scopes, then the flavors.
bool try_start(Pass& pass, Job& job) {
  const World& world = pass.world;
  for (const std::int64_t size : sizes_of(job)) {
    for (const bool only_within : {true, false}) {
      for (const std::string& flavor : job.spec.flavors) {
        const Amounts charge = charge_of(world, job, {size, flavor});
        const bool within = is_within_path(world, job, charge);
        if ((only_within || in_backoff(world, job)) && !within) continue;
        if (quota_failure(world, job, charge, false)) continue;
        const auto shares = place_now(pass, job, {size, flavor}, charge);
        if (!shares) continue;
        start_job(pass, job, *shares);
        return true;
      }
    }
  }
  return false;
}

bool ever_within(const World& world, const Job& job) {
  for (const std::int64_t size : sizes_of(job)) {
    for (const std::string& flavor : job.spec.flavors) {
      if (is_within_path(world, job, charge_of(world, job, {size, flavor}))) return true;
    }
  }
  return false;
}

std::optional<std::pair<std::string, Eviction>> find_eviction(const Pass& pass, const Job& job,
                                                              const std::vector<Planned>& plans,
                                                              bool protect) {
  for (const std::string& flavor : job.spec.flavors) {
    const Amounts charge = charge_of(pass.world, job, {smallest_size(job), flavor});
    if (in_backoff(pass.world, job) && !is_within_path(pass.world, job, charge)) continue;
    if (auto plan = make_eviction(pass.world, job, flavor, plans, protect)) {
      return std::pair(flavor, *plan);
    }
  }
  return std::nullopt;
}

/// Variants that fail no quota check of a reason of their own.
std::vector<Variant> allowed_variants(const World& world, const Job& job) {
  std::vector<Variant> allowed;
  for (const std::int64_t size : sizes_of(job)) {
    for (const std::string& flavor : job.spec.flavors) {
      const auto failure = quota_failure(world, job, charge_of(world, job, {size, flavor}), false);
      if (!failure || failure->code.empty()) allowed.push_back({size, flavor});
    }
  }
  return allowed;
}

/// Whether some variant that passes all quota checks could be placed if there were no plans.
bool could_start(const World& world, const Job& job, bool anywhere = false) {
  const auto room = rooms(world, {.from = world.now, .end = end_of_run(job, world.now)});
  for (const Variant& variant : allowed_variants(world, job)) {
    if (quota_failure(world, job, charge_of(world, job, variant), false)) continue;
    if (place(world, job, variant, room, anywhere)) return true;
  }
  return false;
}

/// Rule Z1 behind Backoff.
std::string reason_for(const Pass& pass, const Job& job) {
  const World& world = pass.world;
  if (allowed_variants(world, job).empty()) {
    const Amounts charge = charge_of(world, job, {smallest_size(job), job.spec.flavors.front()});
    return quota_failure(world, job, charge, false)->code;
  }
  if (find_eviction(pass, job, {}, false) && !find_eviction(pass, job, {}, true)) {  // A3
    return "Protected";
  }
  if (could_start(world, job)) return "Backfill";
  World unreserved = world;
  unreserved.reservations.clear();
  if (could_start(unreserved, job)) return "Reservation";
  if (could_start(unreserved, job, true)) return "Topology";
  return "Resources";
}

bool lacks_only_room(const std::string& reason) {
  return reason == "Protected" || reason == "Backfill" || reason == "Reservation" ||
         reason == "Topology" || reason == "Resources";
}

/// The times at which something ends, rule B2.
std::set<Minute> ends(const Pass& pass, const std::map<std::size_t, Minute>& leaving) {
  const World& world = pass.world;
  std::set<Minute> times;
  const auto add = [&](std::optional<Minute> time) {
    if (time && *time > world.now) times.insert(*time);
  };
  for (const Job& job : world.jobs) {
    if (job.stage == Stage::kRunning || job.stage == Stage::kSignalled) add(job.limit_end);
    if (job.stage == Stage::kSignalled) add(job.grace_end);
    if (job.stage == Stage::kClaiming) add(end_of_run(job, expected_start(world, job)));
  }
  for (const auto& [number, time] : leaving) add(time);
  for (const Planned& plan : pass.plans) add(plan.end);
  for (const Reservation& one : world.reservations) {
    if (!one.spec.spare) add(one.spec.end);
  }
  return times;
}

/// For a job whose reason is Protected: when those can be gone that are only protected (B2).
std::map<std::size_t, Minute> leaving_for(const Pass& pass, const Job& job) {
  std::map<std::size_t, Minute> leaving;
  if (job.reason != "Protected") return leaving;
  for (const std::string& flavor : job.spec.flavors) {
    for (const auto& [number, time] : protected_ends(pass.world, job, flavor)) {
      const auto [entry, is_new] = leaving.emplace(number, time);
      if (!is_new) entry->second = std::min(entry->second, time);
    }
  }
  return leaving;
}

/// Rule B2: the earliest time at which the job can be placed beside everything.
std::optional<Planned> plan_start(const Pass& pass, const Job& job) {
  const World& world = pass.world;
  const auto leaving = leaving_for(pass, job);
  for (const Minute time : ends(pass, leaving)) {
    const auto end = end_of_run(job, time);
    const auto room =
        rooms(world, {.from = time, .end = end, .plans = pass.plans, .leaving = leaving});
    for (const Variant& variant : allowed_variants(world, job)) {
      if (auto shares = place(world, job, variant, room)) {
        return Planned{job.number, time, end, *shares};
      }
    }
  }
  return std::nullopt;
}

void plan_if_due(Pass& pass, Job& job) {
  const auto& policy = pass.world.policy;
  std::int64_t most = policy.reservations_per_team;
  if (is_starving(pass.world, job)) most = std::max(most, policy.starving_per_team);
  std::int64_t& made = pass.plans_of_team[job.team];
  const bool due = made < most;
  if (!due && !job.spec.deadline) return;
  const auto plan = plan_start(pass, job);
  if (!plan) return;
  const auto latest = latest_start(job.spec);
  if (latest && plan->start > *latest) {  // W5
    if (job.reason != "Protected") job.reason = "DeadlineUnreachable";
    return;
  }
  if (!due) return;
  ++made;
  job.planned = plan->start;
  pass.plans.push_back(*plan);
}

/// Rule J2. A slot that a victim gives back counts from the next pass on.
bool has_slot(const Pass& pass, const Job& job) {
  const World& world = pass.world;
  const auto throttle = world.throttles.find(job.spec.array_id);
  if (throttle == world.throttles.end()) return true;
  std::int64_t taken = tasks_holding(world, job);
  for (const Job& other : world.jobs) {
    if (other.spec.array_id == job.spec.array_id && other.was_just_evicted) ++taken;
  }
  for (const Planned& plan : pass.plans) {
    if (pass.world.jobs[plan.job].spec.array_id == job.spec.array_id) ++taken;
  }
  return taken < throttle->second;
}

/// Rule Q7.
bool is_stopped(const Pass& pass, const Job& job) {
  return std::ranges::any_of(path_of(pass.world, job.quota),
                             [&](std::size_t quota) { return pass.stopped.contains(quota); });
}

void stop_queues_of(Pass& pass, const Job& job) {
  for (const std::size_t quota : path_of(pass.world, job.quota)) {
    if (pass.world.quotas[quota].spec.strict_fifo) pass.stopped.insert(quota);
  }
}

void treat(Pass& pass, Job& job) {
  job.planned.reset();
  if (is_stopped(pass, job)) {
    job.reason = "StrictOrder";
    return;
  }
  if (try_start(pass, job)) return;
  stop_queues_of(pass, job);
  if (in_backoff(pass.world, job) && !ever_within(pass.world, job)) {
    job.reason = "Backoff";
    return;
  }
  if (const auto found = find_eviction(pass, job, pass.plans, true)) {
    claim_for(pass, job, found->first, found->second);
    return;
  }
  job.reason = reason_for(pass, job);
  if (lacks_only_room(job.reason)) plan_if_due(pass, job);
}

/// W1, J4: tasks without a slot stand outside.
void leave_out_throttled(const Pass& pass, std::vector<bool>& treated) {
  for (Job& job : pass.world.jobs) {
    const bool is_ordinary = find_reservation(pass.world, job.spec.reservation) == nullptr;
    if (job.stage != Stage::kPending || treated[job.number] || !is_ordinary) continue;
    if (has_slot(pass, job)) continue;
    treated[job.number] = true;
    job.reason = "ArrayThrottle";
    job.planned.reset();
  }
}

/// Rule O0, first half.
void start_claims(Pass& pass) {
  std::vector<Job*> claims;
  for (Job& job : pass.world.jobs) {
    if (job.stage == Stage::kClaiming) claims.push_back(&job);
  }
  std::ranges::sort(claims, {}, &Job::claim_number);
  for (Job* job : claims) {
    if (can_start(pass.world, *job)) {
      start_job(pass, *job, std::vector<Share>(job->shares));
    } else {
      stop_queues_of(pass, *job);
    }
  }
}

/// Rule O0, second half.
void start_in_reservations(Pass& pass) {
  for (const std::size_t number : reservation_jobs(pass.world)) {
    Job& job = pass.world.jobs[number];
    job.planned.reset();
    if (!has_slot(pass, job)) {
      job.reason = "ArrayThrottle";
    } else if (const auto shares = place_inside(pass.world, job)) {
      start_job(pass, job, *shares);
    } else {
      job.reason = "Reservation";
    }
  }
}

}  // namespace

/// GPUs by what is held, cores where they were stated (M4).
Amounts charge_for(const World& world, const Job& job, const std::vector<Share>& shares) {
  Amounts charge;
  for (const Share& share : shares) {
    if (milli_of(share) == 0) continue;
    charge[node_named(world, share.node).spec.flavor] += milli_of(share);
  }
  const auto size = static_cast<std::int64_t>(shares.size()) - job.spec.spares;
  const std::int64_t cores =
      amount(charge_of(world, job, {size, job.spec.flavors.front()}), scenario::kCores);
  if (cores > 0) charge[scenario::kCores] = cores;
  return charge;
}

void signal_job(World& world, Job& victim) {
  ++victim.evictions;
  victim.evicted_at = world.now;
  const Minute wait = world.policy.requeue_backoff
                      << std::min<std::int64_t>(victim.evictions - 1, 30);
  victim.backoff_until = world.now + wait;
  victim.grace_end = world.now + victim.grace;
  victim.stage = victim.grace > 0 ? Stage::kSignalled : Stage::kGone;
  victim.was_just_evicted = victim.stage == Stage::kGone;
  if (victim.stage == Stage::kGone) {
    const auto ran = static_cast<double>(gpus_of(victim.charge) * (world.now - victim.start));
    for (const std::size_t quota : path_of(world, victim.quota)) {
      world.gpu_minutes_used[quota] += ran;
    }
  }
}

std::vector<Decision> run_pass(World& world) {
  for (Job& job : world.jobs) job.was_just_evicted = false;
  Pass pass{.world = world};
  start_claims(pass);
  start_in_reservations(pass);
  std::vector<bool> treated(world.jobs.size(), false);
  for (Job& job : world.jobs) {  // W1
    if (job.stage != Stage::kPending) continue;
    const std::string reason = obstacle(world, job);
    if (reason.empty()) continue;
    treated[job.number] = true;
    job.reason = reason;
    job.planned.reset();
  }
  leave_out_throttled(pass, treated);
  while (const auto next = next_job(world, treated)) {
    treated[*next] = true;
    treat(pass, world.jobs[*next]);
    leave_out_throttled(pass, treated);
  }
  return pass.decisions;
}

}  // namespace artel::reference
