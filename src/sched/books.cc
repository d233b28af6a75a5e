// The books: what each start, end and signal changes in the sums of State.
#include "sched/books.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "sched/shares.h"
#include "sched/waiting.h"

namespace artel::sched {
namespace {

constexpr double kForgotten = 1e-12;  // use of a user long ago that changes no order

void add_user(State& state, const Job& job, int sign) {
  state.user_past.try_emplace(job.user, 0);
  Amounts& held = state.user_use[job.user];
  held.resize(state.flavors + 1, 0);
  for_each(state, job.charge,
           [&](std::size_t resource, std::int64_t amount) { held[resource] += sign * amount; });
  if (std::ranges::all_of(held, [](std::int64_t amount) { return amount == 0; })) {
    state.user_use.erase(job.user);
  }
}

void count_licences(std::vector<std::int64_t>& held, const Job& job, int sign) {
  for (const auto& [licence, count] : job.request->licences) held[licence.value] += sign * count;
}

bool limits_users(const Quota& quota) {
  return quota.facts.max_jobs_per_user || quota.facts.max_gpus_per_user;
}

/// Q5: what was used is used; the rest of the booking is given back.
void close_run(State& state, const Job& job, std::int64_t gpus) {
  if (job.inside) return;
  const double used =
      static_cast<double>(gpus) * static_cast<double>((state.now - job.start).count());
  for (const QuotaId quota : state.path(job.queue)) state.at(quota).used_gpu_ms += used;
}

void put_on(State& state, Job& job, const Share& share) {
  Node& node = state.nodes[share.node.value];
  node.holders.push_back({.job = &job, .share = share});
  node.free_gpus -= share.gpus;
  node.free_cores -= share.cores;
  node.free_memory -= share.memory;
  if (job.request->exclusive) ++node.exclusive;
  state.openings.changed(state, share.node.value);
}

}  // namespace

void update_star(State& state, QuotaId id) {
  for (QuotaId at = id;; at = state.at(at).parent) {
    Quota& quota = state.at(at);
    for (std::size_t r = 0; r < quota.star.size(); ++r) {
      const std::int64_t before = quota.star[r];
      quota.star[r] = std::max({quota.star_below[r], use(quota, r), quota.kept[r]});
      if (at != kRoot) state.at(quota.parent).star_below[r] += quota.star[r] - before;
    }
    if (at == kRoot) return;
  }
}

void forget_covers(State& state, QuotaId queue) {
  for (const QuotaId quota : state.path(queue)) state.covers.erase(quota);
}

void book(State& state, const Job& job, int sign) {
  if (state.assumed == 0) forget_covers(state, job.queue);
  settle(state);
  add_user(state, job, sign);
  count_licences(state.licences_active, job, sign);
  if (job.inside) return;
  const auto add = [&](Quota& quota) {
    for_each(state, job.charge, [&](std::size_t resource, std::int64_t amount) {
      quota.jobs[resource] += sign * amount;
      if (!job.preemptible) quota.fixed[resource] += sign * amount;
    });
  };
  add(state.at(kRoot));
  for (const QuotaId id : state.path(job.queue)) {
    Quota& quota = state.at(id);
    add(quota);
    if (!limits_users(quota)) continue;
    Held& held = quota.users[job.user];
    held.jobs += sign;
    held.gpus += sign * job.charge.gpus;
    if (held.jobs == 0) quota.users.erase(job.user);
  }
  update_star(state, job.queue);
}

void take_off(State& state, const Job& job, NodeIndex from) {
  Node& node = state.nodes[from];
  const auto holder = std::ranges::find(node.holders, &job, &Holder::job);
  node.free_gpus += holder->share.gpus;
  node.free_cores += holder->share.cores;
  node.free_memory += holder->share.memory;
  if (job.request->exclusive) --node.exclusive;
  node.holders.erase(holder);
  state.openings.changed(state, from);
}

void hold(State& state, Job& job) {
  for (const Share& share : job.shares) put_on(state, job, share);
  state.active.insert(job.id);
  auto& of_queue = state.active_of[job.queue.value];
  of_queue.insert(std::ranges::lower_bound(of_queue, job.id, {}, &Job::id), &job);
  if (job.array) ++state.arrays.at(*job.array).holding;
}

void drop(State& state, Job& job) {
  for (const Share& share : job.shares) take_off(state, job, share.node.value);
  state.active.erase(job.id);
  auto& of_queue = state.active_of[job.queue.value];
  const auto place = std::ranges::lower_bound(of_queue, job.id, {}, &Job::id);
  if (place != of_queue.end() && *place == &job) of_queue.erase(place);
  if (job.array) --state.arrays.at(*job.array).holding;
}

void exchange(State& state, Job& job, std::vector<Share> shares) {
  const std::int64_t before = job.charge.gpus;
  book(state, job, -1);
  drop(state, job);
  job.shares = std::move(shares);
  job.charge = charge_of_shares(state, job);
  job.saved_at = state.now;
  hold(state, job);
  book(state, job, 1);
  // The run is booked from its begin with what it holds now.
  close_run(state, job, before - job.charge.gpus);
}

void signal(State& state, Job& job) {
  book(state, job, -1);
  ++job.evictions;
  job.evicted_at = state.now;
  const std::uint64_t doubled = std::uint64_t{1} << std::min(job.evictions - 1, 30U);
  const auto times = std::min<std::uint64_t>(doubled, state.policy.most_backoffs);
  job.backoff_until = state.now + state.policy.requeue_backoff * static_cast<std::int64_t>(times);
  job.grace_end = state.now + job.grace;
  job.stage = Stage::kSignalled;
  state.signalled.insert(job.id);
  if (job.grace > Duration::zero()) {
    count_licences(state.licences_signalled, job, 1);
    return;
  }
  // Gone at once: it holds nothing any more, and waits for the driver to say so.
  drop(state, job);
  close_run(state, job, job.charge.gpus);
  job.shares.clear();
}

void release(State& state, Job& job) {
  const bool gone_already = job.stage == Stage::kSignalled && job.shares.empty();
  if (job.stage == Stage::kRunning || (job.stage == Stage::kSignalled && !gone_already)) {
    close_run(state, job, job.charge.gpus);
  }
  if (is_active(job)) book(state, job, -1);
  if (job.stage == Stage::kSignalled) {
    state.signalled.erase(job.id);
    if (!gone_already) count_licences(state.licences_signalled, job, -1);
  }
  if (job.stage != Stage::kPending && !gone_already) drop(state, job);
  job.stage = Stage::kPending;
  job.inside = false;
  job.shares.clear();
  job.charge = {};
  job.limit_end.reset();
  job.wait = {};
  watch_wait(state, job);
}

void advance(State& state, Time now) { state.now = std::max(state.now, now); }

void settle(State& state) {
  if (state.now <= state.settled) return;
  const double kept = std::exp2(-static_cast<double>((state.now - state.settled).count()) /
                                static_cast<double>(state.policy.half_life.count()));
  state.settled = state.now;
  for (std::uint32_t i = 1; i < state.quotas.size(); ++i) {
    double& past = state.quotas[i].past;
    past = past * kept + over(state, QuotaId{i}) * (1 - kept);
  }
  auto held = state.user_use.begin();
  for (auto entry = state.user_past.begin(); entry != state.user_past.end();) {
    auto& [user, past] = *entry;
    while (held != state.user_use.end() && held->first < user) ++held;
    const bool holds = held != state.user_use.end() && held->first == user;
    past = past * kept + (holds ? dominant_share(state, held->second) : 0) * (1 - kept);
    entry = !holds && past < kForgotten ? state.user_past.erase(entry) : std::next(entry);
  }
}

}  // namespace artel::sched
