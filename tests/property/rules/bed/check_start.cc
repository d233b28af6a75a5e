// What must hold when a job starts.
#include <algorithm>

#include "property/rules/bed/checks.h"

namespace artel::rules {

using namespace scenario;

namespace {

std::string named(const Moment& moment, const std::string& job) { return moment.when + ": " + job; }

std::int64_t limit_of(const std::optional<Amounts>& amounts) {
  const auto found = amounts->find(kDefaultFlavor);
  return found == amounts->end() ? INT64_MAX : found->second;
}

void check_gang(const Moment& moment, const Track& job, const Start& start) {
  const auto size = static_cast<std::int64_t>(start.shares.size());
  const Mirror& mirror = moment.mirror;
  const bool whole =
      size >= mirror.smallest(job) && size <= mirror.largest(job) && size % job.spec.segment == 0;
  std::set<std::string> nodes;
  bool fits = true;
  for (const Share& share : start.shares) {
    nodes.insert(share.node);
    fits = fits && mirror.healthy(share.node);
    fits = fits && (job.spec.exclusive ? mirror.is_empty(share.node)
                                       : mirror.free_gpus(share.node) >= share.gpus);
  }
  moment.ledger.expect("G1", whole && nodes.size() == start.shares.size() && fits,
                       named(moment, job.spec.id) +
                           " starts on a part, twice on a node or where "
                           "there is no room");
  if (job.spec.components.size() < 2) return;
  std::multiset<std::int64_t> asked;
  std::multiset<std::int64_t> given;
  for (const Component& part : job.spec.components) {
    for (std::int64_t i = 0; i < part.nodes; ++i) asked.insert(part.gpus);
  }
  for (const Share& share : start.shares) given.insert(share.gpus);
  moment.ledger.expect("G5", asked == given, named(moment, job.spec.id) + " misses a component");
}

void check_quota(const Moment& moment, const Track& job, const Start& start) {
  if (job.claims) return;  // checked when the claim was made
  const auto size = static_cast<std::int64_t>(start.shares.size());
  const Mirror& mirror = moment.mirror;
  moment.ledger.expect("Q3",
                       passes_limits(mirror, job, size) && !fills_the_cluster(mirror, job, size),
                       named(moment, job.spec.id) + " passes a limit");
  if (job.spec.preemptible) return;
  const bool inside = std::ranges::all_of(mirror.path(job.queue), [&](std::size_t quota) {
    return !mirror.states(quota) ||
           mirror.fixed_use(quota) + mirror.charge(job, size) <= mirror.guarantee(quota);
  });
  moment.ledger.expect("I2", inside,
                       named(moment, job.spec.id) + " is not preemptible and borrows");
}

void check_backoff(const Moment& moment, const Track& job, const Start& start) {
  if (job.evictions == 0 || moment.mirror.stream().policy.requeue_backoff == 0) return;
  const auto size = static_cast<std::int64_t>(start.shares.size());
  const std::int64_t charge = moment.mirror.charge(job, size);
  const bool within = job.claims || moment.mirror.within_path(job, charge);
  moment.ledger.expect("A4", within || !is_backing_off(moment.mirror, job),
                       named(moment, job.spec.id) + " borrows during its back-off");
}

/// A smaller size only if a larger one had no room (G3). Said where nothing but room decides.
void check_size(const Moment& moment, const Track& job, const Start& start) {
  const auto size = static_cast<std::int64_t>(start.shares.size());
  const Mirror& mirror = moment.mirror;
  if (size == mirror.largest(job) || job.failed || job.claims || moment.signalled ||
      job.spec.segment > 1)
    return;
  const bool free = job.spec.topology == Topology::kNone && moment.after.planned.empty() &&
                    moment.before.planned.empty() && moment.claimants.empty();
  const bool claimed = std::ranges::any_of(mirror.jobs(), &Track::claims);
  if (!free || claimed || !passes_limits(mirror, job, size + 1)) return;
  if (fills_the_cluster(mirror, job, size + 1) || is_backing_off(mirror, job)) return;
  if (mirror.within_path(job, mirror.charge(job, size)) !=
      mirror.within_path(job, mirror.charge(job, size + 1))) {
    return;
  }
  moment.ledger.expect("G3", static_cast<std::int64_t>(mirror.roomy(job).size()) <= size,
                       named(moment, job.spec.id) + " starts smaller than it could");
}

void check_reserved(const Moment& moment, const Track& job, const Start& start) {
  // A claim may be older than the reservation.
  if (!job.spec.reservation.empty() || job.claims) return;
  for (const Event& event : moment.mirror.stream().timeline) {
    const auto* made = std::get_if<Reserve>(&event.fact);
    if (made == nullptr || made->reservation.end <= moment.mirror.now()) continue;
    const auto nodes = moment.after.reservations.find(made->reservation.name);
    if (nodes == moment.after.reservations.end()) continue;
    for (const Share& share : start.shares) {
      if (std::ranges::find(nodes->second, share.node) == nodes->second.end()) continue;
      const bool ends =
          job.spec.walltime && moment.mirror.now() + *job.spec.walltime <= made->reservation.start;
      moment.ledger.expect("R2", ends,
                           named(moment, job.spec.id) + " starts on " + share.node + " of " +
                               made->reservation.name);
    }
  }
}

}  // namespace

bool passes_limits(const Mirror& mirror, const Track& job, std::int64_t size) {
  const std::int64_t charge = mirror.charge(job, size);
  for (const std::size_t at : mirror.path(job.queue)) {
    const Quota& quota = mirror.tree()[at];
    const std::int64_t star = mirror.use_star(at, job.queue, charge);
    const bool fixed = !job.spec.preemptible && mirror.states(at);
    if (fixed && mirror.fixed_use(at) + charge > mirror.guarantee(at)) return false;
    if (quota.limit && star > limit_of(quota.limit)) return false;
    if (quota.borrow && star > mirror.guarantee(at) + limit_of(quota.borrow)) return false;
    std::int64_t jobs = 1;
    std::int64_t gpus = charge;
    for (const Track& other : mirror.jobs()) {
      if (!Mirror::is_active(other) || other.spec.user != job.spec.user) continue;
      if (!mirror.is_below(other.queue, at)) continue;
      ++jobs;
      gpus += mirror.charge(other);
    }
    if (quota.max_jobs_per_user && jobs > *quota.max_jobs_per_user) return false;
    if (quota.max_gpus_per_user && gpus > *quota.max_gpus_per_user) return false;
  }
  return true;
}

bool fills_the_cluster(const Mirror& mirror, const Track& job, std::int64_t size) {
  std::int64_t sum = 0;
  for (const std::size_t child : mirror.tree().front().children) {
    sum += mirror.use_star(child, job.queue, mirror.charge(job, size));
  }
  return sum > mirror.capacity();
}

bool is_backing_off(const Mirror& mirror, const Track& job) {
  if (job.evictions == 0) return false;
  const Minute wait = mirror.stream().policy.requeue_backoff << (job.evictions - 1);
  return mirror.now() < job.signalled + wait;
}

std::size_t top_of(const Mirror& mirror, const Track& job) { return mirror.path(job.queue).back(); }

void check_start(const Moment& moment, const Start& start) {
  const Track& job = moment.mirror.job(start.job);
  if (moment.kind == Kind::kRich) return;
  check_gang(moment, job, start);
  if (moment.kind == Kind::kReserved) {
    check_reserved(moment, job, start);
    return;
  }
  check_quota(moment, job, start);
  check_backoff(moment, job, start);
  check_size(moment, job, start);
  check_order(moment, start);
  check_place(moment, start);
}

}  // namespace artel::rules
