// The interpreter behind the interface that the player drives.
#include "reference/reference.h"

#include <algorithm>

#include "reference/eligible.h"
#include "reference/eviction.h"
#include "reference/pass.h"
#include "reference/quota.h"
#include "reference/reservations.h"
#include "sim/scenario/features.h"

namespace artel::reference {

namespace {

using scenario::Beliefs;
using scenario::Case;
using scenario::Decision;

/// What a node states: its own guarantee, else the sum of its children's.
void derive_guarantee(World& world, std::size_t quota) {
  Quota& one = world.quotas[quota];
  Amounts sum;
  bool children_state = false;
  for (const std::size_t child : one.spec.children) {
    world.quotas[child].depth = one.depth + 1;
    derive_guarantee(world, child);
    children_state = children_state || world.quotas[child].states;
    for (const auto& [resource, value] : world.quotas[child].guarantee) sum[resource] += value;
  }
  one.states = quota != kRoot && (one.spec.guarantee || children_state);
  one.guarantee = one.spec.guarantee ? *one.spec.guarantee : sum;
}

std::size_t pool_of(const World& world, std::size_t quota) {
  for (const std::size_t one : path_of(world, quota)) {
    if (world.quotas[one].states) return one;
  }
  return kRoot;
}

std::size_t team_of(const World& world, std::size_t quota) {
  const auto path = path_of(world, quota);
  for (const std::size_t one : path) {
    if (world.quotas[one].spec.kind == scenario::QuotaKind::kTeam) return one;
  }
  return path.back();
}

/// GPUs count in thousandths (U1).
std::optional<Amounts> in_milli(std::optional<Amounts> amounts) {
  if (!amounts) return amounts;
  for (auto& [resource, value] : *amounts) {
    if (resource != scenario::kCores) value *= kDevice;
  }
  return amounts;
}

World make_world(const Case& scenario) {
  World world{.policy = scenario.policy, .licenses = scenario.licenses};
  for (const scenario::Quota& spec : scenario.tree) {
    Quota quota{.spec = spec};
    quota.spec.guarantee = in_milli(spec.guarantee);
    quota.spec.limit = in_milli(spec.limit);
    quota.spec.borrow = in_milli(spec.borrow);
    quota.spec.lend = in_milli(spec.lend);
    const auto usage = scenario.team_usage.find(spec.path);
    if (usage != scenario.team_usage.end()) quota.history = usage->second;
    world.quotas.push_back(quota);
  }
  derive_guarantee(world, kRoot);
  for (const scenario::Node& spec : scenario.nodes) {
    world.nodes.push_back({.spec = spec, .owner = find_quota(scenario, spec.owner)});
  }
  world.user_history = scenario.user_usage;
  return world;
}

/// Rule Q6: whether it could start on the empty, healthy cluster.
bool ever_fits(const World& world, const Job& job) {
  const auto words = scenario::feature_words(job.spec.features);  // N1
  if (!words) return false;
  for (const std::string& word : *words) {
    const bool known = std::ranges::any_of(world.nodes, [&](const Node& node) {
      return std::ranges::find(node.spec.features, word) != node.spec.features.end();
    });
    if (!known) return false;
  }
  World empty = world;
  empty.jobs.clear();
  empty.reservations.clear();
  for (Quota& quota : empty.quotas) quota.spec.budget.reset();
  for (Node& node : empty.nodes) node.healthy = true;
  const auto room = rooms(empty, {});
  for (const std::string& flavor : job.spec.flavors) {
    const Variant variant{smallest_size(job), flavor};
    if (!place(empty, job, variant, room)) continue;
    if (!job.spec.reservation.empty()) return true;
    const auto failure = quota_failure(empty, job, charge_of(empty, job, variant), false);
    if (!failure || failure->code.empty()) return true;
    if (failure->code == "LendLimit") return true;
  }
  return false;
}

/// Access lists on the whole path.
bool has_access(const World& world, const Job& job) {
  return std::ranges::all_of(path_of(world, job.quota), [&](std::size_t quota) {
    const auto& users = world.quotas[quota].spec.users;
    return !users || std::ranges::find(*users, job.spec.user) != users->end();
  });
}

class Reference : public scenario::Engine {
 public:
  explicit Reference(const Case& scenario) : case_(scenario), world_(make_world(scenario)) {}

