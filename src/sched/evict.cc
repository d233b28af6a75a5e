#include "sched/evict.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "sched/books.h"
#include "sched/checks.h"
#include "sched/shares.h"
#include "sched/waiting.h"

namespace artel::sched {
namespace {

constexpr double kRounding = 1e-6;

enum class Step : std::uint8_t { kOthers, kOwn, kBoth };  // of V3

/// A job that may leave, and what is the same for it in every state.
struct Candidate {
  Job* job{};
  bool own{};  // V2: of p's own pool
  QuotaId np;  // p's side below the lowest common ancestor; of others only
  QuotaId nv;  // the victim's side
  std::uint32_t lca_depth{};
  std::int64_t lost{};
};

/// Takes a job out of the books while a plan is made.
void assume_gone(State& state, Job& job) {
  ++state.assumed;
  book(state, job, -1);
  job.assumed_gone = true;
}
void put_back(State& state, Job& job) {
  job.assumed_gone = false;
  book(state, job, 1);
  --state.assumed;
}

class Search {
 public:
  Search(State& state, const Job& job, FlavorId flavor, const PlanBook& plans,
         Protection protection)
      : state_(state),
        job_(job),
        variant_{smallest_size(*job.request), flavor},
        charge_(charge_of(state, *job.request, variant_.size, flavor)),
        plans_(plans),
        protection_(protection),
        latest_(latest_start(job)) {}

  std::optional<Eviction> run() {
    find_candidates();
    if (candidates_.empty()) return std::nullopt;
    std::optional<Eviction> best;
    for (const Step step : {Step::kOthers, Step::kOwn, Step::kBoth}) {
      step_ = step;
      best = cheapest();
      if (best) break;
    }
    return best;
  }

  Leaving protected_ends() {
    find_candidates();
    const Policy& policy = state_.policy;
    Leaving ends;
    for (const Candidate& one : candidates_) {
      Duration least = policy.protect_priority;
      if (!one.own) {
        const bool reclaims = may_reclaim(one);
        if (!reclaims && !may_level(one)) continue;
        least = reclaims ? policy.protect_reclaim : policy.protect_fair;
      }
      ends[one.job->id] = std::max(state_.now, one.job->start + least) + one.job->grace;
    }
    return ends;
  }

 private:
  // Before the plan ---------------------------------------------------------------------------

  [[nodiscard]] bool ran(const Job& victim, Duration least) const {
    return protection_ == Protection::kIgnored || state_.now - victim.start >= least;
  }

  [[nodiscard]] bool fair_counts() const {
    return state_.policy.fair_preemption &&
           state_.now - waits_since(job_) >= state_.policy.fair_patience;
  }

  /// Whether any pool of others could give something: p is within some node of its path. Step 3
  /// counts p's side without V2's jobs; the most that this can help is all of them.
  [[nodiscard]] bool may_reclaim_at_all() const {
    if (fair_counts()) return true;
    Amounts own(state_.flavors + 1, 0);
    for (const Candidate& one : own_) {
      for_each(state_, one.job->charge, [&](std::size_t r, std::int64_t held) { own[r] += held; });
    }
    return std::ranges::any_of(state_.path(job_.pool), [&](QuotaId np) {
      bool within = true;
      for_each(state_, charge_, [&](std::size_t r, std::int64_t amount) {
        const std::int64_t least = use(state_.at(np), r) + amount - own[r];
        within = within && least <= state_.at(np).guarantee[r];
      });
      return within;
    });
  }

  void find_candidates() {
    add_own(job_.pool);
    leave_covered_work();
    own_ = candidates_;
    if (!may_reclaim_at_all()) return;
    if (fair_counts()) look_at_entitlements();
    for (const std::vector<Job*>& of_queue : state_.active_of) {
      for (Job* victim : of_queue) {
        if (victim->pool == job_.pool || !is_eligible_victim(*victim)) continue;
        Candidate one{.job = victim, .lost = lost_work(state_, *victim)};
        if (is_borrowed_there(one)) candidates_.push_back(one);
      }
    }
  }

  static bool is_eligible_victim(const Job& job) {
    return job.stage == Stage::kRunning && job.preemptible && !job.inside;
  }

