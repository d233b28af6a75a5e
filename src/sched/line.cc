#include "sched/line.h"

#include <algorithm>
#include <map>

#include "sched/checks.h"
#include "sched/shares.h"
#include "sched/waiting.h"

namespace artel::sched {
namespace {

double user_weight(const State& state, const Job& job) {
  for (const QuotaId quota : state.path(job.queue)) {
    for (const auto& [user, weight] : state.at(quota).facts.user_weights) {
      if (user == job.user) return weight;
    }
  }
  return 1;
}

/// O4, smallest first.
struct LineKey {
  std::int64_t priority{};
  bool patient{};
  double usage{};
  Time ready;
  JobId id;
  auto operator<=>(const LineKey&) const = default;
};

LineKey line_key(const State& state, const Job& job) {
  const auto past = state.user_past.find(job.user);
  const double used = past == state.user_past.end() ? 0 : past->second;
  return {-std::int64_t{job.priority}, !is_starving(state, job), used / user_weight(state, job),
          job.ready, job.id};
}

void sort_line(const State& state, std::vector<Job*>& jobs) {
  std::vector<std::pair<LineKey, Job*>> keyed;
  keyed.reserve(jobs.size());
  for (Job* job : jobs) keyed.emplace_back(line_key(state, *job), job);
  std::ranges::sort(keyed, {}, &std::pair<LineKey, Job*>::first);
  for (std::size_t i = 0; i < jobs.size(); ++i) jobs[i] = keyed[i].second;
}

double saturation(const State& state, const Quota& quota, const Charge& charge) {
  double most = 0;
  for_each(state, charge, [&](std::size_t r, std::int64_t) {
    if (quota.guarantee[r] <= 0) return;
    most = std::max(most,
                    static_cast<double>(use(quota, r)) / static_cast<double>(quota.guarantee[r]));
  });
  return most;
}

}  // namespace

Line::Line(State& state)
    : state_(state),
      pools_(state.quotas.size()),
      children_(state.quotas.size()),
      keys_(state.quotas.size()) {
  for (const auto& [id, job] : state.waiting) {
    job->treated = false;
    if (job->reservation) continue;
    job->wait = obstacle(state, *job);
    if (job->wait.reason != Reason::kNone) continue;
    pools_[job->pool.value].jobs.push_back(job);
    if (is_starving(state, *job)) starving_.push_back(job);
  }
  for (Pool& pool : pools_) sort_line(state, pool.jobs);
  std::ranges::sort(starving_, {}, [](const Job* job) {
    return std::tuple(waits_since(*job), job->ready, job->id);
  });
  rebuild(kRoot);
}

/// J2, J4: who has no slot any more is told so and stands outside.
bool Line::is_done(Job& job) const {
  if (job.treated || has_slot(state_, job)) return job.treated;
  job.wait = {.reason = Reason::kArrayThrottle};
  job.treated = true;
  return true;
}

Job* Line::own_head(QuotaId quota) {
  Pool& pool = pools_[quota.value];
  while (pool.head < pool.jobs.size() && is_done(*pool.jobs[pool.head])) ++pool.head;
  return pool.head < pool.jobs.size() ? pool.jobs[pool.head] : nullptr;
}

Job* Line::head(QuotaId quota) {
  if (Job* own = own_head(quota)) return own;
  const auto& children = children_[quota.value];
  return children.empty() ? nullptr : head(children.begin()->child);
}

/// The largest size; the first flavor in which the job is within its whole path, else its first.
Charge Line::key_charge(const Job& job) const {
  const Request& request = *job.request;
  const std::uint32_t size = largest_size(request);
  for (const FlavorId flavor : request.flavors) {
    const Charge charge = charge_of(state_, request, size, flavor);
    if (is_within_path(state_, job.queue, charge)) return charge;
  }
  return charge_of(state_, request, size, request.flavors.front());
}

Line::Key Line::key_of(QuotaId child, const Job& head) const {
  const Charge charge = key_charge(head);
  const bool within = is_within(state_, child, charge);
  const double value = within ? saturation(state_, state_.at(child), charge) : score(state_, child);
  return {within ? 0 : 1, value, head.ready, head.id, child};
}

void Line::rebuild(QuotaId quota) {
  auto& set = children_[quota.value];
  set.clear();
  for (const QuotaId child : state_.at(quota).children) {
    rebuild(child);
    auto& key = keys_[child.value];
    key.reset();
    if (const Job* first = head(child)) key = *set.insert(key_of(child, *first)).first;
  }
}

void Line::update_path(QuotaId from) {
  for (QuotaId id = from; id != kRoot; id = state_.at(id).parent) {
    auto& set = children_[state_.at(id).parent.value];
    auto& key = keys_[id.value];
    if (key) set.erase(*key);
    key.reset();
    if (const Job* first = head(id)) key = *set.insert(key_of(id, *first)).first;
  }
}

void Line::changed(QuotaId queue) {
  // Heads of siblings on the path are compared by the sums of their own nodes only, but whether a
  // head is within its whole path depends on the nodes above it, so their subtrees change too.
  const auto& path = state_.path(queue);
  if (path.empty()) return;
  rebuild(path.back());
  update_path(path.back());
}

void Line::all_changed() { rebuild(kRoot); }

Job* Line::longest_starving() {
  while (next_starving_ < starving_.size() && is_done(*starving_[next_starving_])) ++next_starving_;
  return next_starving_ < starving_.size() ? starving_[next_starving_] : nullptr;
}

Job* Line::next() {
  Job* best = head(kRoot);
  if (best == nullptr) return nullptr;
  const auto& path = state_.path(best->queue);
  if (!path.empty() && !is_within(state_, path.back(), key_charge(*best))) {
    if (Job* starving = longest_starving()) best = starving;
  }
  best->treated = true;
  update_path(best->pool);
  return best;
}

std::vector<JobId> first_of_teams(const State& state) {
  std::map<QuotaId, LineKey> firsts;
  for (const auto& [id, job] : state.waiting) {
    if (!is_eligible(state, *job)) continue;
    const LineKey key = line_key(state, *job);
    const auto [first, is_new] = firsts.try_emplace(job->team, key);
    if (!is_new && key < first->second) first->second = key;
  }
  std::vector<JobId> jobs;
  jobs.reserve(firsts.size());
  for (const auto& [team, key] : firsts) jobs.push_back(key.id);
  return jobs;
}

std::vector<Job*> reservation_line(State& state) {
  std::vector<Job*> jobs;
  if (state.reservations.empty()) return jobs;
  for (const auto& [id, job] : state.waiting) {
    if (!job->reservation) continue;
    job->wait = obstacle(state, *job);
    if (job->wait.reason == Reason::kNone) jobs.push_back(job);
  }
  sort_line(state, jobs);
  return jobs;
}

}  // namespace artel::sched
