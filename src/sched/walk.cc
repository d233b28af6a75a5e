#include "sched/walk.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "sched/booked.h"
#include "sched/books.h"
#include "sched/checks.h"
#include "sched/line.h"
#include "sched/outlook.h"
#include "sched/start_search.h"
#include "sched/waiting.h"

namespace artel::sched {

class Walk::Steps {
 public:
  explicit Steps(State& state)
      : state_(state),
        plans_(state.nodes.size()),
        plans_of_(state.quotas.size()),
        evictable_(state),
        releases_(state, plans_.on_nodes),
        outlook_(state, plans_, evictable_) {}

  std::vector<Decision> go_on(const MayGoOn& may_go_on) {
    if (!line_) begin();
    while (!is_done_ && (!may_go_on || may_go_on())) {
      if (Job* job = line_->next()) {
        treat(*job);
      } else {
        keep_plans();
        is_done_ = true;
      }
    }
    return std::exchange(decisions_, {});
  }

  [[nodiscard]] bool is_done() const { return is_done_; }

 private:
  void begin() {
    state_.openings.trim();
    begin_slots(state_);
    start_claims();
    start_in_reservations();
    line_.emplace(state_);
  }

  // Starts ------------------------------------------------------------------------------------

  void start(Job& job, std::vector<Share> shares, bool inside) {
    if (job.stage == Stage::kPending) take_slot(state_, job);
    job.stage = Stage::kRunning;
    job.inside = inside;
    job.start = state_.now;
    job.saved_at = state_.now;
    job.limit_end = end_of_run(job, state_.now);
    if (job.deadline) job.limit_end = std::min(*job.limit_end, *job.deadline);
    job.shares = std::move(shares);
    job.needed = job.shares.size() - job.request->spares;
    job.charge = charge_of_shares(state_, job);
    job.wait = {};
    hold(state_, job);
    book(state_, job, 1);
    note_start(state_, job);
    decisions_.emplace_back(
        Started{.job = job.id, .shares = job.shares, .limit_end = job.limit_end});
    evictable_.started(job);
    note_change_on(job);
    answers_.clear();
    hopeless_.clear();
    if (ends_ && job.limit_end) add_end(*job.limit_end);
    if (line_) line_->changed(job.queue);
  }

  void note_change_on(const Job& job) {
    for (const Share& share : job.shares) releases_.changed(share.node.value);
  }

  /// Who is signalled on a node of another claim, or has licences that it wants, moves its start
  /// and with that its end on all its nodes.
  void note_change_on_claims(const std::vector<JobId>& victims) {
    bool any_licences = false;
    for (const JobId id : victims) {
      const Job& victim = state_.jobs.at(id);
      any_licences = any_licences || !victim.request->licences.empty();
      for (const Share& share : victim.shares) {
        for (const Holder& holder : state_.nodes[share.node.value].holders) {
          if (holder.job->stage == Stage::kClaiming) note_change_on(*holder.job);
        }
      }
    }
    if (!any_licences) return;
    for (const JobId id : state_.active) {
      const Job& job = state_.jobs.at(id);
      if (job.stage == Stage::kClaiming && !job.request->licences.empty()) note_change_on(job);
    }
  }

  /// The claim leaves the books and comes back as a run.
  void start_claim(Job& job) {
    std::vector<Share> shares = job.shares;
    book(state_, job, -1);
    drop(state_, job);
    start(job, std::move(shares), false);
  }

  /// O0, first half.
  void start_claims() {
    std::vector<Job*> claims;
    for (const JobId id : state_.active) {
      Job& job = state_.jobs.at(id);
      if (job.stage == Stage::kClaiming) claims.push_back(&job);
    }
    std::ranges::sort(claims, {}, &Job::claim);
    for (Job* job : claims) {
      if (can_start(state_, *job)) {
        start_claim(*job);
      } else {
        stop_queues_of(*job);
        job->wait = claim_wait(state_, *job);
      }
    }
  }