  /// V2.
  void add_own(QuotaId quota) {
    for (Job* victim : state_.active_of[quota.value]) {
      if (victim->pool != job_.pool || !is_eligible_victim(*victim)) continue;
      if (victim->priority >= job_.priority || !ran(*victim, state_.policy.protect_priority)) {
        continue;
      }
      candidates_.push_back({.job = victim, .own = true, .lost = lost_work(state_, *victim)});
    }
    for (const QuotaId child : state_.at(quota).children) add_own(child);
  }

  /// V2: unless p would be covered itself, what its pool covers stays.
  void leave_covered_work() {
    if (candidates_.empty() || job_.pool == kRoot) return;
    Job claim = job_;
    claim.stage = Stage::kClaiming;
    claim.charge = charge_;
    if (cover(state_, job_.pool, &claim).contains(claim.id.value)) return;
    const Covered& covered = known_cover(state_, job_.pool);
    std::erase_if(candidates_,
                  [&](const Candidate& one) { return covered.contains(one.job->id.value); });
  }

  /// V1 and F3: not in cover(nv).
  bool is_borrowed_there(Candidate& one) {
    const QuotaId lca = common_ancestor(state_, job_.pool, one.job->pool);
    const auto np = child_towards(state_, lca, job_.pool);
    const auto nv = child_towards(state_, lca, one.job->pool);
    if (!np || !nv) return false;
    one.np = *np;
    one.nv = *nv;
    one.lca_depth = state_.at(lca).depth;
    return !known_cover(state_, *nv).contains(one.job->id.value);
  }

  void look_at_entitlements() {
    for_each(state_, charge_, [&](std::size_t r, std::int64_t) {
      auto& entitled = entitled_[r];
      entitled = entitlements(state_, r);
      for (std::uint32_t q = 1; q < entitled.size(); ++q) {
        const auto used = static_cast<double>(use(state_.quotas[q], r));
        if (used > entitled[q] + kRounding) above_entitlement_.insert(q);
      }
    });
  }

  // Conditions, on the state with the victims gone --------------------------------------------

  /// use(np) with p; in step 3 without V2's jobs.
  [[nodiscard]] std::int64_t use_after(QuotaId np, std::size_t r, std::int64_t amount) const {
    std::int64_t sum = use(state_.at(np), r) + amount;
    if (step_ != Step::kBoth) return sum;
    for (const Candidate& one : own_) {
      if (!is_active(*one.job)) continue;
      for_each(state_, one.job->charge, [&](std::size_t resource, std::int64_t held) {
        if (resource == r) sum -= held;
      });
    }
    return sum;
  }

  [[nodiscard]] bool may_reclaim(const Candidate& one) const {
    if (!ran(*one.job, state_.policy.protect_reclaim)) return false;
    bool fits = true;
    for_each(state_, charge_, [&](std::size_t r, std::int64_t amount) {
      fits = fits && use_after(one.np, r, amount) <= state_.at(one.np).guarantee[r];
    });
    return fits;
  }

  /// F3, but for its waste factor.
  [[nodiscard]] bool may_level(const Candidate& one) const {
    if (!fair_counts() || !ran(*one.job, state_.policy.protect_fair)) return false;
    if (!above_entitlement_.contains(one.nv.value)) return false;
    bool fits = true;
    for_each(state_, charge_, [&](std::size_t r, std::int64_t amount) {
      const auto after = static_cast<double>(use_after(one.np, r, amount));
      fits = fits && after <= entitled_.at(r)[one.np.value] + kRounding;
    });
    return fits;
  }

  /// W4: it would leave in time for the latest start.
  [[nodiscard]] bool leaves_in_time(const Candidate& one) const {
    return !latest_ || state_.now + one.job->grace <= *latest_;
  }

  [[nodiscard]] bool may_take(const Candidate& one) const {
    return leaves_in_time(one) && (one.own || may_reclaim(one) || may_level(one));
  }

  /// By the cause for which it is taken.
  [[nodiscard]] Time protected_until(const Candidate& one) const {
    if (one.own) return one.job->start + state_.policy.protect_priority;
    const bool reclaimed = may_reclaim(one);
    return one.job->start +
           (reclaimed ? state_.policy.protect_reclaim : state_.policy.protect_fair);
  }

