#include "sched/admit.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "sched/waiting.h"

namespace artel::sched {
namespace {

QuotaId team_of(const State& state, QuotaId queue) {
  const auto& path = state.path(queue);
  const auto team =
      std::ranges::find_if(path, [&](QuotaId quota) { return state.at(quota).is_team; });
  if (team != path.end()) return *team;
  return path.empty() ? kRoot : path.back();
}

}  // namespace

std::shared_ptr<const Shape> intern(State& state, const Request& request) {
  const std::size_t key = request.parts.size() * 1'000'003 +
                          std::size_t{request.parts.front().nodes} * 8191 +
                          static_cast<std::size_t>(request.parts.front().gpus) * 131 +
                          static_cast<std::size_t>(request.limit.value_or(Duration{}).count());
  auto& known = state.requests[key];
  std::erase_if(known, [](const auto& one) { return one.expired(); });
  for (const auto& one : known) {
    if (auto same = one.lock(); same && static_cast<const Request&>(*same) == request) return same;
  }
  auto made = std::make_shared<const Shape>(Shape{request, ++state.last_shape});
  known.push_back(made);
  return made;
}

Job& admit(State& state, Job job, const JobFacts& facts) {
  const auto [entry, is_new] = state.jobs.emplace(facts.id, std::move(job));
  ARTEL_ASSERT(is_new);
  state.unparked.push_back(facts.id);
  enter(state, entry->second, facts);
  return entry->second;
}

Job job_of(const State& state, const JobFacts& facts, std::shared_ptr<const Shape> shape) {
  const Time submitted = facts.submitted.value_or(state.now);
  const Time ready = std::max(submitted, facts.begin.value_or(submitted));
  return {.id = facts.id,
          .queue = facts.queue,
          .pool = pool_of(state, facts.queue),
          .team = team_of(state, facts.queue),
          .user = facts.user,
          .request = std::move(shape),
          .priority = facts.priority,
          .preemptible = facts.preemptible,
          .grace = facts.grace,
          .reservation = facts.reservation,
          .name = facts.name,
          .array = facts.array,
          .held = facts.held,
          .has_started = facts.has_started,
          .begin = facts.begin,
          .deadline = facts.deadline,
          .max_wait = facts.max_wait,
          .missing = {},
          .wait_end = {},
          .submitted = submitted,
          .ready = facts.ready.value_or(ready),
          .pending_since = facts.pending_since.value_or(state.now),
          .shares = {}};
}

}  // namespace artel::sched
