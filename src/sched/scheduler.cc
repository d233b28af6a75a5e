#include "sched/scheduler.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "base/assert.h"
#include "sched/admit.h"
#include "sched/booked.h"
#include "sched/books.h"
#include "sched/candidates.h"
#include "sched/checks.h"
#include "sched/explain.h"
#include "sched/line.h"
#include "sched/quota_change.h"
#include "sched/shares.h"
#include "sched/spares.h"
#include "sched/state.h"
#include "sched/waiting.h"
#include "sched/walk.h"

namespace artel::sched {
namespace {

/// The cluster with every node healthy and nothing on it.
std::shared_ptr<const State> make_blank(const State& state) {
  auto blank = std::make_shared<State>(state);
  blank->jobs.clear();
  blank->waiting.clear();
  blank->active.clear();
  blank->signalled.clear();
  for (auto& of_queue : blank->active_of) of_queue.clear();
  blank->covers.clear();
  blank->openings.clear();
  blank->reservations.clear();
  blank->arrays.clear();
  blank->dependents.clear();
  blank->names.clear();
  blank->wait_ends.clear();
  std::ranges::fill(blank->licences_active, 0);
  std::ranges::fill(blank->licences_signalled, 0);
  for (Node& node : blank->nodes) {
    node.healthy = true;
    node.in_maintenance = false;
    node.holders.clear();
    node.free_gpus = node.gpus;
    node.free_cores = node.cores;
    node.free_memory = node.memory;
    node.exclusive = 0;
    node.reservations = 0;
  }
  for (Quota& quota : blank->quotas) {
    quota.facts.budget.reset();
    std::ranges::fill(quota.jobs, 0);
    std::ranges::fill(quota.fixed, 0);
    quota.users.clear();
  }
  derive_capacity(*blank);
  return blank;
}

/// Q6: whether it could start on the empty cluster with every node healthy.
bool ever_fits(State& state, const Job& job) {
  if (!state.blank) state.blank = make_blank(state);
  const std::vector<bool>& fits = placeable(state, job);
  for (std::size_t i = 0; i < fits.size(); ++i) {
    if (!fits[i]) continue;
    if (job.reservation) return true;
    const Charge charge =
        charge_of(state, *job.request, smallest_size(*job.request), job.request->flavors[i]);
    const auto failure = quota_failure(*state.blank, job, charge, false);
    if (!failure || failure->reason == Reason::kNone || failure->reason == Reason::kLendLimit) {
      return true;
    }
  }
  return false;
}

/// W4 at submit.
Result<> check_deadline(const Job& job) {
  if (!job.deadline) return {};
  const auto latest = latest_start(job);
  if (!latest) {
    return fail(ErrorCode::kInvalidArgument,
                "deadline: the job has no wall time limit, so it is not known when it must start; "
                "state a limit");
  }
  if (std::max(job.submitted, job.begin.value_or(job.submitted)) <= *latest) return {};
  return fail(ErrorCode::kNeverFits,
              "deadline: the run would end after it even if it began at once (or at its begin "
              "time); give a later deadline or a shorter wall time limit");
}

/// A job that may be admitted.
Result<Job> make_job(State& state, const JobFacts& facts) {
  if (auto sense = check_facts(state, facts); !sense) return fail(sense);
  if (auto shape = check_request(facts.request); !shape) return fail(shape);
  Job job = job_of(state, facts, intern(state, facts.request));
  if (!has_access(state, job.queue, job.user)) {
    return fail(ErrorCode::kPermissionDenied, "queue: the user may not submit to it");
  }
  if (job.reservation && !may_enter(state, job)) {
    return fail(ErrorCode::kPermissionDenied, "reservation: it is not the job's to use");
  }
  if (auto size = check_size(state, facts.request); !size) return fail(size);
  if (auto time = check_deadline(job); !time) return fail(time);
  if (auto known = check_dependencies(state, facts); !known) return fail(known);
  if (auto words = check_words(state, facts.request); !words) return fail(words);
  list_nodes(state, job);
  if (!ever_fits(state, job)) {
    return fail(ErrorCode::kNeverFits, "the job could not start on the empty cluster");
  }
  return job;
}

std::vector<Decision> take_given_up(State& state) {
  std::vector<Decision> decisions;
  std::ranges::move(std::exchange(state.given_up, {}), std::back_inserter(decisions));
  return decisions;
}

}  // namespace

std::string_view reason_name(Reason reason) {
  constexpr std::array<std::string_view, 24> kNames = {
      "None",      "Held",       "Dependency",    "BeginTime",     "Features",
      "NodesDown", "Requeued",   "ArrayThrottle", "StrictOrder",   "Reservation",
      "Backoff",   "QuotaLimit", "BorrowLimit",   "GuaranteeOnly", "UserLimit",
      "Budget",    "License",    "LendLimit",     "Protected",     "DeadlineUnreachable",
      "Backfill",  "Topology",   "Resources",     "Preempting"};
  return kNames.at(static_cast<std::size_t>(reason));
}

std::string_view give_up_name(GiveUp cause) {
  constexpr std::array<std::string_view, 3> kNames = {"DependencyNeverMet", "Deadline", "MaxWait"};
  return kNames.at(static_cast<std::size_t>(cause));
}

Scheduler::Scheduler(const Setup& setup, Time now) : state_(std::make_unique<State>(setup, now)) {}
Scheduler::Scheduler(const Scheduler& other) : state_(copy_state(*other.state_)) {}
Scheduler& Scheduler::operator=(const Scheduler& other) {
  if (this == &other) return *this;
  walk_.reset();
  state_ = copy_state(*other.state_);
  return *this;
}
Scheduler::Scheduler(Scheduler&&) noexcept = default;
Scheduler& Scheduler::operator=(Scheduler&&) noexcept = default;
Scheduler::~Scheduler() = default;

/// No fact comes into a pass that is under way.
State& Scheduler::go_to(Time now) {
  ARTEL_ASSERT(!in_pass());
  advance(*state_, now);
  return *state_;
}

Result<> Scheduler::submit(Time now, const JobFacts& facts) {
  auto job = make_job(go_to(now), facts);
  if (!job) return fail(job);
  admit(*state_, std::move(*job), facts);
  return {};
}

Result<> Scheduler::check(const JobFacts& facts) {
  const auto job = make_job(*state_, facts);
  return job ? Result<>{} : fail(job);
}

void Scheduler::end(Time now, JobId id, Ended how) {
  go_to(now);
  finish(*state_, id, how == Ended::kCompleted);
  resolve(*state_);
}

void Scheduler::requeue(Time now, JobId id, std::optional<Time> retry_at) {
  go_to(now);
  Job& job = state_->jobs.at(id);
  release(*state_, job);
  job.pending_since = now;
  job.retry_at = retry_at.value_or(now);
}

void Scheduler::set_held(Time now, JobId id, bool held) {
  go_to(now);
  Job& job = state_->jobs.at(id);
  job.held = held;
  if (held && job.stage == Stage::kClaiming) release(*state_, job);
  watch_wait(*state_, job);
}

void Scheduler::set_array(Time now, const ArrayFacts& facts) {
  go_to(now);
  Array& array = state_->arrays[facts.id];
  array.throttle = facts.throttle;
  if (facts.was) array.worst = std::max(array.worst, *facts.was);
}

void Scheduler::checkpoint(Time now, JobId id, Time at) {
  go_to(now);
  state_->jobs.at(id).saved_at = at;
}

void Scheduler::set_health(Time now, NodeId id, bool healthy) {
  go_to(now);
  Node& node = state_->nodes.at(id.value);
  if (node.healthy != healthy) {
    ++state_->node_changes;
    if (healthy) ++state_->recoveries;
  }
  node.healthy = healthy;
  state_->openings.health_changed(*state_, id.value);
  derive_capacity(*state_);
  if (healthy) return;
  for (const Holder& holder : std::vector<Holder>(node.holders)) {
    if (holder.job->stage == Stage::kClaiming) release(*state_, *holder.job);
  }
}

void Scheduler::set_priority(Time now, JobId id, std::int32_t priority) {
  go_to(now);
  Job& job = state_->jobs.at(id);
  job.priority = priority;
  forget_covers(*state_, job.queue);
}

void Scheduler::change(Time now, QuotaId id, const QuotaChange& change) {
  go_to(now);
  apply(change, state_->at(id).facts);
  derive_tree(*state_);
}

Result<ReservationId> Scheduler::reserve(Time now, const ReservationFacts& reservation) {
  go_to(now);
  return add_reservation(*state_, reservation);
}

void Scheduler::cancel_reservation(Time now, ReservationId id) {
  go_to(now);
  if (find_reservation(*state_, id) != nullptr) sched::cancel_reservation(*state_, id);
}

void Scheduler::end_reservations(Time now) {
  go_to(now);
  sched::end_reservations(*state_);
}

std::vector<Decision> Scheduler::begin_reservations(Time now) {
  go_to(now);
  replace_failed_nodes(*state_);
  std::vector<Decision> decisions;
  for (const JobId id : jobs_in_the_way(*state_, Stage::kRunning)) {
    signal(*state_, state_->jobs.at(id));
    decisions.emplace_back(Signalled{id});
  }
  for (const JobId id : jobs_in_the_way(*state_, Stage::kClaiming)) {
    release(*state_, state_->jobs.at(id));
  }
  open_reservations(*state_);
  fill_spares(*state_);
  return decisions;
}

std::vector<Decision> Scheduler::pass(Time now, const MayGoOn& may_go_on) {
  std::vector<Decision> decisions;
  if (!in_pass()) {
    settle(go_to(now));
    park(*state_);
    sched::end_waits(*state_, true);
    decisions = take_given_up(*state_);
    walk_ = std::make_unique<Walk>(*state_);
  }
  std::ranges::move(walk_->go_on(may_go_on), std::back_inserter(decisions));
  if (!walk_->is_done()) return decisions;
  walk_.reset();
  resolve(*state_);
  return decisions;
}

void Scheduler::stop_pass() {
  if (!in_pass()) return;
  walk_.reset();
  resolve(*state_);
}

std::vector<Decision> Scheduler::end_waits(Time now) {
  go_to(now);
  sched::end_waits(*state_, false);
  return take_given_up(*state_);
}

std::optional<Time> Scheduler::next_wake(Time now) const {
  std::optional<Time> next;
  const auto add = [&](Time time) {
    if (time > now && (!next || time < *next)) next = time;
  };
  const Policy& policy = state_->policy;
  for (const Reservation& one : state_->reservations) {
    add(one.facts.start);
    add(one.facts.end);
  }
  for (const auto& [time, id] : state_->wait_ends) {
    add(time);
    if (time > now) break;
  }
  for (const auto& [id, job] : state_->waiting) {
    add(job->backoff_until);
    add(job->retry_at);
    if (job->evicted_at == now) add(now + Duration{1});  // A7
    add(job->ready);
    if (policy.fair_preemption) add(waits_since(*job) + policy.fair_patience);
    add(waits_since(*job) + policy.starve_after);
  }
  for (const JobId id : state_->active) {
    const Job& job = state_->jobs.at(id);
    if (job.stage != Stage::kRunning) continue;
    add(job.start + policy.protect_reclaim);
    add(job.start + policy.protect_priority);
    if (policy.fair_preemption) add(job.start + policy.protect_fair);
    for (const Reservation& one : state_->reservations) add(one.facts.start - job.grace);
  }
  return next;
}

std::optional<Stage> Scheduler::stage(JobId id) const {
  const auto job = state_->jobs.find(id);
  if (job == state_->jobs.end()) return std::nullopt;
  return job->second.stage;
}

Wait Scheduler::wait(JobId id) const {
  const auto job = state_->jobs.find(id);
  return job == state_->jobs.end() ? Wait{} : job->second.wait;
}

std::vector<Dependency> Scheduler::missing(JobId id) const {
  const auto job = state_->jobs.find(id);
  return job == state_->jobs.end() ? std::vector<Dependency>{} : job->second.missing;
}

bool Scheduler::knows(QuotaId quota) const { return quota.value < state_->quotas.size(); }

bool Scheduler::knows(NodeId node) const { return node.value < state_->nodes.size(); }

std::vector<JobId> Scheduler::first_of_teams() const {
  settle(*state_);
  return sched::first_of_teams(*state_);
}

std::vector<Wait> Scheduler::explain(JobId id) const { return sched::explain(*state_, id); }

std::vector<JobId> Scheduler::borrowed() const {
  std::vector<JobId> found;
  for (const JobId id : state_->active) {
    if (is_borrowed(*state_, state_->jobs.at(id))) found.push_back(id);
  }
  return found;
}

std::vector<double> Scheduler::entitlement(QuotaId quota) const {
  std::vector<double> by_resource;
  for (std::size_t r = 0; r <= state_->flavors; ++r) {
    by_resource.push_back(entitlements(*state_, r).at(quota.value));
  }
  return by_resource;
}

double Scheduler::score(QuotaId quota) const {
  settle(*state_);
  return sched::score(*state_, quota);
}

double Scheduler::user_usage(UserId user) const {
  settle(*state_);
  const auto past = state_->user_past.find(user);
  return past == state_->user_past.end() ? 0 : past->second;
}

std::vector<NodeId> Scheduler::reservation_nodes(ReservationId reservation) const {
  std::vector<NodeId> nodes;
  const Reservation* one = find_reservation(*state_, reservation);
  if (one == nullptr) return nodes;
  for (const NodeIndex node : one->nodes) nodes.push_back(NodeId{node});
  std::ranges::sort(nodes);
  return nodes;
}

}  // namespace artel::sched