  void note_protection(const std::vector<Candidate>& victims, Eviction& plan) const {
    for (const Candidate& one : victims) {
      const Time until = protected_until(one);
      const bool is_first = plan.last_protected == JobId{};
      if (!is_first && (until < plan.free_from ||
                        (until == plan.free_from && one.job->id > plan.last_protected))) {
        continue;
      }
      plan.free_from = until;
      plan.last_protected = one.job->id;
    }
  }

  [[nodiscard]] bool wastes(const std::vector<Candidate>& victims) const {
    std::int64_t evicted = 0;
    for (const Candidate& one : victims) {
      if (!one.own && !may_reclaim(one)) evicted += one.job->charge.gpus;
    }
    return static_cast<double>(evicted) >
           state_.policy.fair_waste_factor * static_cast<double>(charge_.gpus);
  }

  // Room --------------------------------------------------------------------------------------

  [[nodiscard]] Time last_grace(const std::vector<Candidate>& victims) const {
    Time last = state_.now;
    for (const Candidate& one : victims) last = std::max(last, state_.now + one.job->grace);
    return last;
  }

  /// As it is once the victims have left and p starts at `start`.
  [[nodiscard]] Rooms rooms(Time start) const {
    return {state_,
            {.from = state_.now,
             .end = end_of_run(job_, start),
             .plans_count = PlansCount::kAlways,
             .signalled_gone = true,
             .sharer = sharer_of(state_, job_)},
            &plans_};
  }

  /// Where p goes, beside reservations for the time after its start: the last grace of the plan, of
  /// who was signalled on its nodes before, and of who holds its licences.
  [[nodiscard]] std::optional<std::vector<Share>> place_after(
      const std::vector<Candidate>& victims) const {
    Time start = last_grace(victims);
    while (true) {
      auto shares = place(state_, job_, variant_, rooms(start), {.domain = domain_});
      if (!shares) return std::nullopt;
      const Time starts = std::max(start, expected_start(state_, job_, *shares));
      const bool is_settled = starts == start || state_.reservations.empty();
      if (is_settled && latest_ && starts > *latest_) return std::nullopt;
      if (is_settled) return shares;
      start = starts;
    }
  }

  [[nodiscard]] bool holds(const std::vector<Candidate>& victims) const {
    if (quota_failure(state_, job_, charge_, true)) return false;
    if (!enough_nodes(victims) || !place_after(victims)) return false;
    return std::ranges::all_of(victims, [&](const Candidate& one) { return may_take(one); });
  }

  /// A quick answer where it is no: too few nodes that fit.
  [[nodiscard]] bool enough_nodes(const std::vector<Candidate>& victims) const {
    if (job_.request->parts.size() != 1) return true;
    const Rooms room = rooms(last_grace(victims));
    const Part& part = job_.request->parts.front();
    std::uint32_t left = nodes_of(*job_.request, variant_.size);
    for (const NodeIndex node : members()) {
      if (state_.nodes[node].flavor != variant_.flavor || !admits(job_, node)) continue;
      if (!is_candidate(state_, job_, variant_.flavor, part, node, room.at(node))) continue;
      if (--left == 0) return true;
    }
    return false;
  }

  [[nodiscard]] const std::vector<NodeIndex>& members() const {
    if (!domain_) return state_.by_name;
    return domain_->level == Locality::kLeaf ? state_.leaves[domain_->index]
                                             : state_.blocks[domain_->index];
  }

  // V4 to V6 ----------------------------------------------------------------------------------

  /// V4, smallest first. V2's jobs come before the others where both are taken.
  [[nodiscard]] auto key(const Candidate& one) const {
    return std::tuple(!one.own, one.lca_depth,
                      one.own ? 0.0 : -over_by_weight(state_, one.job->team), one.job->priority,
                      one.lost, -to_ms(one.job->start), ~one.job->id.value);
  }

  /// Below the node whose check fails; else on nodes of the domain and of the flavor that p may
  /// use.
  [[nodiscard]] bool helps(const Candidate& one, const std::optional<Failure>& failure) const {
    if (failure) return is_below(state_, one.job->queue, failure->quota);
    return std::ranges::any_of(one.job->shares, [&](const Share& share) {
      const Node& node = state_.nodes[share.node.value];
      return node.flavor == variant_.flavor && is_in(node, domain_) &&
             admits(job_, share.node.value);
    });
  }

