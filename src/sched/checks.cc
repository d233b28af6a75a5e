#include "sched/checks.h"

#include <algorithm>

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

std::optional<Failure> limit_failure(const State& state, QuotaId queue, const Charge& charge) {
  Climb climb{.state = state, .charge = charge};
  for (const QuotaId id : state.path(queue)) {
    const Quota& quota = state.at(id);
    std::optional<Reason> failed;
    const auto check = [&](const Bounds& bounds, bool above_guarantee, std::size_t r,
                           std::int64_t star) {
      const auto most = bound(bounds, r);
      return most && star > *most + (above_guarantee ? quota.guarantee[r] : 0);
    };
    bool over_limit = false;
    bool over_borrow = false;
    for_each(state, charge, [&](std::size_t r, std::int64_t amount) {
      std::int64_t& delta = r == state.cores() ? climb.cores_delta : climb.gpus_delta;
      const std::int64_t star = Climb::star_with(quota, r, amount, delta);
      over_limit = over_limit || check(quota.facts.limit, false, r, star);
      over_borrow = over_borrow || check(quota.facts.borrow, true, r, star);
    });
    if (over_limit) return Failure{Reason::kQuotaLimit, id};
    if (over_borrow) return Failure{Reason::kBorrowLimit, id};
  }
  return std::nullopt;
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
    if (failure || root.star_below[r] + delta <= state.capacity[r]) return;
    std::int64_t plain = amount;
    for (const QuotaId child : root.children) plain += use(state.at(child), r);
    failure = Failure{plain <= state.capacity[r] ? Reason::kLendLimit : Reason::kNone, kRoot};
  });
  return failure;
}

/// I2 at one node.
bool exceeds_guarantee(const State& state, const Quota& quota, const Charge& charge) {
  if (!quota.states) return false;
  bool exceeds = false;
  for_each(state, charge, [&](std::size_t r, std::int64_t amount) {
    exceeds = exceeds || quota.fixed[r] + amount > quota.guarantee[r] - quota.reserved[r];
  });
  return exceeds;
}

/// Q4 at one node.
bool exceeds_user_limit(const Quota& quota, UserId user, const Charge& charge) {
  const auto& facts = quota.facts;
  if (!facts.max_jobs_per_user && !facts.max_gpus_per_user) return false;
  const auto held = quota.users.find(user);
  const Held has = held == quota.users.end() ? Held{} : held->second;
  return (facts.max_jobs_per_user && has.jobs + 1 > *facts.max_jobs_per_user) ||
         (facts.max_gpus_per_user && has.gpus + charge.gpus > *facts.max_gpus_per_user);
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

bool exceeds_budget(const State& state, QuotaId id, const Job& job, const Charge& charge) {
  const auto& budget = state.at(id).facts.budget;
  if (!budget) return false;
  if (!job.request->limit) return charge.gpus > 0;
  const double booked =
      static_cast<double>(charge.gpus) * static_cast<double>(job.request->limit->count());
  constexpr double kRounding = 1e-3;
  return budget_taken(state, id) + booked > *budget * kMsPerHour * kPerDevice + kRounding;
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
  if (auto failure = limit_failure(state, job.queue, charge)) return failure;
  const auto& path = state.path(job.queue);
  for (const QuotaId id : path) {
    if (!job.preemptible && exceeds_guarantee(state, state.at(id), charge)) {
      return Failure{Reason::kGuaranteeOnly, id};
    }
  }
  for (const QuotaId id : path) {
    if (exceeds_user_limit(state.at(id), job.user, charge)) return Failure{Reason::kUserLimit, id};
  }
  for (const QuotaId id : path) {
    if (exceeds_budget(state, id, job, charge)) return Failure{Reason::kBudget, id};
  }
  if (!has_licences(state, *job.request, planning)) return Failure{Reason::kLicence, kRoot};
  return lend_failure(state, job.queue, charge);
}

bool has_licences(const State& state, const Request& request, bool planning) {
  return std::ranges::all_of(request.licences, [&](const auto& wanted) {
    const std::size_t i = wanted.first.value;
    const std::int64_t leaving = planning ? 0 : state.licences_signalled[i];
    return state.licences_active[i] + leaving + wanted.second <= state.licences[i];
  });
}

bool has_access(const State& state, QuotaId queue, UserId user) {
  return std::ranges::all_of(state.path(queue), [&](QuotaId quota) {
    const auto& users = state.at(quota).facts.users;
    return !users || std::ranges::binary_search(*users, user);
  });
}

}  // namespace artel::sched
