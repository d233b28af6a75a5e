// Rules Q and I2.
#include "reference/quota.h"

#include <algorithm>

namespace artel::reference {

namespace {

std::int64_t share_of(const Node& node, const std::string& resource) {
  if (resource == scenario::kCores) return node.spec.cpus;
  return resource == node.spec.flavor ? node.spec.gpus * kDevice : 0;
}

bool in_running_maintenance(const World& world, const Node& node) {
  return std::ranges::any_of(world.reservations, [&](const Reservation& one) {
    return one.is_open && one.spec.maintenance &&
           std::ranges::find(one.nodes, node.spec.name) != one.nodes.end();
  });
}

bool counts(const World& world, const Node& node) {
  return node.healthy && !in_running_maintenance(world, node);
}

std::optional<std::int64_t> cap(const std::optional<Amounts>& amounts,
                                const std::string& resource) {
  if (!amounts || !amounts->contains(resource)) return std::nullopt;
  return amounts->at(resource);
}

/// A start that is being tested, added to the use of its path.
struct Extra {
  const Job* job;
  const Amounts* charge;
};

std::int64_t use_with(const World& world, std::size_t quota, const std::string& resource,
                      const Extra& extra) {
  const bool on_path = is_below(world, extra.job->quota, quota);
  return use(world, quota, resource) + (on_path ? amount(*extra.charge, resource) : 0);
}

/// Rule Q3, use*.
std::int64_t use_star(const World& world, std::size_t quota, const std::string& resource,
                      const Extra& extra) {
  std::int64_t children = 0;
  for (const std::size_t child : world.quotas[quota].spec.children) {
    children += use_star(world, child, resource, extra);
  }
  return std::max(
      {children, use_with(world, quota, resource, extra), kept_home(world, quota, resource)});
}

/// Rule Q3 at one node.
std::optional<Failure> limit_failure(const World& world, std::size_t quota, const Extra& extra) {
  const Quota& one = world.quotas[quota];
  for (const auto& [resource, asked] : *extra.charge) {
    const auto limit = cap(one.spec.limit, resource);
    if (limit && use_star(world, quota, resource, extra) > *limit) {
      return Failure{"QuotaLimit", quota};
    }
  }
  for (const auto& [resource, asked] : *extra.charge) {
    const auto borrow = cap(one.spec.borrow, resource);
    const std::int64_t guarantee = amount(one.guarantee, resource);
    if (borrow && use_star(world, quota, resource, extra) > guarantee + *borrow) {
      return Failure{"BorrowLimit", quota};
    }
  }
  return std::nullopt;
}

/// Rule I2 at one node.
bool exceeds_guarantee(const World& world, std::size_t quota, const Extra& extra) {
  if (!world.quotas[quota].states) return false;
  for (const auto& [resource, asked] : *extra.charge) {
    std::int64_t fixed = asked;
    for (const Job& job : world.jobs) {
      if (is_active(job) && !job.spec.preemptible && !is_inside(world, job) &&
          is_below(world, job.quota, quota)) {
        fixed += amount(job.charge, resource);
      }
    }
    const std::int64_t left =
        amount(world.quotas[quota].guarantee, resource) - reserved_use(world, quota, resource);
    if (fixed > left) return true;
  }
  return false;
}

/// Rule Q4 at one node.
bool exceeds_user_limit(const World& world, std::size_t quota, const Extra& extra) {
  const scenario::Quota& spec = world.quotas[quota].spec;
  std::int64_t jobs = 1;
  std::int64_t gpus = gpus_of(*extra.charge);
  for (const Job& job : world.jobs) {
    if (is_active(job) && !is_inside(world, job) && job.spec.user == extra.job->spec.user &&
        is_below(world, job.quota, quota)) {
      jobs += 1;
      gpus += gpus_of(job.charge);
    }
  }
  return (spec.max_jobs_per_user && jobs > *spec.max_jobs_per_user) ||
         (spec.max_gpus_per_user && gpus > *spec.max_gpus_per_user * kDevice);
}

/// Rule Q5 at one node.
bool exceeds_budget(const World& world, std::size_t quota, const Extra& extra) {
  const auto budget = world.quotas[quota].spec.budget;
  if (!budget) return false;
  const std::int64_t gpus = gpus_of(*extra.charge);
  if (!extra.job->spec.walltime) return gpus > 0;
  const auto booked = static_cast<double>(gpus * *extra.job->spec.walltime);
  return budget_taken(world, quota) + booked > *budget * 60 * kDevice + 1e-6;
}

/// The last check of rule Q3, over the root's children. LendLimit, if any resource gives it.
std::optional<Failure> lend_failure(const World& world, const Extra& extra) {
  std::optional<Failure> failure;
  for (const auto& [resource, asked] : *extra.charge) {
    std::int64_t star = 0;
    std::int64_t plain = 0;
    for (const std::size_t child : world.quotas[kRoot].spec.children) {
      star += use_star(world, child, resource, extra);
      plain += use_with(world, child, resource, extra);
    }
    const std::int64_t all = capacity(world, resource);
    if (star > all && plain <= all) return Failure{"LendLimit", kRoot};
    if (star > all) failure = Failure{"", kRoot};
  }
  return failure;
}

}  // namespace

std::int64_t use(const World& world, std::size_t quota, const std::string& resource) {
  std::int64_t sum = reserved_use(world, quota, resource);
  for (const Job& job : world.jobs) {
    if (is_active(job) && !is_inside(world, job) && is_below(world, job.quota, quota)) {
      sum += amount(job.charge, resource);
    }
  }
  return sum;
}

std::int64_t reserved_use(const World& world, std::size_t quota, const std::string& resource) {
  std::int64_t sum = 0;
  for (const Reservation& one : world.reservations) {
    if (!one.is_open || !one.owner || !is_below(world, *one.owner, quota)) continue;
    for (const std::string& name : one.nodes) {
      const Node& node = node_named(world, name);
      if (node.healthy) sum += share_of(node, resource);
    }
  }
  return sum;
}

std::int64_t capacity(const World& world, const std::string& resource) {
  std::int64_t sum = 0;
  for (const Node& node : world.nodes) {
    if (counts(world, node)) sum += share_of(node, resource);
  }
  return sum;
}

std::set<std::string> resources_of(const World& world) {
  std::set<std::string> resources{scenario::kCores};
  for (const Node& node : world.nodes) resources.insert(node.spec.flavor);
  return resources;
}

std::int64_t kept_home(const World& world, std::size_t quota, const std::string& resource) {
  const Quota& one = world.quotas[quota];
  const std::int64_t guarantee = amount(one.guarantee, resource);
  std::int64_t kept = 0;
  if (const auto lend = cap(one.spec.lend, resource)) {
    kept = std::max<std::int64_t>(0, guarantee - *lend);
  }
  if (resource == scenario::kCores) return kept;
  std::int64_t dedicated = 0;
  for (const Node& node : world.nodes) {
    if (node.owner == quota && counts(world, node)) dedicated += share_of(node, resource);
  }
  return std::max(kept, std::min(guarantee, dedicated));
}

bool is_within(const World& world, std::size_t quota, const Amounts& charge) {
  if (!world.quotas[quota].states) return true;
  return std::ranges::all_of(charge, [&](const auto& entry) {
    return use(world, quota, entry.first) + entry.second <=
           amount(world.quotas[quota].guarantee, entry.first);
  });
}

bool is_within_path(const World& world, const Job& job, const Amounts& charge) {
  return std::ranges::all_of(path_of(world, job.quota),
                             [&](std::size_t quota) { return is_within(world, quota, charge); });
}

std::optional<Failure> quota_failure(const World& world, const Job& job, const Amounts& charge,
                                     bool planning) {
  const Extra extra{&job, &charge};
  const auto path = path_of(world, job.quota);
  for (const std::size_t quota : path) {
    if (const auto failure = limit_failure(world, quota, extra)) return failure;
  }
  for (const std::size_t quota : path) {
    if (!job.spec.preemptible && exceeds_guarantee(world, quota, extra)) {
      return Failure{"GuaranteeOnly", quota};
    }
  }
  for (const std::size_t quota : path) {
    if (exceeds_user_limit(world, quota, extra)) return Failure{"UserLimit", quota};
  }
  for (const std::size_t quota : path) {
    if (exceeds_budget(world, quota, extra)) return Failure{"Budget", quota};
  }
  if (!has_licenses(world, job, planning)) return Failure{"License", kRoot};
  return lend_failure(world, extra);
}

bool has_licenses(const World& world, const Job& job, bool planning) {
  for (const auto& [name, wanted] : job.spec.licenses) {
    std::int64_t taken = wanted;
    for (const Job& other : world.jobs) {
      const bool leaves = other.stage == Stage::kSignalled && !planning;
      if ((is_active(other) || leaves) && other.spec.licenses.contains(name)) {
        taken += other.spec.licenses.at(name);
      }
    }
    if (taken > world.licenses.at(name)) return false;
  }
  return true;
}

double budget_taken(const World& world, std::size_t quota) {
  const auto used = world.gpu_minutes_used.find(quota);
  double taken = used == world.gpu_minutes_used.end() ? 0 : used->second;
  for (const Job& job : world.jobs) {
    if (!is_below(world, job.quota, quota) || is_inside(world, job)) continue;
    const auto gpus = static_cast<double>(gpus_of(job.charge));
    // A claim books its whole run, a run its limit, a job that has to leave the rest of its grace.
    if (job.stage == Stage::kClaiming) {
      taken += gpus * static_cast<double>(job.spec.walltime.value_or(0));
    } else if (job.stage == Stage::kRunning || job.stage == Stage::kSignalled) {
      Minute end = job.limit_end.value_or(world.now);
      if (job.stage == Stage::kSignalled) end = std::min(end, job.grace_end);
      if (job.assumed_gone) end = std::min(end, world.now + job.grace);
      taken += gpus * static_cast<double>(end - job.start);
    }
  }
  return taken;
}

}  // namespace artel::reference