  /// O0, second half.
  void start_in_reservations() {
    for (Job* job : reservation_line(state_)) {
      if (!has_slot(state_, *job)) {
        job->wait = {.reason = Reason::kArrayThrottle};
        continue;
      }
      FlavorId flavor;
      std::uint32_t size = 0;
      auto shares = place_inside(state_, *job, flavor, size);
      if (shares) {
        start(*job, std::move(*shares), find_reservation(state_, *job->reservation)->open);
      } else {
        const Reservation& one = *find_reservation(state_, *job->reservation);
        job->wait = {};
        job->wait.reason = Reason::kReservation;
        job->wait.reservation = one.id;
        if (!one.open) job->wait.until = one.facts.start;
      }
    }
  }

  /// For explanations.
  void keep_plans() {
    for (const auto& [job, plans] : known_) job->plans_before = plans;
    state_.plans.clear();
    for (Planned& plan : plans_.all) {
      state_.plans.push_back({.job = plan.job->id,
                              .start = plan.start,
                              .end = plan.end,
                              .shares = std::move(plan.shares)});
    }
  }

  // Strict order, Q7 --------------------------------------------------------------------------

  /// The first job of a strict queue of the path that did not start; nullopt: there is none.
  [[nodiscard]] std::optional<JobId> stopped_by(const Job& job) const {
    for (const QuotaId quota : state_.path(job.queue)) {
      const auto first = stopped_.find(quota);
      if (first != stopped_.end()) return first->second;
    }
    return std::nullopt;
  }

  void stop_queues_of(const Job& job) {
    for (const QuotaId quota : state_.path(job.queue)) {
      if (state_.at(quota).facts.strict_fifo) stopped_.try_emplace(quota, job.id);
    }
  }

  // Treating one job --------------------------------------------------------------------------

  void treat(Job& job) {
    job.wait = {};
    const auto plans_before = static_cast<std::uint32_t>(plans_.all.size());
    know_plans(job, plans_before);
    if (const auto before = stopped_by(job)) {
      job.wait.reason = Reason::kStrictOrder;
      job.wait.behind = *before;
      return;
    }
    const std::optional<Alike> alike = alike_of(job);
    const auto known = alike ? answers_.find(*alike) : answers_.end();
    if (known != answers_.end() && known->second.holds(plans_.all.size())) {
      stop_queues_of(job);
      job.wait = known->second.wait;
      know_plans(job, known->second.plans_before);
    } else {
      if (try_start(job)) return;
      stop_queues_of(job);
      if (in_backoff(job) && !outlook_.ever_within(job)) {
        job.wait.reason = Reason::kBackoff;
        job.wait.until = job.backoff_until;
        return;
      }
      Outlook::Search search = outlook_.find_eviction(job);
      if (search.found) return claim(job, *search.found);
      job.wait = outlook_.first_reason(job);
      if (alike) {
        answers_.insert_or_assign(*alike, Answer{job.wait, plans_before, search.room_comes});
      }
    }
    if (lacks_only_room(job.wait.reason)) plan_if_due(job, alike);
  }

  /// The plans before it, to be told when they are those of the last pass.
  void know_plans(Job& job, std::uint32_t plans) { known_.emplace_back(&job, plans); }

  /// Why alike jobs wait, as it was after so many plans.
  struct Answer {
    Wait wait;
    std::uint32_t plans_before{};
    bool room_comes{};
    /// Plans only take room, and with it starts and evictions. But who was denied an eviction
    /// because room comes by itself gets one when a plan takes that.
    [[nodiscard]] bool holds(std::size_t plans_now) const {
      return !room_comes || plans_before == plans_now;
    }
  };

  /// Jobs that get the same answer until somebody starts or claims: shape, queue, user where there
  /// are limits per user or users share devices, priority, preemptibility, latest start.
  using Alike = std::tuple<std::uint64_t, QuotaId, UserId, std::int32_t, bool, std::optional<Time>>;

