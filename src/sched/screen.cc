#include "sched/screen.h"

#include <algorithm>

#include "sched/future.h"

namespace artel::sched {

Evictable::Evictable(const State& state)
    : state_(state),
      held_(state.quotas.size(), Amounts(state.flavors + 1, 0)),
      jobs_(state.quotas.size(), 0) {
  for (const JobId id : state.active) {
    const Job& job = state.jobs.at(id);
    if (job.stage == Stage::kRunning) started(job);
  }
}

void Evictable::add(const Job& job, int sign) {
  const auto count = [&](QuotaId quota) {
    jobs_[quota.value] += sign;
    for_each(state_, job.charge,
             [&](std::size_t r, std::int64_t amount) { held_[quota.value][r] += sign * amount; });
  };
  for (const QuotaId quota : state_.path(job.queue)) count(quota);
  count(kRoot);
}

void Evictable::started(const Job& job) {
  if (!job.preemptible || job.inside) return;
  add(job, 1);
  const auto [least, is_first] = least_.try_emplace(job.pool, job.priority);
  if (!is_first) least->second = std::min(least->second, job.priority);
}

void Evictable::signalled(const Job& job) {
  if (job.preemptible && !job.inside) add(job, -1);
}

bool Evictable::may_evict(const Job& job, const Charge& charge) const {
  if (state_.policy.fair_preemption) return true;
  const auto least = least_.find(job.pool);
  if (least != least_.end() && least->second < job.priority) return true;
  // V1, from the pool upwards: what goes in between makes room for p further up.
  bool reaches_siblings = false;
  for (const QuotaId np : state_.path(job.pool)) {
    bool within = true;
    for_each(state_, charge, [&](std::size_t r, std::int64_t amount) {
      const std::int64_t leaves =
          reaches_siblings ? held_[np.value][r] - held_[job.pool.value][r] : 0;
      within = within && use(state_.at(np), r) + amount - leaves <= state_.at(np).guarantee[r];
    });
    if (!within) continue;
    const QuotaId around = state_.at(np).parent;
    if (jobs_[around.value] > jobs_[np.value]) return true;
    reaches_siblings = true;
  }
  return false;
}

bool RoomScreen::may_fit(const Job& job, const Variant& variant) {
  if (job.request->parts.size() != 1) return true;
  const QuotaId queue = state_.has_owners ? job.queue : kRoot;
  const Sharer sharer = asks_for_share(*job.request) ? sharer_of(state_, job) : Sharer{};
  const auto [known, is_new] =
      nodes_.try_emplace({job.request->number, variant.flavor, queue, sharer});
  if (is_new) known->second = nodes_now(state_, job, variant.flavor);
  return known->second >= nodes_of(*job.request, variant.size);
}

}  // namespace artel::sched