  std::optional<std::string> submit(Minute now, const scenario::Job& spec) override {
    decay(world_, now);
    const std::size_t quota = *find_quota(case_, spec.queue);
    Job job{.spec = spec,
            .number = world_.jobs.size(),
            .quota = quota,
            .pool = pool_of(world_, quota),
            .team = team_of(world_, quota),
            .grace = grace_of(case_, spec),
            .submitted = now,
            .ready = std::max(now, spec.begin.value_or(now)),
            .pending_since = now};
    std::optional<std::string> refusal;
    if (!has_access(world_, job) || (!spec.reservation.empty() && !may_enter(world_, job))) {
      refusal = "AccessDenied";
    } else if (!ever_fits(world_, job)) {
      refusal = "NeverFits";
    }
    if (refusal) job.stage = Stage::kGone;
    if (spec.throttle) world_.throttles[spec.array_id] = *spec.throttle;
    world_.jobs.push_back(job);
    return refusal;
  }

  void end(Minute now, const std::string& id, scenario::Ending) override {
    decay(world_, now);
    Job& job = job_named(id);
    close_run(job);
    job.stage = Stage::kGone;
  }

  void requeue(Minute now, const std::string& id, scenario::Requeue why) override {
    decay(world_, now);
    Job& job = job_named(id);
    if (why == scenario::Requeue::kNodeFailed) {
      for (const Share& share : std::vector<Share>(job.shares)) {
        if (!node_named(world_, share.node).healthy) mark_node(world_, job, share.node);
      }
    }
    close_run(job);
    job.stage = Stage::kPending;
    job.pending_since = now;
  }

  void checkpoint(Minute now, const std::string& id, Minute at) override {
    decay(world_, now);
    job_named(id).saved_at = at;
  }

  void node(Minute now, const std::string& name, bool healthy) override {
    decay(world_, now);
    for (Node& one : world_.nodes) {
      if (one.spec.name == name) one.healthy = healthy;
    }
    if (healthy) return;
    for (Job& job : world_.jobs) {  // E2
      const bool on_it = std::ranges::find(job.shares, name, &Share::node) != job.shares.end();
      if (job.stage == Stage::kClaiming && on_it) drop_claim(job);
    }
  }

  void set_quota(Minute now, const scenario::SetQuota& change) override {
    decay(world_, now);
    scenario::Quota& spec = world_.quotas[*find_quota(case_, change.quota)].spec;
    if (change.guarantee) spec.guarantee = in_milli(change.guarantee);
    if (change.limit) spec.limit = in_milli(change.limit);
    if (change.borrow) spec.borrow = in_milli(change.borrow);
    if (change.lend) spec.lend = in_milli(change.lend);
    if (change.weight) spec.weight = *change.weight;
    derive_guarantee(world_, kRoot);
    for (Job& job : world_.jobs) job.pool = pool_of(world_, job.quota);
  }

  std::optional<std::string> reserve(Minute now, const scenario::Reservation& spec) override {
    decay(world_, now);
    if (add_reservation(world_, spec)) return std::nullopt;
    return "Conflict";
  }

  void waits(Minute now, const std::string& id, scenario::Waits waits) override {
    decay(world_, now);
    Job& job = job_named(id);
    if (job.depends && !waits.depends) job.ready = std::max(job.ready, now);  // W2
    job.is_held = waits.held;
    job.depends = waits.depends;
    if (job.is_held && job.stage == Stage::kClaiming) drop_claim(job);  // W6
  }

  void throttle(Minute now, const std::string& array, std::int64_t limit) override {
    decay(world_, now);
    world_.throttles[array] = limit;
  }

  void features(Minute now, const std::string& name,
                const std::vector<std::string>& features) override {
    decay(world_, now);
    for (Node& one : world_.nodes) {
      if (one.spec.name == name) one.spec.features = features;
    }
  }

  void refuse(Minute now, const std::string& id, const std::string& name) override {
    decay(world_, now);
    mark_node(world_, job_named(id), name);
  }

  std::optional<scenario::Start> swap(Minute now, const std::string& id,
                                      const std::string& lost) override {
    decay(world_, now);
    Job& job = job_named(id);
    mark_node(world_, job, lost);
    const auto shares = swap_shares(world_, job, lost);
    if (!shares) return std::nullopt;
    const std::int64_t before = gpus_of(job.charge);
    job.shares = *shares;
    job.saved_at = now;
    job.charge = charge_for(world_, job, *shares);
    if (!is_inside(world_, job)) use_budget(job, before - gpus_of(job.charge));  // Q5
    return scenario::Start{id, *shares};
  }

