#include "sched/victims.h"

#include <algorithm>
#include <array>
#include <tuple>

#include "sched/books.h"
#include "sched/shares.h"
#include "sched/waiting.h"

namespace artel::sched {
namespace {

constexpr double kRounding = 1e-6;

}  // namespace

Victims::Victims(State& state, const Job& job, const Charge& charge, Protection protection)
    : state_(state),
      job_(job),
      charge_(charge),
      protection_(protection),
      own_present_(state.flavors + 1, 0) {
  find_own();
  if (may_reclaim_at_all()) find_others();
  const auto latest = latest_start(job);
  if (!latest) return;
  for (Candidate& one : candidates_) one.in_time = state.now + one.job->grace <= *latest;
}

// Who there is ------------------------------------------------------------------------------------

/// V2. Those that only their minimum run time protects are dropped last, so that they are noticed.
void Victims::find_own() {
  add_own(job_.pool);
  leave_covered_work();
  std::erase_if(candidates_, [&](const Candidate& one) {
    if (ran(*one.job, state_.policy.protect_priority)) return false;
    any_protected_ = true;
    return protection_ == Protection::kCounts;
  });
  for (const Candidate& one : candidates_) {
    for_each(state_, one.job->charge,
             [&](std::size_t r, std::int64_t held) { own_present_[r] += held; });
  }
}

void Victims::add_own(QuotaId quota) {
  std::optional<std::uint32_t> group;
  for (Job* victim : state_.active_of[quota.value]) {
    if (victim->pool != job_.pool || !is_displaceable(*victim)) continue;
    if (victim->priority >= job_.priority) continue;
    if (!group) group = group_like({.queue = quota, .team = victim->team, .own = true, .np = {}});
    candidates_.push_back({.job = victim, .group = *group, .lost = lost_work(state_, *victim)});
  }
  for (const QuotaId child : state_.at(quota).children) add_own(child);
}

/// V2: unless p would be covered itself, what its pool covers stays.
void Victims::leave_covered_work() {
  if (candidates_.empty() || job_.pool == kRoot) return;
  if (would_cover(state_, job_.pool, job_, charge_)) return;
  const Covered& covered = known_cover(state_, job_.pool).jobs;
  std::erase_if(candidates_,
                [&](const Candidate& one) { return covered.contains(one.job->id.value); });
}

/// V1 and F3: what is not in cover(nv), for each nv beside p's path.
void Victims::find_others() {
  if (fair_counts()) look_at_entitlements();
  for (const QuotaId np : state_.path(job_.pool)) {
    const QuotaId lca = state_.at(np).parent;
    for (const QuotaId nv : state_.at(lca).children) {
      if (nv != np) add_uncovered(np, nv);
    }
  }
}

void Victims::add_uncovered(QuotaId np, QuotaId nv) {
  const Policy& policy = state_.policy;
  const bool is_above = fair_counts() && above_entitlement_.contains(nv.value);
  const bool ignores = protection_ == Protection::kIgnored;
  std::array<std::optional<std::uint32_t>, 4> groups;
  std::optional<QuotaId> queue;
  for (Job* victim : known_cover(state_, nv).uncovered) {
    if (!is_below(state_, victim->pool, nv)) continue;  // nothing states a guarantee below
    if (victim->queue != queue) groups = {};
    queue = victim->queue;
    const bool ran_reclaim = ran(*victim, policy.protect_reclaim);
    const bool ran_fair = ran(*victim, policy.protect_fair);
    any_protected_ = any_protected_ || !ran_reclaim || (is_above && !ran_fair);
    const bool reclaimed = ignores || ran_reclaim;
    const bool levelled = is_above && (ignores || ran_fair);
    if (!reclaimed && !levelled) continue;
    auto& group = groups[(reclaimed ? 2U : 0U) + (levelled ? 1U : 0U)];
    if (!group) {
      group = group_like({.queue = victim->queue,
                          .team = victim->team,
                          .np = np,
                          .depth = state_.at(np).depth - 1,
                          .reclaimed = reclaimed,
                          .levelled = levelled});
    }
    candidates_.push_back({.job = victim, .group = *group, .lost = lost_work(state_, *victim)});
  }
}

std::uint32_t Victims::group_like(const Group& group) {
  groups_.push_back(group);
  return static_cast<std::uint32_t>(groups_.size() - 1);
}

bool Victims::fair_counts() const {
  return state_.policy.fair_preemption &&
         state_.now - waits_since(job_) >= state_.policy.fair_patience;
}

/// Whether any pool of others could give something: p is within some node of its path. Step 3
/// counts p's side without V2's jobs; the most that this can help is all of them.
bool Victims::may_reclaim_at_all() const {
  if (fair_counts()) return true;
  return std::ranges::any_of(state_.path(job_.pool), [&](QuotaId np) {
    bool within = true;
    for_each(state_, charge_, [&](std::size_t r, std::int64_t amount) {
      const std::int64_t least = use(state_.at(np), r) + amount - own_present_[r];
      within = within && least <= state_.at(np).guarantee[r];
    });
    return within;
  });
}

void Victims::look_at_entitlements() {
  for_each(state_, charge_, [&](std::size_t r, std::int64_t) {
    auto& entitled = entitled_[r];
    entitled = entitlements(state_, r);
    for (std::uint32_t q = 1; q < entitled.size(); ++q) {
      const auto used = static_cast<double>(use(state_.quotas[q], r));
      if (used > entitled[q] + kRounding) above_entitlement_.insert(q);
    }
  });
}

// Conditions, on the state with the victims gone --------------------------------------------------

/// use(np) with p; in step 3 without V2's jobs.
std::int64_t Victims::use_after(QuotaId np, std::size_t resource, std::int64_t amount) const {
  const std::int64_t sum = use(state_.at(np), resource) + amount;
  return step_ == Step::kBoth ? sum - own_present_[resource] : sum;
}

bool Victims::may_reclaim(const Group& group) const {
  if (!group.reclaimed) return false;
  bool fits = true;
  for_each(state_, charge_, [&](std::size_t r, std::int64_t amount) {
    fits = fits && use_after(group.np, r, amount) <= state_.at(group.np).guarantee[r];
  });
  return fits;
}

/// F3, but for its waste factor.
bool Victims::may_level(const Group& group) const {
  if (!group.levelled) return false;
  bool fits = true;
  for_each(state_, charge_, [&](std::size_t r, std::int64_t amount) {
    const auto after = static_cast<double>(use_after(group.np, r, amount));
    fits = fits && after <= entitled_.at(r)[group.np.value] + kRounding;
  });
  return fits;
}

bool Victims::all_qualify() const {
  return std::ranges::all_of(
      groups_, [&](const Group& group) { return group.taken == 0 || may_take(group); });
}

Time Victims::protected_until(const Candidate& one) const {
  const Policy& policy = state_.policy;
  if (is_own(one)) return one.job->start + policy.protect_priority;
  return one.job->start + (is_reclaimed(one) ? policy.protect_reclaim : policy.protect_fair);
}

Leaving Victims::protected_ends() const {
  Leaving ends;
  for (const Candidate& one : candidates_) {
    if (!may_take(groups_[one.group])) continue;
    ends[one.job->id] = std::max(state_.now, protected_until(one)) + one.job->grace;
  }
  return ends;
}

// Taking ------------------------------------------------------------------------------------------

void Victims::take(const Candidate& one) {
  ++state_.assumed;
  book(state_, *one.job, -1);
  one.job->assumed_gone = true;
  Group& group = groups_[one.group];
  ++group.taken;
  if (!group.own) return;
  for_each(state_, one.job->charge,
           [&](std::size_t r, std::int64_t held) { own_present_[r] -= held; });
}

void Victims::put_back(const Candidate& one) {
  one.job->assumed_gone = false;
  book(state_, *one.job, 1);
  --state_.assumed;
  Group& group = groups_[one.group];
  --group.taken;
  if (!group.own) return;
  for_each(state_, one.job->charge,
           [&](std::size_t r, std::int64_t held) { own_present_[r] += held; });
}

// Order, V4 ---------------------------------------------------------------------------------------

const std::vector<Candidate>& Victims::sorted() {
  if (is_sorted_) return candidates_;
  is_sorted_ = true;
  std::ranges::sort(candidates_, {}, [](const Candidate& one) {
    return std::tuple(one.job->priority, one.lost, -to_ms(one.job->start), ~one.job->id.value);
  });
  return candidates_;
}

Victims::Line Victims::line(const std::vector<std::uint32_t>& which) const {
  Line line{std::vector<std::vector<std::uint32_t>>(groups_.size()),
            std::vector<std::size_t>(groups_.size(), 0)};
  for (const std::uint32_t i : which) line.of_group[candidates_[i].group].push_back(i);
  return line;
}

/// Smallest first. V2's jobs come before the others where both are taken.
auto Victims::key(const Candidate& one) const {
  const Group& group = groups_[one.group];
  return std::tuple(!group.own, group.depth, group.own ? 0.0 : -over_by_weight(state_, group.team),
                    one.job->priority, one.lost, -to_ms(one.job->start), ~one.job->id.value);
}

const Candidate* Victims::next(Line& line, const std::optional<Failure>& failure) const {
  const Candidate* best = nullptr;
  const auto comes_later = [&](const Group& group) {
    if (best == nullptr) return false;
    const Group& of_best = groups_[best->group];
    return std::pair(!group.own, group.depth) > std::pair(!of_best.own, of_best.depth);
  };
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const Group& group = groups_[g];
    const std::vector<std::uint32_t>& members = line.of_group[g];
    std::size_t& head = line.looked_at[g];
    while (head < members.size() && candidates_[members[head]].job->assumed_gone) ++head;
    if (head == members.size() || !in_step(group) || comes_later(group)) continue;
    if (failure && !is_below(state_, group.queue, failure->quota)) continue;
    if (!may_take(group)) continue;
    const Candidate& one = candidates_[members[head]];
    if (best == nullptr || key(one) < key(*best)) best = &one;
  }
  return best;
}

}  // namespace artel::sched
