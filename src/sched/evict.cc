#include "sched/evict.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <tuple>

#include "sched/vacancy.h"
#include "sched/victims.h"
#include "sched/waiting.h"

namespace artel::sched {
namespace {

/// What a set of victims comes to.
enum class Answer : std::uint8_t {
  kHolds,
  kNever,   // nor does any part of this set
  kNotNow,  // a part of this set may
};

class Search {
 public:
  Search(State& state, const Job& job, FlavorId flavor, const PlanBook& plans,
         Protection protection)
      : state_(state),
        job_(job),
        variant_{smallest_size(*job.request), flavor},
        charge_(charge_of(state, *job.request, variant_.size, flavor)),
        plans_(plans),
        latest_(latest_start(job)),
        earliest_(rooms(state.now)),
        protection_(protection),
        victims_(state, job, charge_, protection) {}

  EvictionSearch run() { return {.plan = find(), .room_comes = room_comes_}; }

 private:
  std::optional<Eviction> find() {
    if (protection_ == Protection::kIgnored && !victims_.any_protected()) return std::nullopt;
    const auto is_own = [&](const Candidate& one) { return victims_.is_own(one); };
    const bool any_own = std::ranges::any_of(victims_.all(), is_own);
    const bool any_other = !std::ranges::all_of(victims_.all(), is_own);
    count_decides_ = count_decides();
    // Openings know of nobody who is assumed gone, so they are made before.
    for (const Part& part : parts_of(*job_.request, variant_.size)) {
      static_cast<void>(state_.openings.of(state_, job_, variant_.flavor, part));
    }
    for (const Step step : {Step::kOthers, Step::kOwn, Step::kBoth}) {
      if (step != Step::kOwn && !any_other) continue;  // also of both: as with its own only
      if (step != Step::kOthers && !any_own) continue;
      step_ = step;
      victims_.begin(step);
      if (auto best = cheapest()) return best;
    }
    return std::nullopt;
  }

  // Room --------------------------------------------------------------------------------------