  void end_reservations(Minute now) override {
    decay(world_, now);
    reference::end_reservations(world_);
  }

  std::vector<Decision> begin_reservations(Minute now) override {
    decay(world_, now);
    replace_failed_nodes(world_);
    std::vector<Decision> decisions;
    for (const std::size_t number : jobs_in_the_way(world_)) {
      signal_job(world_, world_.jobs[number]);
      decisions.emplace_back(scenario::Signal{world_.jobs[number].spec.id});
    }
    for (const std::size_t number : claims_in_the_way(world_)) drop_claim(world_.jobs[number]);
    open_reservations(world_);
    fill_spares(world_);
    return decisions;
  }

  std::vector<Decision> pass(Minute now) override {
    decay(world_, now);
    return run_pass(world_);
  }

  std::optional<Minute> next_wake(Minute now) override {
    std::optional<Minute> next;
    const auto add = [&](Minute time) {
      if (time > now && (!next || time < *next)) next = time;
    };
    for (const Reservation& one : world_.reservations) {
      if (one.spec.spare) continue;
      add(one.spec.start);
      add(one.spec.end);
    }
    for (const Job& job : world_.jobs) add_times(job, add);
    return next;
  }

  Beliefs beliefs(Minute now) override {
    decay(world_, now);
    Beliefs told;
    for (const Job& job : world_.jobs) {
      const bool waits = job.stage == Stage::kPending || job.stage == Stage::kClaiming;
      if (waits) told.reasons[job.spec.id] = job.reason;
      if (job.stage == Stage::kPending && job.planned) told.planned[job.spec.id] = *job.planned;
      if (is_borrowed(world_, job)) told.borrowed.push_back(job.spec.id);
    }
    std::ranges::sort(told.borrowed);
    tell_shares(told);
    for (const Reservation& one : world_.reservations) told.reservations[one.spec.name] = one.nodes;
    return told;
  }

 private:
  Job& job_named(const std::string& id) {
    return *std::ranges::find_if(world_.jobs, [&](const Job& job) { return job.spec.id == id; });
  }

  /// Q5: what was used is used; the rest of the booking is given back.
  void close_run(Job& job) {
    if ((job.stage == Stage::kRunning && !is_inside(world_, job)) ||
        job.stage == Stage::kSignalled) {
      use_budget(job, gpus_of(job.charge));
    }
    job.shares.clear();
    job.charge.clear();
    job.limit_end.reset();
    job.planned.reset();
  }

  void use_budget(const Job& job, std::int64_t gpus) {
    const auto used = static_cast<double>(gpus * (world_.now - job.start));
    for (const std::size_t quota : path_of(world_, job.quota)) {
      world_.gpu_minutes_used[quota] += used;
    }
  }

  void drop_claim(Job& job) {
    job.stage = Stage::kPending;
    job.shares.clear();
    job.charge.clear();
  }

  template <typename Add>
  void add_times(const Job& job, const Add& add) const {
    const scenario::Policy& policy = world_.policy;
    if (job.stage == Stage::kPending) {
      add(job.backoff_until);
      add(job.ready);
      if (job.evicted_at == world_.now) add(world_.now + 1);  // A7
      add(waits_since(job) + policy.fair_patience);
      add(waits_since(job) + policy.starve_after);
    }
    if (job.stage == Stage::kRunning) {
      add(job.start + policy.protect_reclaim);
      add(job.start + policy.protect_fair);
      add(job.start + policy.protect_priority);
      for (const Reservation& one : world_.reservations) add(one.spec.start - job.grace);
    }
  }

  void tell_shares(Beliefs& told) const {
    for (std::size_t i = 1; i < world_.quotas.size(); ++i) {
      told.score[world_.quotas[i].spec.path] = score(world_, i);
      told.entitlement[world_.quotas[i].spec.path] = 0;
    }
    for (const std::string& resource : resources_of(world_)) {
      if (resource == scenario::kCores) continue;
      const auto entitled = entitlements(world_, resource);
      for (std::size_t i = 1; i < world_.quotas.size(); ++i) {
        told.entitlement[world_.quotas[i].spec.path] += entitled[i] / kDevice;
      }
    }
    told.user_usage = world_.user_history;
    for (const Job& job : world_.jobs) told.user_usage.try_emplace(job.spec.user, 0);
  }

  const Case& case_;
  World world_;
};

}  // namespace

std::unique_ptr<scenario::Engine> make_reference(const Case& scenario) {
  return std::make_unique<Reference>(scenario);
}

}  // namespace artel::reference
