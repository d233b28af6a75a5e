// Rules O1 to O4.
#include "reference/order.h"

#include <algorithm>
#include <tuple>

#include "reference/eligible.h"
#include "reference/quota.h"

namespace artel::reference {

namespace {

double user_weight(const World& world, const Job& job) {
  for (const std::size_t quota : path_of(world, job.quota)) {
    const auto& weights = world.quotas[quota].spec.user_weights;
    if (weights.contains(job.spec.user)) return weights.at(job.spec.user);
  }
  return 1;
}

/// Rule O4, smallest first.
auto line_key(const World& world, const Job& job) {
  const auto usage = world.user_history.find(job.spec.user);
  const double used = usage == world.user_history.end() ? 0 : usage->second;
  return std::tuple(-job.spec.priority, !is_starving(world, job), used / user_weight(world, job),
                    job.ready, job.number);
}

bool is_ordinary(const World& world, const Job& job) {
  return find_reservation(world, job.spec.reservation) == nullptr;
}

/// What the key of a job in O1 is computed with: its largest size; the first flavor in which it is
/// within its whole path, else its first.
Amounts key_charge(const World& world, const Job& job) {
  for (const std::string& flavor : job.spec.flavors) {
    const Amounts charge = charge_of(world, job, {largest_size(job), flavor});
    if (is_within_path(world, job, charge)) return charge;
  }
  return charge_of(world, job, {largest_size(job), job.spec.flavors.front()});
}

double saturation(const World& world, std::size_t quota, const Amounts& charge) {
  double most = 0;
  for (const auto& [resource, asked] : charge) {
    const std::int64_t guarantee = amount(world.quotas[quota].guarantee, resource);
    if (guarantee <= 0) continue;
    most = std::max(
        most, static_cast<double>(use(world, quota, resource)) / static_cast<double>(guarantee));
  }
  return most;
}

auto child_key(const World& world, std::size_t child, std::size_t head) {
  const Job& job = world.jobs[head];
  const Amounts charge = key_charge(world, job);
  const bool within = is_within(world, child, charge);
  return std::tuple(within ? 0 : 1, within ? saturation(world, child, charge) : score(world, child),
                    job.ready, job.number);
}

std::optional<std::size_t> head_of_pool(const World& world, std::size_t pool,
                                        const std::vector<bool>& treated) {
  std::optional<std::size_t> best;
  for (const Job& job : world.jobs) {
    if (job.stage != Stage::kPending || treated[job.number] || job.pool != pool) continue;
    if (!is_ordinary(world, job)) continue;
    if (!best || line_key(world, job) < line_key(world, world.jobs[*best])) best = job.number;
  }
  return best;
}

/// Rules O1, O3: the job to which the walk from `quota` down leads.
std::optional<std::size_t> head_of(const World& world, std::size_t quota,
                                   const std::vector<bool>& treated) {
  if (const auto own = head_of_pool(world, quota, treated)) return own;
  std::optional<std::size_t> best_child;
  std::optional<std::size_t> best;
  for (const std::size_t child : world.quotas[quota].spec.children) {
    const auto head = head_of(world, child, treated);
    if (!head) continue;
    if (!best || child_key(world, child, *head) < child_key(world, *best_child, *best)) {
      best = head;
      best_child = child;
    }
  }
  return best;
}

/// Rule O2: the longest waiting one.
std::optional<std::size_t> longest_starving(const World& world, const std::vector<bool>& treated) {
  std::optional<std::size_t> found;
  const auto key = [](const Job& job) {
    return std::tuple(waits_since(job), job.ready, job.number);
  };
  for (const Job& job : world.jobs) {
    if (treated[job.number] || !is_starving(world, job) || !is_ordinary(world, job)) continue;
    if (!found || key(job) < key(world.jobs[*found])) found = job.number;
  }
  return found;
}

}  // namespace

std::vector<std::size_t> reservation_jobs(const World& world) {
  std::vector<std::size_t> found;
  for (const Job& job : world.jobs) {
    const bool waits = job.stage == Stage::kPending && obstacle(world, job).empty();
    if (waits && !is_ordinary(world, job)) found.push_back(job.number);
  }
  std::ranges::sort(found, {},
                    [&](std::size_t number) { return line_key(world, world.jobs[number]); });
  return found;
}

std::optional<std::size_t> next_job(const World& world, const std::vector<bool>& treated) {
  const auto best = head_of(world, kRoot, treated);
  if (!best) return std::nullopt;
  const Job& job = world.jobs[*best];
  const std::size_t top = path_of(world, job.quota).back();
  if (is_within(world, top, key_charge(world, job))) return best;
  const auto starving = longest_starving(world, treated);
  return starving ? starving : best;
}

}  // namespace artel::reference