  [[nodiscard]] Time last_grace() const {
    Time last = state_.now;
    for (const Candidate* one : taken_) {
      if (one->job->assumed_gone) last = std::max(last, state_.now + one->job->grace);
    }
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
  [[nodiscard]] std::optional<std::vector<Share>> place_after() const {
    Time start = last_grace();
    const std::vector<NodeIndex> usable = vacancy_->usable();  // at any later start there are fewer
    const Place where{.domain = domain_, .among = &usable};
    while (true) {
      auto shares = place(state_, job_, variant_, rooms(start), where);
      if (!shares) return std::nullopt;
      const Time starts = std::max(start, expected_start(state_, job_, *shares));
      const bool is_settled = starts == start || state_.reservations.empty();
      if (is_settled && latest_ && starts > *latest_) return std::nullopt;
      if (is_settled) return shares;
      start = starts;
    }
  }

  /// Whether Vacancy's count of nodes is all there is to room. It is for a job of one part, unless
  /// the time of the start decides: by a deadline, or by a reservation that a run may or may not
  /// end before. Then each job that leaves only adds room.
  [[nodiscard]] bool count_decides() const {
    if (job_.request->parts.size() != 1) return false;
    Time last = state_.now;  // the latest start that a plan could have
    for (const Candidate& one : victims_.all()) {
      if (one.in_time) last = std::max(last, state_.now + one.job->grace);
    }
    for (const JobId id : state_.signalled) {
      last = std::max(last, *end_of_hold(state_, state_.jobs.at(id)));
    }
    if (latest_ && last > *latest_) return false;
    const auto end = end_of_run(job_, state_.now);
    return !end || std::ranges::none_of(state_.reservations, [&](const Reservation& one) {
      return !one.facts.spares && one.facts.end > state_.now && *end <= one.facts.start &&
             *end_of_run(job_, last) > one.facts.start;
    });
  }

  [[nodiscard]] const std::vector<NodeIndex>& members() const {
    if (!domain_) return state_.by_name;
    return domain_->level == Locality::kLeaf ? state_.leaves[domain_->index]
                                             : state_.blocks[domain_->index];
  }

  /// Whether the step could make room in the domain at all, were all its candidates gone. True
  /// until nodes have been looked at.
  [[nodiscard]] bool may_make_room() {
    if (!vacancy_) return true;
    auto& known = possible_[static_cast<std::size_t>(step_)];
    if (known.empty()) {
      std::vector<Job*> leaving;
      for (const Candidate& one : victims_.all()) {
        if (one.in_time && victims_.in_step(one)) leaving.push_back(one.job);
      }
      known = vacancy_->suffices_without(leaving);
    }
    return known[domain_ ? domain_->index : 0];
  }

  // V3 ----------------------------------------------------------------------------------------

  /// Quota checks and counts of nodes only get better with each job that leaves: use, use*, and
  /// what users, budgets and licences have taken are sums over those who are there, what is
  /// compared with them stays, and a node's room is what its holders leave.
  Answer test() {
    failure_ = quota_failure(state_, job_, charge_, true);
    if (failure_) return Answer::kNever;
    if (!vacancy_) look_at_nodes();
    if (!vacancy_->suffices(domain_)) return Answer::kNever;
    if (!count_decides_ && !place_after()) return Answer::kNotNow;
    return victims_.all_qualify() ? Answer::kHolds : Answer::kNotNow;
  }

  void look_at_nodes() {
    vacancy_.emplace(state_, job_, variant_, earliest_);
    for (const Candidate* one : taken_) vacancy_->look_again(*one->job);
  }

  void take(const Candidate& one) {
    victims_.take(one);
    if (vacancy_) vacancy_->look_again(*one.job);
  }
  void put_back(const Candidate& one) {
    victims_.put_back(one);
    if (vacancy_) vacancy_->look_again(*one.job);
  }

  // V4 to V6 ----------------------------------------------------------------------------------

  /// The candidates by the domains on whose nodes they are, of the flavor and that p may use.
  void find_where() {
    const std::vector<Candidate>& all = victims_.sorted();
    std::vector<std::uint32_t> everybody(all.size());
    std::iota(everybody.begin(), everybody.end(), 0U);
    std::erase_if(everybody, [&](std::uint32_t i) { return !all[i].in_time; });
    in_domain_.resize(domain_ ? std::max(state_.leaves.size(), state_.blocks.size()) : 1);
    for (const std::uint32_t i : everybody) {
      for (const Share& share : all[i].job->shares) {
        const Node& node = state_.nodes[share.node.value];
        if (node.flavor != variant_.flavor || !admits(job_, share.node.value)) continue;
        auto& of_domain = in_domain_[domain_index(node)];
        if (of_domain.empty() || of_domain.back() != i) of_domain.push_back(i);
      }
    }
    anywhere_ = victims_.line(everybody);
  }

  [[nodiscard]] std::size_t domain_index(const Node& node) const {
    if (!domain_) return 0;
    return domain_->level == Locality::kLeaf ? node.leaf : node.block;
  }

  /// Only those who help: below the node whose check fails; else on nodes of the domain.
  const Candidate* next_victim() {
    if (!anywhere_) find_where();
    if (failure_) return victims_.next(*anywhere_, failure_);
    if (!here_) here_ = victims_.line(in_domain_[domain_ ? domain_->index : 0]);
    return victims_.next(*here_, {});
  }

  /// V5: in reverse order, and again from the end after each that could be put back. Who can never
  /// be put back needs no second look: then fewer are gone.
  void fill_back() {
    std::vector<bool> is_needed(taken_.size(), false);
    for (std::size_t i = taken_.size(); i-- > 0;) {
      if (is_needed[i] || taken_.size() == 1) continue;
      put_back(*taken_[i]);
      const Answer answer = test();
      if (answer == Answer::kHolds) {
        taken_.erase(taken_.begin() + static_cast<std::ptrdiff_t>(i));
        is_needed.erase(is_needed.begin() + static_cast<std::ptrdiff_t>(i));
        i = taken_.size();
      } else {
        take(*taken_[i]);
        is_needed[i] = answer == Answer::kNever;
      }
    }
  }

  bool take_victims() {
    Answer answer = test();
    while (answer != Answer::kHolds) {
      const Candidate* next = may_make_room() ? next_victim() : nullptr;
      if (next == nullptr) return false;
      take(*next);
      taken_.push_back(next);
      answer = test();
    }
    if (taken_.empty()) room_comes_ = true;
    return !taken_.empty();
  }

  std::optional<Eviction> try_domain() {
    taken_.clear();
    here_.reset();
    if (anywhere_) std::ranges::fill(anywhere_->looked_at, 0);
    std::optional<Eviction> plan;
    if (take_victims()) {
      fill_back();
      if (!wastes()) plan = plan_of_taken();
    }
    for (const Candidate* one : taken_) put_back(*one);
    return plan;
  }

  /// F3.
  [[nodiscard]] bool wastes() const {
    std::int64_t evicted = 0;
    for (const Candidate* one : taken_) {
      if (!victims_.is_own(*one) && !victims_.is_reclaimed(*one)) evicted += one->job->charge.gpus;
    }
    return static_cast<double>(evicted) >
           state_.policy.fair_waste_factor * static_cast<double>(charge_.gpus);
  }

  [[nodiscard]] std::optional<Eviction> plan_of_taken() const {
    auto shares = place_after();
    if (!shares) return std::nullopt;
    Eviction plan{.victims = {}, .shares = std::move(*shares)};
    for (const Candidate* one : taken_) {
      plan.victims.push_back(one->job->id);
      const Time until = victims_.protected_until(*one);
      const bool is_first = plan.last_protected == JobId{};
      if (!is_first && (until < plan.free_from ||
                        (until == plan.free_from && one->job->id > plan.last_protected))) {
        continue;
      }
      plan.free_from = until;
      plan.last_protected = one->job->id;
    }
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
      if (members().size() < nodes_of(*job_.request, variant_.size) || !may_make_room()) continue;
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
  std::optional<Time> latest_;  // W4
  Rooms earliest_;              // of a start now: nothing later sees more
  Protection protection_;
  Victims victims_;
  bool count_decides_ = false;
  bool room_comes_ = false;
  std::optional<Vacancy> vacancy_;
  std::array<std::vector<bool>, 3> possible_;  // by step and domain
  std::vector<std::vector<std::uint32_t>> in_domain_;
  Step step_ = Step::kOthers;
  std::optional<Domain> domain_;
  // Of the domain that is tried.
  std::vector<const Candidate*> taken_;
  std::optional<Failure> failure_;
  std::optional<Victims::Line> anywhere_;
  std::optional<Victims::Line> here_;
};

}  // namespace

EvictionSearch make_eviction(State& state, const Job& job, FlavorId flavor, const PlanBook& plans,
                             Protection protection) {
  return Search(state, job, flavor, plans, protection).run();
}

Leaving protected_ends(State& state, const Job& job, FlavorId flavor) {
  const Charge charge = charge_of(state, *job.request, smallest_size(*job.request), flavor);
  return Victims(state, job, charge, Protection::kIgnored).protected_ends();
}

}  // namespace artel::sched
