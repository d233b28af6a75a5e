// Rules O: who goes before whom.
#include <algorithm>

#include "property/rules/bed/checks.h"

namespace artel::rules {

using namespace scenario;

namespace {

bool waits(const Track& job) { return job.stage == Stage::kWaiting && !job.claims; }

/// No user usage, eviction or failure makes the place of the job in its team uncertain.
bool is_surely_head(const Mirror& mirror, const Track& job) {
  const std::size_t top = top_of(mirror, job);
  return std::ranges::all_of(mirror.jobs(), [&](const Track& other) {
    if (!waits(other) || other.number == job.number || top_of(mirror, other) != top) return true;
    if (mirror.pool(other.queue) != mirror.pool(job.queue)) return false;
    if (other.spec.priority != job.spec.priority) return other.spec.priority < job.spec.priority;
    return other.spec.user == job.spec.user && mirror.precedes(job, other);
  });
}

bool is_free_to_start(const Mirror& mirror, const Track& job) {
  return job.evictions == 0 && !job.failed && !is_backing_off(mirror, job) &&
         passes_limits(mirror, job, mirror.largest(job));
}

bool within_top(const Mirror& mirror, const Track& job) {
  return mirror.within(top_of(mirror, job), mirror.charge(job, mirror.largest(job)));
}

bool somebody_starves(const Mirror& mirror) {
  return std::ranges::any_of(mirror.jobs(),
                             [&](const Track& job) { return waits(job) && mirror.starves(job); });
}

bool same_request(const Track& a, const Track& b) {
  const auto same_parts = [](const Component& x, const Component& y) {
    return x.nodes == y.nodes && x.gpus == y.gpus && x.cpus == y.cpus;
  };
  return std::ranges::equal(a.spec.components, b.spec.components, same_parts) &&
         a.spec.min_nodes == b.spec.min_nodes && a.spec.walltime == b.spec.walltime &&
         a.spec.topology == b.spec.topology && a.spec.segment == b.spec.segment &&
         a.spec.exclusive == b.spec.exclusive && a.spec.preemptible == b.spec.preemptible;
}

bool in_strict_queue(const Mirror& mirror, const Track& job) {
  return std::ranges::any_of(mirror.path(job.queue),
                             [&](std::size_t quota) { return mirror.tree()[quota].strict_fifo; });
}

/// Work within a guarantee goes before borrowing.
void check_within_first(const Moment& moment, const Track& job) {
  if (somebody_starves(moment.mirror) || !is_surely_head(moment.mirror, job)) return;
  if (!within_top(moment.mirror, job)) return;
  moment.ledger.expect("O1", !moment.borrower_began,
                       moment.when + ": " + job.spec.id + " is within, but a borrower went first");
}

void check_line(const Moment& moment, const Track& job) {
  for (const Track& other : moment.mirror.jobs()) {
    if (!waits(other) || other.number == job.number || !are_alike(other, job)) continue;
    if (other.evictions > 0 || other.failed || job.evictions > 0 || job.failed) continue;
    if (!moment.mirror.precedes(other, job)) continue;
    moment.ledger.expect("O4", false,
                         moment.when + ": " + job.spec.id + " starts before " + other.spec.id);
    return;
  }
  moment.ledger.expect("O4", true, "");
}

/// A borrower starts before one that starves only where that one has no room.
void check_starving(const Moment& moment, const Track& job) {
  const Mirror& mirror = moment.mirror;
  const bool claimed = std::ranges::any_of(mirror.jobs(), &Track::claims);
  if (claimed || within_top(mirror, job) || mirror.starves(job)) return;
  const auto only = [](const Beliefs& beliefs, const Track& one) {
    return beliefs.planned.size() == (beliefs.planned.contains(one.spec.id) ? 1U : 0U);
  };
  for (const Track& other : mirror.jobs()) {
    if (!only(moment.before, other) || !only(moment.after, other)) continue;
    if (!waits(other) || !mirror.starves(other) || !is_free_to_start(mirror, other)) continue;
    if (other.spec.topology != Topology::kNone || other.spec.segment > 1) continue;
    if (other.spec.components.size() > 1 || in_strict_queue(mirror, other)) continue;
    const std::int64_t size = mirror.smallest(other);
    if (fills_the_cluster(mirror, other, size)) continue;
    moment.ledger.expect(
        "O2", static_cast<std::int64_t>(mirror.roomy(other).size()) < size,
        moment.when + ": " + job.spec.id + " starts before " + other.spec.id + ", which starves");
  }
}

void check_borrowers(const Moment& moment, const Track& job) {
  const Mirror& mirror = moment.mirror;
  if (within_top(mirror, job)) return;
  for (const Track& other : mirror.jobs()) {
    if (!waits(other) || other.number == job.number || !same_request(other, job)) continue;
    if (!is_free_to_start(mirror, other)) continue;
    if (somebody_starves(mirror) || top_of(mirror, other) == top_of(mirror, job)) continue;
    if (!is_surely_head(mirror, job) || !is_surely_head(mirror, other)) continue;
    const double difference =
        mirror.score(top_of(mirror, other)) - mirror.score(top_of(mirror, job));
    moment.ledger.expect("O3", difference > -1e-9,
                         moment.when + ": " + job.spec.id + " starts before " + other.spec.id +
                             " of a team that borrows less");
  }
}

}  // namespace

bool are_alike(const Track& a, const Track& b) {
  return same_request(a, b) && a.queue == b.queue && a.spec.user == b.spec.user;
}

void check_order(const Moment& moment, const Start& start) {
  const Track& job = moment.mirror.job(start.job);
  if (job.claims || moment.signalled || moment.claimants.contains(job.spec.id)) return;
  check_within_first(moment, job);
  check_line(moment, job);
  check_starving(moment, job);
  check_borrowers(moment, job);
}

}  // namespace artel::rules
