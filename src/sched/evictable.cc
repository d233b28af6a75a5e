#include "sched/evictable.h"

#include <algorithm>

#include "sched/shares.h"

namespace artel::sched {
namespace {

Displaceable below_priority(const std::map<std::int32_t, Displaceable>& jobs,
                            std::int32_t priority) {
  Displaceable sum;
  for (auto one = jobs.begin(); one != jobs.end() && one->first < priority; ++one) {
    sum.add(one->second, 1);
  }
  return sum;
}

std::int64_t at(const Amounts& amounts, std::size_t i) {
  return i < amounts.size() ? amounts[i] : 0;
}

/// The guarantee covers all that runs below: each job fits, whatever the order.
bool covers_all(const Quota& quota) {
  for (std::size_t r = 0; r < quota.jobs.size(); ++r) {
    if (quota.jobs[r] > quota.guarantee[r] - quota.reserved[r]) return false;
  }
  return true;
}

}  // namespace

Evictable::Evictable(const State& state)
    : state_(state),
      leaving_(state.flavors, 0),
      held_(state.quotas.size(), Amounts(state.flavors + 1, 0)),
      of_pool_(state.quotas.size()),
      uncovered_(state.quotas.size()),
      of_children_(state.quotas.size()),
      stale_(state.quotas.size()) {
  for (const std::vector<Job*>& of_queue : state.active_of) {
    for (const Job* job : of_queue) {
      if (job->stage == Stage::kSignalled) count_as_leaving(*job);
      if (is_displaceable(*job)) add(*job, 1);
    }
  }
  for (std::uint32_t q = 0; q < state.quotas.size(); ++q) {
    for (const QuotaId child : state.quotas[q].children) stale_[q].insert(child);
  }
}

void Evictable::count_as_leaving(const Job& job) {
  leaving_[job.charge.flavor.value] += static_cast<std::int64_t>(job.shares.size());
}

void Evictable::add(const Job& job, int times) {
  const auto count = [&](QuotaId quota) {
    for_each(state_, job.charge,
             [&](std::size_t r, std::int64_t amount) { held_[quota.value][r] += times * amount; });
  };
  for (const QuotaId quota : state_.path(job.queue)) count(quota);
  of_pool_[job.pool.value][job.priority].add(state_, job, times);
}

void Evictable::changed(const Job& job) {
  for (const QuotaId quota : state_.path(job.queue)) {
    stale_[state_.at(quota).parent.value].insert(quota);
  }
}

void Evictable::started(const Job& job) {
  if (is_displaceable(job)) add(job, 1);
  changed(job);
}

void Evictable::claimed(const Job& job) { changed(job); }

void Evictable::signalled(const Job& job) {
  count_as_leaving(job);
  if (is_displaceable(job)) add(job, -1);
  changed(job);
}

bool Evictable::may_evict(const Job& job, const Charge& charge) const {
  const Displaceable own = below_priority(of_pool_[job.pool.value], job.priority);
  const Displaceable others = of_others(job, charge, own);
  const auto may_do = [&](const Displaceable& of_own) {
    const std::size_t f = charge.flavor.value;
    return of_own.jobs + others.jobs > 0 &&
           may_fit(job, charge.flavor, at(of_own.nodes, f) + at(others.nodes, f));
  };
  if (!may_do(own)) return false;
  if (own.jobs == 0 || job.pool == kRoot) return true;
  // V2: covered work of its own pool counts only if p would be covered itself.
  return may_do(below_priority(known_cover(state_, job.pool).could_free, job.priority)) ||
         would_cover(state_, job.pool, job, charge);
}

/// Only nodes that somebody leaves can come to have room beside those that have it now.
bool Evictable::may_fit(const Job& job, FlavorId flavor, std::int64_t emptied) const {
  const Request& request = *job.request;
  std::int64_t nodes = leaving_[flavor.value] + emptied;
  for (const Part& part : request.parts) {
    nodes += state_.openings.of(state_, job, flavor, part).count;
  }
  return nodes >= nodes_of(request, smallest_size(request));
}

/// V1 and F3, from the pool upwards: what goes in between makes room for p further up.
Displaceable Evictable::of_others(const Job& job, const Charge& charge,
                                  const Displaceable& own) const {
  const bool levels =
      state_.policy.fair_preemption && state_.now - waits_since(job) >= state_.policy.fair_patience;
  Displaceable sum;
  for (const QuotaId np : state_.path(job.pool)) {
    bool within = true;
    for_each(state_, charge, [&](std::size_t r, std::int64_t amount) {
      const std::int64_t between = sum.jobs > 0 ? held_[np.value][r] - held_[job.pool.value][r] : 0;
      const std::int64_t least = use(state_.at(np), r) + amount - between - at(own.held, r);
      within = within && least <= state_.at(np).guarantee[r];
    });
    if (within || levels) sum.add(of_siblings(np), 1);
  }
  return sum;
}

Displaceable Evictable::of_siblings(QuotaId quota) const {
  const QuotaId parent = state_.at(quota).parent;
  Displaceable& sum = of_children_[parent.value];
  for (const QuotaId child : stale_[parent.value]) {
    Displaceable& known = uncovered_[child.value];
    sum.add(known, -1);
    known = {};
    if (!covers_all(state_.at(child))) {
      for (const auto& [priority, some] : known_cover(state_, child).could_free) known.add(some, 1);
    }
    sum.add(known, 1);
  }
  stale_[parent.value].clear();
  Displaceable siblings = sum;
  siblings.add(uncovered_[quota.value], -1);
  return siblings;
}

}  // namespace artel::sched
