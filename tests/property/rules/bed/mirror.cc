// Every quantity is a sum over flat lists, as the rules say it.
#include "property/rules/bed/mirror.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace artel::rules {

using namespace scenario;

namespace {

std::int64_t amount(const std::optional<Amounts>& amounts) {
  if (!amounts || !amounts->contains(kDefaultFlavor)) return 0;
  return amounts->at(kDefaultFlavor);
}

}  // namespace

Mirror::Mirror(const Case& stream)
    : case_(stream), tree_(stream.tree), past_(stream.tree.size(), 0) {
  for (const Node& node : case_.nodes) healthy_[node.name] = true;
}

void Mirror::submit(Minute now, const Job& job) {
  index_[job.id] = jobs_.size();
  jobs_.push_back({.spec = job,
                   .number = jobs_.size(),
                   .queue = *find_quota(case_, job.queue),
                   .submitted = now,
                   .waits_since = now});
}

void Mirror::start(const Start& decision) {
  Track& one = track(decision.job);
  one.stage = Stage::kRunning;
  one.claims = false;
  one.has_started = true;
  one.start = now_;
  one.saved = now_;
  one.shares = decision.shares;
}

void Mirror::signal(const std::string& job) {
  Track& one = track(job);
  one.stage = Stage::kLeaving;
  one.signalled = now_;
  ++one.evictions;
  // Without a grace it is gone before anybody takes its place.
  if (grace_of(case_, one.spec) == 0) one.shares.clear();
}

void Mirror::requeue(const std::string& job, Requeue why) {
  Track& one = track(job);
  one.stage = Stage::kWaiting;
  one.waits_since = now_;
  one.shares.clear();
  one.failed = one.failed || why == Requeue::kNodeFailed;
}

void Mirror::end(const std::string& job) {
  Track& one = track(job);
  one.stage = Stage::kOver;
  one.claims = false;
  one.shares.clear();
}

void Mirror::swap(const std::string& job, const std::vector<Share>& shares) {
  track(job).shares = shares;
  track(job).failed = true;
}

void Mirror::checkpoint(const std::string& job, Minute at) { track(job).saved = at; }

void Mirror::claims(const Beliefs& beliefs) {
  for (Track& one : jobs_) {
    const auto reason = beliefs.reasons.find(one.spec.id);
    const bool claims = one.stage == Stage::kWaiting && reason != beliefs.reasons.end() &&
                        reason->second == "Preempting";
    if (claims && !one.claims) one.claims_since = now_;
    one.claims = claims;
  }
}

void Mirror::set_node(const std::string& node, bool healthy) {
  healthy_[node] = healthy;
  for (Track& one : jobs_) one.claims = one.claims && healthy;
}

void Mirror::advance(Minute now) {
  if (now <= now_) return;
  const double keep = std::exp2(-static_cast<double>(now - now_) / case_.policy.half_life);
  for (std::size_t i = 1; i < tree_.size(); ++i) past_[i] = past_[i] * keep + over(i) * (1 - keep);
  now_ = now;
}

void Mirror::set_quota(const SetQuota& change) {
  Quota& quota = tree_[*find_quota(case_, change.quota)];
  if (change.guarantee) quota.guarantee = change.guarantee;
  if (change.limit) quota.limit = change.limit;
}

std::vector<std::size_t> Mirror::path(std::size_t queue) const {
  std::vector<std::size_t> path;
  for (std::size_t at = queue; at != 0; at = tree_[at].parent) path.push_back(at);
  return path;
}

bool Mirror::is_below(std::size_t quota, std::size_t ancestor) const {
  while (quota != ancestor && quota != 0) quota = tree_[quota].parent;
  return quota == ancestor;
}

std::size_t Mirror::pool(std::size_t queue) const {
  while (queue != 0 && !states(queue)) queue = tree_[queue].parent;
  return queue;
}

std::int64_t Mirror::guarantee(std::size_t quota) const { return amount(tree_[quota].guarantee); }

std::optional<std::size_t> Mirror::child_of_lca(std::size_t from, std::size_t to) const {
  std::size_t child = pool(from);
  const std::size_t other = pool(to);
  if (is_below(other, child)) return std::nullopt;
  while (!is_below(other, tree_[child].parent)) child = tree_[child].parent;
  return child;
}

std::int64_t Mirror::largest(const Track& job) const {
  std::int64_t nodes = 0;
  for (const Component& part : job.spec.components) nodes += part.nodes;
  return nodes;
}

std::int64_t Mirror::smallest(const Track& job) const {
  return job.spec.min_nodes.value_or(largest(job));
}

std::int64_t Mirror::charge(const Track& job, std::int64_t size) const {
  if (job.spec.exclusive) return 8 * size;
  if (job.spec.components.size() == 1) return job.spec.components.front().gpus * size;
  std::int64_t gpus = 0;
  for (const Component& part : job.spec.components) gpus += part.nodes * part.gpus;
  return gpus;
}

std::int64_t Mirror::charge(const Track& job) const {
  const auto held = static_cast<std::int64_t>(job.shares.size());
  return charge(job, held > 0 ? held : smallest(job));
}