  /// nullopt: the answer depends on more.
  [[nodiscard]] std::optional<Alike> alike_of(const Job& job) const {
    if (in_backoff(job) || state_.policy.fair_preemption || !job.marks.empty()) {
      return std::nullopt;
    }
    if (job.evicted_at == state_.now) return std::nullopt;
    const bool is_sharer =
        state_.policy.share_between == ShareBetween::kUser && asks_for_share(*job.request);
    const bool counts_users =
        is_sharer || std::ranges::any_of(state_.path(job.queue), [&](QuotaId quota) {
          const QuotaFacts& facts = state_.at(quota).facts;
          return facts.max_jobs_per_user || facts.max_gpus_per_user;
        });
    return Alike{job.request->number, job.queue,       counts_users ? job.user : UserId{},
                 job.priority,        job.preemptible, latest_start(job)};
  }

  [[nodiscard]] bool in_backoff(const Job& job) const { return state_.now < job.backoff_until; }

  /// G3, then G4's scopes, then the flavors.
  bool try_start(Job& job) {
    for (const std::uint32_t size : sizes_of(*job.request)) {
      for (const bool only_within : {true, false}) {
        for (const FlavorId flavor : job.request->flavors) {
          const Charge charge = charge_of(state_, *job.request, size, flavor);
          const bool within = is_within_path(state_, job.queue, charge);
          if ((only_within || in_backoff(job)) && !within) continue;
          if (quota_failure(state_, job, charge, false)) continue;
          if (!may_fit(state_, job, {size, flavor})) continue;
          auto shares = place_now(job, {size, flavor}, charge);
          if (!shares) continue;
          start(job, std::move(*shares), false);
          return true;
        }
      }
    }
    return false;
  }

  /// Beside all plans, else beside those that bind the job (B3).
  [[nodiscard]] std::optional<std::vector<Share>> place_now(const Job& job, const Variant& variant,
                                                            const Charge& charge) const {
    const Interval interval = interval_now(state_, job);
    const auto among = open_nodes(state_, job, variant);
    const Place where{.domain = {}, .among = &among};
    auto shares = place(state_, job, variant, Rooms(state_, interval, &plans_.on_nodes), where);
    if (shares || plans_.all.empty()) return shares;
    const PlanFilter binding = outlook_.binding_plans(job, charge);
    return place(state_, job, variant, Rooms(state_, interval, &plans_.on_nodes, &binding), where);
  }

  // Evictions ---------------------------------------------------------------------------------

  /// A1: the claim; it starts at once if nothing is left to wait for.
  void claim(Job& job, Outlook::Found& found) {
    for (const JobId id : found.plan.victims) {
      evictable_.signalled(state_.jobs.at(id));
      note_change_on(state_.jobs.at(id));
      signal(state_, state_.jobs.at(id));
      decisions_.emplace_back(Signalled{id, job.id});
    }
    take_slot(state_, job);
    job.stage = Stage::kClaiming;
    job.shares = std::move(found.plan.shares);
    job.charge = charge_of(state_, *job.request, smallest_size(*job.request), found.flavor);
    job.claim = ++state_.claims;
    watch_wait(state_, job);
    hold(state_, job);
    job.wait = claim_wait(state_, job);
    book(state_, job, 1);
    note_change_on(job);
    note_change_on_claims(found.plan.victims);
    evictable_.claimed(job);
    answers_.clear();
    hopeless_.clear();
    ends_.reset();
    if (can_start(state_, job)) start_claim(job);
    line_->all_changed();
  }

  static bool lacks_only_room(Reason reason) {
    switch (reason) {
      case Reason::kProtected:
      case Reason::kBackfill:
      case Reason::kReservation:
      case Reason::kTopology:
      case Reason::kResources:
        return true;
      default:
        return false;
    }
  }

  // Planned starts, B2 ------------------------------------------------------------------------

  void plan_if_due(Job& job, const std::optional<Alike>& alike) {
    std::uint32_t& made = plans_of_[job.team.value];
    const bool is_due = made < most_plans(state_, job);
    const auto latest = latest_start(job);
    if (!is_due && !latest) return;
    const auto known = alike ? hopeless_.find(*alike) : hopeless_.end();
    if (known != hopeless_.end() && known->second.plans == plans_.all.size()) {
      if (known->second.start) tell_unreachable(job, *known->second.start);
      return;
    }
    auto plan = plan_start(job);
    if (!plan || (latest && plan->start > *latest)) {
      const auto start = plan ? std::optional(plan->start) : std::nullopt;
      if (alike) hopeless_.insert_or_assign(*alike, NoPlan{start, plans_.all.size()});
      if (start) tell_unreachable(job, *start);
      return;
    }
    if (!is_due) return;
    ++made;
    job.wait.planned_start = plan->start;
    const Planned& kept = plans_.add(std::move(*plan));
    if (kept.end) add_end(*kept.end);
    for (const Share& share : kept.shares) releases_.planned(share.node.value);
    if (!job.array) return;
    take_slot(state_, job);
    line_->changed(job.queue);
  }

