// Rules C2 (cover), F1 (entitlement), F2 (score and its history).
#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "reference/eligible.h"
#include "reference/quota.h"

namespace artel::reference {

namespace {

using scenario::kCores;

/// Jobs below n that may be covered there, by rule C2's order. Jobs that a child of n covers come
/// first, else I1 would not hold at the child.
std::vector<const Job*> by_cover_order(const World& world, std::size_t quota, const Job* also) {
  std::set<std::size_t> covered_below;
  for (const std::size_t child : world.quotas[quota].spec.children) {
    if (world.quotas[child].states) covered_below.merge(cover(world, child, also));
  }
  std::vector<const Job*> jobs;
  if (also != nullptr && is_below(world, also->quota, quota)) jobs.push_back(also);
  for (const Job& job : world.jobs) {
    if (is_active(job) && !is_inside(world, job) && is_below(world, job.quota, quota)) {
      jobs.push_back(&job);
    }
  }
  const auto key = [&](const Job* job) {
    const Minute start = job->stage == Stage::kRunning ? job->start : world.now;
    return std::tuple(!covered_below.contains(job->number), job->spec.preemptible,
                      -job->spec.priority, start, job->submitted, job->number);
  };
  std::ranges::sort(jobs, {}, key);
  return jobs;
}

/// Of each throttled array how many more tasks may hold something.
std::map<std::string, std::int64_t> free_slots(const World& world) {
  std::map<std::string, std::int64_t> slots = world.throttles;
  for (const Job& job : world.jobs) {
    const auto entry = slots.find(job.spec.array_id);
    if (entry == slots.end()) continue;
    entry->second = world.throttles.at(entry->first) - tasks_holding(world, job);
  }
  return slots;
}

/// Demand of rule F1.
double demand(const World& world, std::size_t quota, const std::string& resource) {
  const Quota& one = world.quotas[quota];
  std::int64_t below = 0;
  for (const Reservation& reservation : world.reservations) {
    if (!reservation.is_open || reservation.owner != quota) continue;
    for (const std::string& name : reservation.nodes) {
      const Node& node = node_named(world, name);
      if (!node.healthy) continue;
      if (resource == kCores) below += node.spec.cpus;
      if (resource == node.spec.flavor) below += node.spec.gpus * kDevice;
    }
  }
  std::map<std::string, std::int64_t> slots = free_slots(world);
  for (const Job& job : world.jobs) {
    if (job.quota != quota) continue;
    if (is_active(job) && !is_inside(world, job)) below += amount(job.charge, resource);
    if (job.stage == Stage::kPending && job.spec.reservation.empty() &&
        obstacle(world, job).empty()) {
      const auto slot = slots.find(job.spec.array_id);
      if (slot != slots.end() && slot->second-- <= 0) continue;
      below +=
          amount(charge_of(world, job, {largest_size(job), job.spec.flavors.front()}), resource);
    }
  }
  auto sum = static_cast<double>(below);
  for (const std::size_t child : one.spec.children) sum += demand(world, child, resource);
  if (one.spec.limit && one.spec.limit->contains(resource)) {
    sum = std::min(sum, static_cast<double>(one.spec.limit->at(resource)));
  }
  if (one.spec.borrow && one.spec.borrow->contains(resource)) {
    const std::int64_t most = amount(one.guarantee, resource) + one.spec.borrow->at(resource);
    sum = std::min(sum, static_cast<double>(most));
  }
  return sum;
}

/// Deals `rest` out by weight to children with unmet demand, until either is gone.
void deal(const World& world, const std::vector<std::size_t>& children,
          const std::vector<double>& wanted, double rest, std::vector<double>& given) {
  constexpr double kNothing = 1e-9;
  while (rest > kNothing) {
    double weights = 0;
    for (const std::size_t child : children) {
      if (wanted[child] - given[child] > kNothing) weights += world.quotas[child].spec.weight;
    }
    if (weights <= 0) return;
    double dealt = 0;
    for (const std::size_t child : children) {
      const double unmet = wanted[child] - given[child];
      if (unmet <= kNothing) continue;
      const double part = std::min(unmet, rest * world.quotas[child].spec.weight / weights);
      given[child] += part;
      dealt += part;
    }
    rest -= dealt;
  }
}

void share_out(const World& world, std::size_t quota, const std::string& resource,
               std::vector<double>& given) {
  const auto& children = world.quotas[quota].spec.children;
  std::vector<double> wanted(world.quotas.size(), 0);
  double rest = given[quota];
  for (const std::size_t child : children) {
    wanted[child] = demand(world, child, resource);
    const auto guarantee = static_cast<double>(amount(world.quotas[child].guarantee, resource));
    given[child] = std::min(guarantee, wanted[child]);
    const auto kept = static_cast<double>(kept_home(world, child, resource));
    rest -= given[child] + std::max(0.0, kept - given[child]);
  }
  deal(world, children, wanted, rest, given);
  for (const std::size_t child : children) share_out(world, child, resource, given);
}

/// The dominant share of the cluster that the user holds, all work counted.
double user_share(const World& world, const std::string& user) {
  double share = 0;
  for (const std::string& resource : resources_of(world)) {
    std::int64_t held = 0;
    for (const Job& job : world.jobs) {
      if (is_active(job) && job.spec.user == user) held += amount(job.charge, resource);
    }
    const std::int64_t all = capacity(world, resource);
    if (all > 0) share = std::max(share, static_cast<double>(held) / static_cast<double>(all));
  }
  return share;
}

}  // namespace

std::set<std::size_t> cover(const World& world, std::size_t quota, const Job* also) {
  Amounts left;
  for (const std::string& resource : resources_of(world)) {
    left[resource] =
        amount(world.quotas[quota].guarantee, resource) - reserved_use(world, quota, resource);
  }
  std::set<std::size_t> covered;
  for (const Job* job : by_cover_order(world, quota, also)) {
    const bool fits = std::ranges::all_of(
        job->charge, [&](const auto& entry) { return entry.second <= left.at(entry.first); });
    if (!fits) continue;
    for (const auto& [resource, value] : job->charge) left[resource] -= value;
    covered.insert(job->number);
  }
  return covered;
}

bool is_borrowed(const World& world, const Job& job) {
  if (!is_active(job) || is_inside(world, job)) return false;
  return std::ranges::any_of(path_of(world, job.quota), [&](std::size_t quota) {
    return world.quotas[quota].states && !cover(world, quota).contains(job.number);
  });
}

std::vector<double> entitlements(const World& world, const std::string& resource) {
  std::vector<double> given(world.quotas.size(), 0);
  given[kRoot] = static_cast<double>(capacity(world, resource));
  share_out(world, kRoot, resource, given);
  return given;
}

double over(const World& world, std::size_t quota) {
  double most = 0;
  for (const std::string& resource : resources_of(world)) {
    const std::int64_t all = capacity(world, resource);
    const std::int64_t above =
        use(world, quota, resource) - amount(world.quotas[quota].guarantee, resource);
    if (all > 0) most = std::max(most, static_cast<double>(above) / static_cast<double>(all));
  }
  return most;
}

double over_by_weight(const World& world, std::size_t quota) {
  const double weight = world.quotas[quota].spec.weight;
  return weight > 0 ? over(world, quota) / weight : std::numeric_limits<double>::infinity();
}

double score(const World& world, std::size_t quota) {
  const double weight = world.quotas[quota].spec.weight;
  if (weight <= 0) return std::numeric_limits<double>::infinity();
  return (over(world, quota) + world.policy.kappa * world.quotas[quota].history) / weight;
}

void decay(World& world, Minute now) {
  if (now <= world.now) return;
  const double kept = std::exp2(-static_cast<double>(now - world.now) / world.policy.half_life);
  for (std::size_t i = 1; i < world.quotas.size(); ++i) {
    double& history = world.quotas[i].history;
    history = history * kept + over(world, i) * (1 - kept);
  }
  for (const Job& job : world.jobs) world.user_history.try_emplace(job.spec.user, 0);
  for (auto& [user, history] : world.user_history) {
    history = history * kept + user_share(world, user) * (1 - kept);
  }
  world.now = now;
}

}  // namespace artel::reference