bool Mirror::is_active(const Track& job) {
  return job.stage == Stage::kRunning || (job.stage == Stage::kWaiting && job.claims);
}

std::int64_t Mirror::lost_work(const Track& job) const {
  std::int64_t gpus = 0;
  for (const Share& share : job.shares) gpus += share.gpus;
  return gpus * (now_ - job.saved);
}

bool Mirror::starves(const Track& job) const {
  return now_ - job.waits_since >= case_.policy.starve_after;
}

bool Mirror::precedes(const Track& a, const Track& b) const {
  return std::tuple(-a.spec.priority, !starves(a), a.submitted, a.number) <
         std::tuple(-b.spec.priority, !starves(b), b.submitted, b.number);
}

std::int64_t Mirror::use(std::size_t quota) const {
  std::int64_t sum = 0;
  for (const Track& job : jobs_) {
    if (is_active(job) && is_below(job.queue, quota)) sum += charge(job);
  }
  return sum;
}

std::int64_t Mirror::fixed_use(std::size_t quota) const {
  std::int64_t sum = 0;
  for (const Track& job : jobs_) {
    if (is_active(job) && !job.spec.preemptible && is_below(job.queue, quota)) sum += charge(job);
  }
  return sum;
}

std::int64_t Mirror::use_star(std::size_t quota, std::size_t at, std::int64_t extra) const {
  std::int64_t children = 0;
  for (const std::size_t child : tree_[quota].children) children += use_star(child, at, extra);
  const std::int64_t kept =
      tree_[quota].lend ? std::max<std::int64_t>(0, guarantee(quota) - amount(tree_[quota].lend))
                        : 0;
  return std::max({children, use(quota) + (is_below(at, quota) ? extra : 0), kept});
}

std::int64_t Mirror::capacity() const {
  std::int64_t sum = 0;
  for (const Node& node : case_.nodes) sum += healthy_.at(node.name) ? node.gpus : 0;
  return sum;
}

bool Mirror::within(std::size_t quota, std::int64_t charge) const {
  return !states(quota) || use(quota) + charge <= guarantee(quota);
}

bool Mirror::within_path(const Track& job, std::int64_t charge) const {
  return std::ranges::all_of(path(job.queue),
                             [&](std::size_t quota) { return within(quota, charge); });
}

std::set<std::size_t> Mirror::cover(std::size_t quota) const {
  std::set<std::size_t> below;
  std::vector<const Track*> line;
  for (const Track& job : jobs_) {
    if (is_active(job) && is_below(job.queue, quota)) line.push_back(&job);
  }
  std::set<std::size_t> lower;
  for (const std::size_t child : tree_[quota].children) {
    if (states(child)) lower.merge(cover(child));
  }
  std::ranges::sort(line, {}, [&](const Track* job) {
    const Minute since = job->stage == Stage::kRunning ? job->start : now_;
    return std::tuple(!lower.contains(job->number), job->spec.preemptible, -job->spec.priority,
                      since, job->submitted, job->number);
  });
  std::int64_t left = guarantee(quota);
  std::set<std::size_t> covered;
  for (const Track* job : line) {
    if (charge(*job) > left) continue;
    left -= charge(*job);
    covered.insert(job->number);
  }
  return covered;
}

bool Mirror::borrowed(const Track& job) const {
  return std::ranges::any_of(path(job.queue), [&](std::size_t quota) {
    return states(quota) && !cover(quota).contains(job.number);
  });
}

double Mirror::over(std::size_t quota) const {
  const std::int64_t all = capacity();
  if (all == 0) return 0;
  return static_cast<double>(std::max<std::int64_t>(0, use(quota) - guarantee(quota))) /
         static_cast<double>(all);
}

double Mirror::score(std::size_t quota) const {
  return (over(quota) + case_.policy.kappa * past_[quota]) / tree_[quota].weight;
}

std::int64_t Mirror::free_gpus(const std::string& node) const {
  const auto spec = std::ranges::find(case_.nodes, node, &Node::name);
  std::int64_t free = spec->gpus;
  for (const Track& job : jobs_) {
    for (const Share& share : job.shares) {
      if (share.node == node) free -= job.spec.exclusive ? spec->gpus : share.gpus;
    }
  }
  return free;
}

bool Mirror::is_empty(const std::string& node) const {
  return std::ranges::none_of(jobs_, [&](const Track& job) {
    return std::ranges::find(job.shares, node, &Share::node) != job.shares.end();
  });
}

std::vector<const Node*> Mirror::roomy(const Track& job) const {
  std::int64_t gpus = 8;
  for (const Component& part : job.spec.components) gpus = std::min(gpus, part.gpus);
  std::vector<const Node*> found;
  for (const Node& node : case_.nodes) {
    if (!healthy_.at(node.name)) continue;
    const bool fits = job.spec.exclusive ? is_empty(node.name) : free_gpus(node.name) >= gpus;
    if (fits) found.push_back(&node);
  }
  return found;
}

}  // namespace artel::rules