  /// Why alike jobs get no plan: it would come too late, or (without `start`) nobody knows when.
  struct NoPlan {
    std::optional<Time> start;
    std::size_t plans{};
  };

  /// W5.
  static void tell_unreachable(Job& job, Time start) {
    if (job.wait.reason == Reason::kProtected) return;
    job.wait = {.reason = Reason::kDeadlineUnreachable, .until = start};
  }

  void add_end(Time time) {
    if (time <= state_.now) return;
    const auto at = std::ranges::lower_bound(*ends_, time);
    if (at == ends_->end() || *at != time) ends_->insert(at, time);
  }

  /// The times at which something ends, ascending. Some may be of work that has left since: nothing
  /// becomes possible at those.
  const std::vector<Time>& ends() {
    if (ends_) return *ends_;
    std::vector<Time> times;
    const auto add = [&](std::optional<Time> time) {
      if (time && *time > state_.now) times.push_back(*time);
    };
    for (const JobId id : state_.active) {
      const Job& job = state_.jobs.at(id);
      add(end_of_hold(state_, job));
      add(job.limit_end);
    }
    for (const Planned& plan : plans_.all) add(plan.end);
    for (const Reservation& one : state_.reservations) add(one.facts.end);
    std::ranges::sort(times);
    const auto rest = std::ranges::unique(times);
    times.erase(rest.begin(), rest.end());
    return ends_.emplace(std::move(times));
  }

  /// For a job whose reason is Protected: when those can be gone that are only protected.
  Leaving leaving_for(const Job& job) {
    Leaving leaving;
    if (job.wait.reason != Reason::kProtected) return leaving;
    for (const FlavorId flavor : job.request->flavors) {
      for (const auto& [id, time] : protected_ends(state_, job, flavor)) {
        const auto [entry, is_new] = leaving.emplace(id, time);
        if (!is_new) entry->second = std::min(entry->second, time);
      }
    }
    return leaving;
  }

  std::vector<Time> ends_with(const Leaving& leaving) {
    if (leaving.empty()) return ends();
    std::vector<Time> early;
    for (const auto& [id, time] : leaving) {
      if (time > state_.now) early.push_back(time);
    }
    std::ranges::sort(early);
    std::vector<Time> times;
    times.reserve(ends().size() + early.size());
    std::ranges::merge(ends(), early, std::back_inserter(times));
    return times;
  }

  std::optional<Planned> plan_start(const Job& job) {
    releases_.trim();
    const std::vector<Variant> allowed = outlook_.allowed_variants(job);
    const Leaving leaving = leaving_for(job);
    const Beside beside{releases_, leaving};
    const std::vector<Time> times = ends_with(leaving);
    return StartSearch(state_, job, allowed, beside).run(times);
  }

  State& state_;
  std::vector<Decision> decisions_;
  Plans plans_;
  std::vector<std::uint32_t> plans_of_;
  std::vector<std::pair<Job*, std::uint32_t>> known_;
  std::map<QuotaId, JobId> stopped_;
  Evictable evictable_;
  Releases releases_;
  Outlook outlook_;
  std::map<Alike, Answer> answers_;
  std::map<Alike, NoPlan> hopeless_;
  std::optional<std::vector<Time>> ends_;
  std::optional<Line> line_;  // none before the first job is treated
  bool is_done_ = false;
};

Walk::Walk(State& state) : steps_(std::make_unique<Steps>(state)) {}
Walk::~Walk() = default;

std::vector<Decision> Walk::go_on(const MayGoOn& may_go_on) { return steps_->go_on(may_go_on); }

bool Walk::is_done() const { return steps_->is_done(); }

}  // namespace artel::sched