  [[nodiscard]] const Candidate* next_victim() const {
    const auto failure = quota_failure(state_, job_, charge_, true);
    const Candidate* best = nullptr;
    for (const Candidate& one : candidates_) {
      if (one.own ? step_ == Step::kOthers : step_ == Step::kOwn) continue;
      if (one.job->assumed_gone || !helps(one, failure) || !may_take(one)) continue;
      if (best == nullptr || key(one) < key(*best)) best = &one;
    }
    return best;
  }

  /// V5: in reverse order, until nobody can be put back.
  void fill_back(std::vector<Candidate>& victims) {
    for (std::size_t i = victims.size(); i-- > 0;) {
      std::vector<Candidate> fewer = victims;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
      put_back(state_, *victims[i].job);
      if (!fewer.empty() && holds(fewer)) {
        victims = std::move(fewer);
        i = victims.size();
      } else {
        assume_gone(state_, *victims[i].job);
      }
    }
  }

  std::optional<Eviction> try_domain() {
    std::vector<Candidate> victims;
    bool done = holds(victims);
    while (!done) {
      const Candidate* next = next_victim();
      if (next == nullptr) break;
      assume_gone(state_, *next->job);
      victims.push_back(*next);
      done = holds(victims);
    }
    std::optional<Eviction> plan;
    if (done && !victims.empty()) {
      fill_back(victims);
      if (!wastes(victims)) {
        plan = Eviction{.victims = {}, .shares = *place_after(victims)};
        for (const Candidate& one : victims) plan->victims.push_back(one.job->id);
        note_protection(victims, *plan);
      }
    }
    for (const Candidate& one : victims) put_back(state_, *one.job);
    return plan;
  }

  /// V6: the domains of the required level, else the cluster.
  [[nodiscard]] std::vector<std::optional<Domain>> domains() const {
    const Locality level = job_.request->locality;
    if (level == Locality::kAny) return {std::nullopt};
    const std::size_t count =
        level == Locality::kLeaf ? state_.leaves.size() : state_.blocks.size();
    std::vector<std::optional<Domain>> all;
    all.reserve(count);
    for (std::uint32_t i = 0; i < count; ++i) all.emplace_back(Domain{level, i});
    return all;
  }

  [[nodiscard]] auto cost(const Eviction& plan) const {
    std::int32_t top = state_.jobs.at(plan.victims.front()).priority;
    std::int64_t lost = 0;
    for (const JobId id : plan.victims) {
      const Job& victim = state_.jobs.at(id);
      top = std::max(top, victim.priority);
      lost += lost_work(state_, victim);
    }
    return std::tuple(top, lost, plan.victims.size());
  }

  std::optional<Eviction> cheapest() {
    std::optional<Eviction> best;
    for (const auto& domain : domains()) {  // in the order of names
      domain_ = domain;
      if (members().size() < nodes_of(*job_.request, variant_.size)) continue;
      auto plan = try_domain();
      if (plan && (!best || cost(*plan) < cost(*best))) best = std::move(plan);
    }
    return best;
  }

  State& state_;
  const Job& job_;
  Variant variant_;
  Charge charge_;
  const PlanBook& plans_;
  Protection protection_;
  std::optional<Time> latest_;  // W4
  Step step_ = Step::kOthers;
  std::optional<Domain> domain_;
  std::vector<Candidate> candidates_;
  std::vector<Candidate> own_;
  std::map<std::size_t, std::vector<double>> entitled_;
  std::set<std::uint32_t> above_entitlement_;
};

}  // namespace

std::optional<Eviction> make_eviction(State& state, const Job& job, FlavorId flavor,
                                      const PlanBook& plans, Protection protection) {
  return Search(state, job, flavor, plans, protection).run();
}

Leaving protected_ends(State& state, const Job& job, FlavorId flavor) {
  const PlanBook no_plans(state.nodes.size());
  return Search(state, job, flavor, no_plans, Protection::kIgnored).protected_ends();
}

}  // namespace artel::sched
