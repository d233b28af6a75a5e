#include "sched/shares.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

#include "sched/waiting.h"

namespace artel::sched {
namespace {

constexpr double kNothing = 1e-9;

/// C2's order. What a guarantee below covers comes first, so that covers nest (I1).
auto cover_key(const State& state, const Job& job, const Covered& below) {
  const Time start = job.stage == Stage::kClaiming ? state.now : job.start;
  return std::tuple(!below.contains(job.id.value), job.preemptible, -std::int64_t{job.priority},
                    start, job.submitted, job.id);
}

Covered covered_below(const State& state, QuotaId id, const Job* also) {
  Covered below;
  for (const QuotaId child : state.at(id).children) {
    if (!state.at(child).states) continue;
    if (also != nullptr || state.assumed > 0) {
      below.merge(cover(state, child, also));
    } else {
      const Covered& known = known_cover(state, child).jobs;
      below.insert(known.begin(), known.end());
    }
  }
  return below;
}

void add_active_below(const State& state, QuotaId id, std::vector<const Job*>& jobs) {
  for (const Job* job : state.active_of[id.value]) {
    if (is_active(*job) && !job->inside) jobs.push_back(job);
  }
  for (const QuotaId child : state.at(id).children) add_active_below(state, child, jobs);
}

bool has_claim_below(const State& state, QuotaId id) {
  const auto claims = [](const Job* job) { return job->stage == Stage::kClaiming; };
  return std::ranges::any_of(state.active_of[id.value], claims) ||
         std::ranges::any_of(state.at(id).children,
                             [&](QuotaId child) { return has_claim_below(state, child); });
}

/// C2: whole or not at all.
bool fits(const State& state, const Charge& charge, const Amounts& left) {
  bool fits = true;
  for_each(state, charge,
           [&](std::size_t r, std::int64_t amount) { fits = fits && amount <= left[r]; });
  return fits;
}
bool take_if_it_fits(const State& state, const Charge& charge, Amounts& left) {
  if (!fits(state, charge, left)) return false;
  for_each(state, charge, [&](std::size_t r, std::int64_t amount) { left[r] -= amount; });
  return true;
}

void add_uncovered(const State& state, QuotaId id, KnownCover& of) {
  for (Job* job : state.active_of[id.value]) {
    if (!is_displaceable(*job) || of.jobs.contains(job->id.value)) continue;
    of.uncovered.push_back(job);
    of.could_free[job->priority].add(state, *job, 1);
  }
  for (const QuotaId child : state.at(id).children) add_uncovered(state, child, of);
}

/// Of an array only so many tasks count as it has slots free; `slots`: how many have been counted.
bool takes_free_slot(const State& state, const Job& job, std::map<ArrayId, std::uint32_t>& slots) {
  if (!job.array) return true;
  const Array& array = state.arrays.at(*job.array);
  return !array.throttle || array.holding + slots[*job.array]++ < *array.throttle;
}

/// What active and pending jobs and open reservations of a node of the tree itself ask for.
Amounts own_demand(const State& state, std::size_t resource) {
  Amounts own(state.quotas.size(), 0);
  std::map<ArrayId, std::uint32_t> slots;
  for (const auto& [id, job] : state.jobs) {
    Charge asked;
    if (is_active(job) && !job.inside) asked = job.charge;
    if (job.stage == Stage::kPending && !job.reservation && is_eligible(state, job) &&
        takes_free_slot(state, job, slots)) {
      asked =
          charge_of(state, *job.request, largest_size(*job.request), job.request->flavors.front());
    }
    for_each(state, asked, [&](std::size_t r, std::int64_t amount) {
      if (r == resource) own[job.queue.value] += amount;
    });
  }
  for (const Reservation& one : state.reservations) {
    if (!one.open || !one.facts.owner) continue;
    for (const NodeIndex i : one.nodes) {
      const Node& node = state.nodes[i];
      if (!node.healthy) continue;
      if (resource == state.cores()) own[one.facts.owner->value] += node.cores;
      if (resource == node.flavor.value) own[one.facts.owner->value] += node.gpus;
    }
  }
  return own;
}

double demand(const State& state, QuotaId id, std::size_t resource, const Amounts& own) {
  const Quota& quota = state.at(id);
  auto sum = static_cast<double>(own[id.value]);
  for (const QuotaId child : quota.children) sum += demand(state, child, resource, own);
  const auto cut = [&](const Bounds& bounds, std::int64_t above) {
    if (resource >= bounds.size() || !bounds[resource]) return;
    sum = std::min(sum, static_cast<double>(above + *bounds[resource]));
  };
  cut(quota.facts.limit, 0);
  cut(quota.facts.borrow, quota.guarantee[resource]);
  return sum;
}

struct Child {
  QuotaId id;
  double wanted{};
  double given{};
};

/// Deals out by weight to children with unmet demand, until either is gone.
void deal(const State& state, std::vector<Child>& children, double rest) {
  while (rest > kNothing) {
    double weights = 0;
    for (const Child& child : children) {
      if (child.wanted - child.given > kNothing) weights += state.at(child.id).facts.weight;
    }
    if (weights <= 0) return;
    double dealt = 0;
    for (Child& child : children) {
      const double unmet = child.wanted - child.given;
      if (unmet <= kNothing) continue;
      const double part = std::min(unmet, rest * state.at(child.id).facts.weight / weights);
      child.given += part;
      dealt += part;
    }
    rest -= dealt;
  }
}

void share_out(const State& state, QuotaId id, std::size_t resource, const Amounts& own,
               std::vector<double>& given) {
  std::vector<Child> children;
  double rest = given[id.value];
  for (const QuotaId child : state.at(id).children) {
    const Quota& quota = state.at(child);
    const double wanted = demand(state, child, resource, own);
    const double sure = std::min(static_cast<double>(quota.guarantee[resource]), wanted);
    const auto kept = static_cast<double>(quota.kept[resource]);
    rest -= sure + std::max(0.0, kept - sure);
    children.push_back({child, wanted, sure});
  }
  deal(state, children, rest);
  for (const Child& child : children) {
    given[child.id.value] = child.given;
    share_out(state, child.id, resource, own, given);
  }
}

}  // namespace

Covered cover(const State& state, QuotaId id, const Job* also) {
  const Quota& quota = state.at(id);
  const Covered below = covered_below(state, id, also);
  std::vector<const Job*> jobs;
  if (also != nullptr && is_below(state, also->queue, id)) jobs.push_back(also);
  add_active_below(state, id, jobs);
  std::ranges::sort(jobs, {}, [&](const Job* job) { return cover_key(state, *job, below); });
  Amounts left = quota.guarantee;
  for (std::size_t r = 0; r < left.size(); ++r) left[r] -= quota.reserved[r];
  Covered covered;
  for (const Job* job : jobs) {
    if (take_if_it_fits(state, job->charge, left)) covered.insert(job->id.value);
  }
  return covered;
}

bool would_cover(const State& state, QuotaId id, const Job& job, const Charge& charge) {
  Amounts left = state.at(id).guarantee;
  for (std::size_t r = 0; r < left.size(); ++r) left[r] -= state.at(id).reserved[r];
  if (!fits(state, charge, left)) return false;
  Job claim = job;
  claim.stage = Stage::kClaiming;
  claim.charge = charge;
  if (std::ranges::any_of(state.at(id).children,
                          [&](QuotaId child) { return state.at(child).states; })) {
    return cover(state, id, &claim).contains(job.id.value);
  }
  // Without guarantees below, only who comes before the claim counts.
  std::vector<const Job*> before;
  add_active_below(state, id, before);
  const Covered none;
  const auto key = [&](const Job* one) { return cover_key(state, *one, none); };
  std::erase_if(before, [&](const Job* one) { return key(one) > key(&claim); });
  std::ranges::sort(before, {}, key);
  for (const Job* one : before) take_if_it_fits(state, one->charge, left);
  return fits(state, charge, left);
}

const KnownCover& known_cover(const State& state, QuotaId id) {
  const auto [known, is_new] = state.covers.try_emplace(id);
  KnownCover& of = known->second;
  if (!is_new && (!of.at || *of.at == state.now)) return of;
  of.jobs = cover(state, id);
  of.uncovered.clear();
  of.could_free.clear();
  add_uncovered(state, id, of);
  of.at.reset();
  if (has_claim_below(state, id)) of.at = state.now;
  return of;
}

bool is_borrowed(const State& state, const Job& job) {
  if (!is_active(job) || job.inside) return false;
  return std::ranges::any_of(state.path(job.queue), [&](QuotaId quota) {
    return state.at(quota).states && !known_cover(state, quota).jobs.contains(job.id.value);
  });
}

std::vector<double> entitlements(const State& state, std::size_t resource) {
  const Amounts own = own_demand(state, resource);
  std::vector<double> given(state.quotas.size(), 0);
  given[kRoot.value] = static_cast<double>(state.capacity[resource]);
  share_out(state, kRoot, resource, own, given);
  return given;
}

double over(const State& state, QuotaId id) {
  const Quota& quota = state.at(id);
  double most = 0;
  for (std::size_t r = 0; r < state.capacity.size(); ++r) {
    if (state.capacity[r] <= 0) continue;
    const auto above = static_cast<double>(use(quota, r) - quota.guarantee[r]);
    most = std::max(most, above / static_cast<double>(state.capacity[r]));
  }
  return most;
}

double over_by_weight(const State& state, QuotaId quota) {
  const double weight = state.at(quota).facts.weight;
  return weight > 0 ? over(state, quota) / weight : std::numeric_limits<double>::infinity();
}

double score(const State& state, QuotaId id) {
  const Quota& quota = state.at(id);
  if (quota.facts.weight <= 0) return std::numeric_limits<double>::infinity();
  return (over(state, id) + state.policy.kappa * quota.past) / quota.facts.weight;
}

double dominant_share(const State& state, const Amounts& held) {
  double share = 0;
  for (std::size_t r = 0; r < held.size(); ++r) {
    if (state.capacity[r] <= 0) continue;
    share = std::max(share, static_cast<double>(held[r]) / static_cast<double>(state.capacity[r]));
  }
  return share;
}

}  // namespace artel::sched
