#include "sched/explain.h"

#include <iterator>

#include "sched/outlook.h"
#include "sched/waiting.h"

namespace artel::sched {
namespace {

/// Takes away what the reason names; false: it lies outside the job.
bool take_away(Job& job, Reason reason) {
  switch (reason) {
    case Reason::kHeld:
      job.held = false;
      return true;
    case Reason::kDependency:
      job.missing.clear();
      return true;
    case Reason::kBeginTime:
      job.begin.reset();
      return true;
    case Reason::kRequeued:
      job.retry_at = {};
      return true;
    default:
      return false;
  }
}

/// All that keeps the job from being eligible (W1).
void add_obstacles(const State& state, const Job& job, std::vector<Wait>& reasons) {
  Job freed = job;
  while (true) {
    const Wait wait = obstacle(state, freed);
    if (wait.reason == Reason::kNone) return;
    reasons.push_back(wait);
    if (take_away(freed, wait.reason)) continue;
    if (state.now < job.retry_at) {
      reasons.push_back({.reason = Reason::kRequeued, .until = job.retry_at});
    }
    return;
  }
}

/// The plans that the job's reason knows of.
Plans known_plans(const State& state, const Job& job, bool is_eligible) {
  Plans plans(state.nodes.size());
  const std::size_t known = is_eligible ? job.plans_before : state.plans.size();
  for (const KeptPlan& plan : state.plans) {
    if (plans.all.size() == known) break;
    const auto owner = state.jobs.find(plan.job);
    if (owner == state.jobs.end()) continue;
    plans.add({.job = &owner->second, .start = plan.start, .end = plan.end, .shares = plan.shares});
  }
  return plans;
}

std::vector<Wait> reasons_of(State& state, const Job& job) {
  std::vector<Wait> reasons;
  add_obstacles(state, job, reasons);
  const bool eligible = reasons.empty();
  const bool told_by_walk =
      job.wait.reason == Reason::kArrayThrottle || job.wait.reason == Reason::kStrictOrder;
  if (eligible && told_by_walk) reasons.push_back(job.wait);
  if (!eligible && !has_slot(state, job)) reasons.push_back({.reason = Reason::kArrayThrottle});
  if (job.reservation) {
    if (eligible && !told_by_walk) reasons.push_back(job.wait);
    return reasons;
  }
  const Plans plans = known_plans(state, job, eligible);
  const Evictable evictable(state);
  Outlook(state, plans, evictable).all_reasons(job, reasons);
  if (job.wait.reason == Reason::kDeadlineUnreachable && !reasons.empty()) {
    reasons.insert(std::prev(reasons.end()), job.wait);  // before the one of room
  }
  return reasons;
}

}  // namespace

std::vector<Wait> explain(State& state, JobId id) {
  const auto known = state.jobs.find(id);
  if (known == state.jobs.end()) return {};
  const Job& job = known->second;
  if (job.stage == Stage::kClaiming) return {claim_wait(state, job)};
  if (job.stage != Stage::kPending) return {};
  std::vector<Wait> reasons = reasons_of(state, job);
  if (!reasons.empty()) reasons.front().planned_start = job.wait.planned_start;
  return reasons;
}

}  // namespace artel::sched
