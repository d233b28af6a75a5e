#include "sched/checks.h"

#include <algorithm>
#include <cmath>

namespace artel::sched {
namespace {

constexpr double kMsPerHour = 3'600'000.0;
constexpr double kPerDevice = 1000.0;

std::optional<std::int64_t> bound(const Bounds& bounds, std::size_t resource) {
  return resource < bounds.size() ? bounds[resource] : std::nullopt;
}

/// use* of one node of the path with the start added, and the limits there (Q3).
struct Climb {
  const State& state;
  const Charge& charge;
  std::int64_t gpus_delta{};  // what use* of the child below grew by
  std::int64_t cores_delta{};

  /// use* here; `delta` becomes what it grew by.
  static std::int64_t star_with(const Quota& quota, std::size_t r, std::int64_t added,
                                std::int64_t& delta) {
    const std::int64_t star =
        std::max({quota.star_below[r] + delta, use(quota, r) + added, quota.kept[r]});
    delta = star - quota.star[r];
    return star;
  }
};

/// Numbers of a resource that is charged: a bound, what of it is taken, what it would have to be.
Shortage short_of(const State& state, const Charge& charge, std::size_t r, std::int64_t bound,
                  std::int64_t taken, std::int64_t enough) {
  const bool is_cores = r == state.cores();
  return {.counted = is_cores ? Counted::kCores : Counted::kGpus,
          .flavor = is_cores ? FlavorId{} : charge.flavor,
          .licence = {},
          .asked = is_cores ? charge.cores : charge.gpus,
          .have = bound - taken,
          .bound = bound,
          .enough = enough};
}

/// Calls `found(failure)`; true: it wants no more.
template <typename Found>
bool check_limits(const State& state, QuotaId queue, const Charge& charge, Found found) {
  Climb climb{.state = state, .charge = charge};
  for (const QuotaId id : state.path(queue)) {
    const Quota& quota = state.at(id);
    std::optional<Shortage> over_limit;
    std::optional<Shortage> over_borrow;
    const auto check = [&](const Bounds& bounds, std::int64_t above, std::size_t r,
                           std::int64_t star, std::optional<Shortage>& over) {
      const auto most = bound(bounds, r);
      if (!most || over || star <= *most + above) return;
      over = short_of(state, charge, r, *most + above, quota.star[r], star);
    };
    for_each(state, charge, [&](std::size_t r, std::int64_t amount) {
      std::int64_t& delta = r == state.cores() ? climb.cores_delta : climb.gpus_delta;
      const std::int64_t star = Climb::star_with(quota, r, amount, delta);
      check(quota.facts.limit, 0, r, star, over_limit);
      check(quota.facts.borrow, quota.guarantee[r], r, star, over_borrow);
    });
    if (over_limit && found(Failure{Reason::kQuotaLimit, id, *over_limit})) return true;
    if (over_borrow && found(Failure{Reason::kBorrowLimit, id, *over_borrow})) return true;
  }
  return false;
}

/// What running jobs hold on nodes that are drained or not in contact. It is use, so it counts as
/// being there: else a drained node would take its size from the others until it is empty.
std::int64_t held_out_of_service(const State& state, std::size_t r) {
  std::int64_t sum = 0;
  for (const NodeIndex i : state.out_of_service) {
    const Node& node = state.nodes[i];
    for (const auto& [job, share] : node.holders) {
      if (job->stage != Stage::kRunning || job->inside) continue;
      if (r == state.cores() && job->charge.cores > 0) sum += share.cores;
      if (r == node.flavor.value) sum += share.gpus;
    }
  }
  return sum;
}

/// Over the root's children: use* fits the cluster, else what guarantees keep is in the way.
std::optional<Failure> lend_failure(const State& state, QuotaId queue, const Charge& charge) {
  const Quota& root = state.at(kRoot);
  Climb climb{.state = state, .charge = charge};
  std::optional<Failure> failure;
  for_each(state, charge, [&](std::size_t r, std::int64_t amount) {
    std::int64_t& delta = r == state.cores() ? climb.cores_delta : climb.gpus_delta;
    for (const QuotaId id : state.path(queue)) {
      (void)Climb::star_with(state.at(id), r, amount, delta);
    }
    const std::int64_t star = root.star_below[r] + delta;
    if (star <= state.capacity[r]) return;
    const std::int64_t there = state.capacity[r] + held_out_of_service(state, r);
    if (star <= there) return;
    std::int64_t plain = amount;
    for (const QuotaId child : root.children) plain += use(state.at(child), r);
    const bool lacks_lent = plain <= there;
    if (failure && !lacks_lent) return;
    failure = Failure{lacks_lent ? Reason::kLendLimit : Reason::kNone, kRoot,
                      short_of(state, charge, r, there, root.star_below[r], star)};
  });
  return failure;
}

/// I2 at one node.
std::optional<Shortage> beyond_guarantee(const State& state, const Quota& quota,
                                         const Charge& charge) {
  std::optional<Shortage> beyond;
  if (!quota.states) return beyond;
  for_each(state, charge, [&](std::size_t r, std::int64_t amount) {
    const std::int64_t most = quota.guarantee[r] - quota.reserved[r];
    const std::int64_t fixed = quota.fixed[r];
    if (beyond || fixed + amount <= most) return;
    beyond = short_of(state, charge, r, most, fixed, fixed + amount);
  });
  return beyond;
}

/// Q4 at one node.
std::optional<Shortage> beyond_user_limit(const Quota& quota, UserId user, const Charge& charge) {
  const auto& facts = quota.facts;
  if (!facts.max_jobs_per_user && !facts.max_gpus_per_user) return std::nullopt;
  const auto held = quota.users.find(user);
  const Held has = held == quota.users.end() ? Held{} : held->second;
  Shortage beyond{.counted = Counted::kJobs, .flavor = {}, .licence = {}};
  const auto exceeds = [&](const std::optional<std::int64_t>& most, std::int64_t taken,
                           std::int64_t asked) {
    if (!most || taken + asked <= *most) return false;
    beyond.asked = asked;
    beyond.bound = *most;
    beyond.have = *most - taken;
    beyond.enough = taken + asked;
    return true;
  };
  if (exceeds(facts.max_jobs_per_user, has.jobs, 1)) return beyond;
  beyond.counted = Counted::kGpus;
  beyond.flavor = charge.flavor;
  if (exceeds(facts.max_gpus_per_user, has.gpus, charge.gpus)) return beyond;
  return std::nullopt;
}

/// Thousandths of GPUs x ms that are used or booked below (Q5). A claim books its whole run, a run
/// its limit, a job that has to leave the rest of its grace. O(active); only where a budget is set.
double budget_taken(const State& state, QuotaId id) {
  double taken = state.at(id).used_gpu_ms;
  for (const JobId number : state.active) {
    const Job& job = state.jobs.at(number);
    if (job.inside || !is_below(state, job.queue, id)) continue;
    Duration booked{};
    if (job.stage == Stage::kClaiming) {
      booked = job.request->limit.value_or(Duration::zero());
    } else {
      Time end = job.limit_end.value_or(state.now);
      if (job.stage == Stage::kSignalled) end = std::min(end, job.grace_end);
      if (job.assumed_gone) end = std::min(end, state.now + job.grace);
      booked = end - job.start;
    }
    taken += static_cast<double>(job.charge.gpus) * static_cast<double>(booked.count());
  }
  return taken;
}

std::int64_t in_gpu_hours(double gpu_ms) {
  return static_cast<std::int64_t>(std::ceil(gpu_ms / kMsPerHour));
}

/// Q5 at one node. A job without a limit asks for more than any budget has.
std::optional<Shortage> beyond_budget(const State& state, QuotaId id, const Job& job,
                                      const Charge& charge) {
  const auto& budget = state.at(id).facts.budget;
  if (!budget || (!job.request->limit && charge.gpus == 0)) return std::nullopt;
  const double most = *budget * kMsPerHour * kPerDevice;
  const double booked = static_cast<double>(charge.gpus) *
                        static_cast<double>(job.request->limit.value_or(Duration::zero()).count());
  const double taken = budget_taken(state, id);
  constexpr double kRounding = 1e-3;
  if (job.request->limit && taken + booked <= most + kRounding) return std::nullopt;
  return Shortage{.counted = Counted::kGpuHours,
                  .flavor = {},
                  .licence = {},
                  .asked = in_gpu_hours(booked),
                  .have = in_gpu_hours(most) - in_gpu_hours(taken),
                  .bound = in_gpu_hours(most),
                  .enough = in_gpu_hours(taken + booked)};
}

template <typename Found>
bool check_licences(const State& state, const Request& request, bool planning, Found found) {
  for (const auto& [licence, count] : request.licences) {
    const std::size_t i = licence.value;
    const std::int64_t taken =
        state.licences_active[i] + (planning ? 0 : state.licences_signalled[i]);
    if (taken + count <= state.licences[i]) continue;
    const Shortage lack{.counted = Counted::kLicences,
                        .flavor = {},
                        .licence = licence,
                        .asked = count,
                        .have = state.licences[i] - taken,
                        .bound = state.licences[i],
                        .enough = taken + count};
    if (found(Failure{Reason::kLicence, kRoot, lack})) return true;
  }
  return false;
}

/// The checks in the order of Z1. Calls `found(failure)`, which says true if it wants no more.
template <typename Found>
void check_quota(const State& state, const Job& job, const Charge& charge, bool planning,
                 Found found) {
  if (check_limits(state, job.queue, charge, found)) return;
  const auto& path = state.path(job.queue);
  const auto climb = [&](Reason reason, auto check) {
    return std::ranges::any_of(path, [&](QuotaId id) {
      const std::optional<Shortage> lack = check(id);
      return lack && found(Failure{reason, id, *lack});
    });
  };
  if (!job.preemptible && climb(Reason::kGuaranteeOnly, [&](QuotaId id) {
        return beyond_guarantee(state, state.at(id), charge);
      })) {
    return;
  }
  if (climb(Reason::kUserLimit,
            [&](QuotaId id) { return beyond_user_limit(state.at(id), job.user, charge); })) {
    return;
  }
  if (climb(Reason::kBudget, [&](QuotaId id) { return beyond_budget(state, id, job, charge); })) {
    return;
  }
  if (check_licences(state, *job.request, planning, found)) return;
  if (const auto failure = lend_failure(state, job.queue, charge)) found(*failure);
}

}  // namespace

bool is_within(const State& state, QuotaId id, const Charge& charge) {
  const Quota& quota = state.at(id);
  if (!quota.states) return true;
  bool within = true;
  for_each(state, charge, [&](std::size_t r, std::int64_t amount) {
    within = within && use(quota, r) + amount <= quota.guarantee[r];
  });
  return within;
}

bool is_within_path(const State& state, QuotaId queue, const Charge& charge) {
  return std::ranges::all_of(state.path(queue),
                             [&](QuotaId quota) { return is_within(state, quota, charge); });
}

std::optional<Failure> quota_failure(const State& state, const Job& job, const Charge& charge,
                                     bool planning) {
  std::optional<Failure> first;
  check_quota(state, job, charge, planning, [&](const Failure& failure) {
    first = failure;
    return true;
  });
  return first;
}

std::vector<Failure> quota_failures(const State& state, const Job& job, const Charge& charge) {
  std::vector<Failure> all;
  check_quota(state, job, charge, false, [&](const Failure& failure) {
    if (failure.reason != Reason::kNone) all.push_back(failure);
    return false;
  });
  return all;
}

bool has_licences(const State& state, const Request& request, bool planning) {
  return !check_licences(state, request, planning, [](const Failure&) { return true; });
}

bool has_access(const State& state, QuotaId queue, UserId user) {
  return std::ranges::all_of(state.path(queue), [&](QuotaId quota) {
    const auto& users = state.at(quota).facts.users;
    return !users || std::ranges::binary_search(*users, user);
  });
}

}  // namespace artel::sched
