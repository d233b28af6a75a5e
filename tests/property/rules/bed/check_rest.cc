// What must hold when nothing changes any more at an instant.
#include <algorithm>
#include <cmath>

#include "property/rules/bed/checks.h"

namespace artel::rules {

using namespace scenario;

namespace {

const std::set<std::string>& reason_codes() {
  static const std::set<std::string> codes = {
      "QuotaLimit",  "BorrowLimit", "LendLimit",  "GuaranteeOnly", "UserLimit",
      "StrictOrder", "Backoff",     "Protected",  "Backfill",      "Reservation",
      "Topology",    "Resources",   "Preempting", "Held",          "Dependency",
      "BeginTime",   "Features",    "NodesDown",  "ArrayThrottle", "DeadlineUnreachable"};
  return codes;
}

void check_cover(const Moment& moment) {
  const Mirror& mirror = moment.mirror;
  std::vector<std::string> borrowed;
  for (const Track& job : mirror.jobs()) {
    if (Mirror::is_active(job) && mirror.borrowed(job)) borrowed.push_back(job.spec.id);
  }
  std::ranges::sort(borrowed);
  std::string text;
  for (const std::string& job : borrowed) text += " " + job;
  moment.ledger.expect("C2", borrowed == moment.after.borrowed,
                       moment.when + ": borrowed are" + text);
  // C2's property: with guarantees that add up, covers nest.
  for (std::size_t quota = 1; quota < mirror.tree().size(); ++quota) {
    if (mirror.tree()[quota].children.empty() || !mirror.states(quota)) continue;
    std::int64_t sum = 0;
    std::set<std::size_t> below;
    for (const std::size_t child : mirror.tree()[quota].children) {
      if (!mirror.states(child)) continue;
      sum += mirror.guarantee(child);
      below.merge(mirror.cover(child));
    }
    if (sum > mirror.guarantee(quota)) continue;
    const auto cover = mirror.cover(quota);
    moment.ledger.expect("Q2", std::ranges::includes(cover, below),
                         moment.when + ": a cover does not nest");
  }
}

std::int64_t demand_of(const Mirror& mirror, std::size_t quota) {
  std::int64_t demand = mirror.use(quota);
  for (const Track& job : mirror.jobs()) {
    if (job.stage != Stage::kWaiting || job.claims || !mirror.is_below(job.queue, quota)) continue;
    demand += mirror.charge(job, mirror.largest(job));
  }
  return demand;
}

/// Rule F1 where nothing is set aside: nobody over its demand, nobody under what it is owed,
/// nothing wasted.
void check_entitlement(const Moment& moment) {
  if (moment.kind == Kind::kMixed) return;
  const Mirror& mirror = moment.mirror;
  double all = 0;
  std::int64_t demand = 0;
  std::int64_t guarantees = 0;
  for (const std::size_t team : mirror.tree().front().children) {
    const double entitled = moment.after.entitlement.at(mirror.tree()[team].path);
    const std::int64_t wanted = demand_of(mirror, team);
    const std::int64_t owed = std::min(wanted, mirror.guarantee(team));
    const std::string what = moment.when + ": entitlement of " + mirror.tree()[team].path;
    moment.ledger.expect("F1", entitled <= static_cast<double>(wanted) + 1e-6,
                         what + " is over its demand");
    moment.ledger.expect("F1", entitled >= static_cast<double>(owed) - 1e-6,
                         what + " is less than it is owed");
    all += entitled;
    demand += wanted;
    guarantees += mirror.guarantee(team);
  }
  if (guarantees > mirror.capacity()) return;
  const auto dealt = static_cast<double>(std::min(demand, mirror.capacity()));
  moment.ledger.expect("F1", std::abs(all - dealt) < 1e-6,
                       moment.when + ": entitlements do not add up");
}

void check_score(const Moment& moment) {
  const Mirror& mirror = moment.mirror;
  for (std::size_t quota = 1; quota < mirror.tree().size(); ++quota) {
    if (!mirror.states(quota)) continue;
    const double told = moment.after.score.at(mirror.tree()[quota].path);
    const double score = mirror.score(quota);
    moment.ledger.expect("F2", std::abs(told - score) < 1e-6,
                         moment.when + ": score of " + mirror.tree()[quota].path + " is " +
                             std::to_string(told) + ", not " + std::to_string(score));
  }
}

/// What the reason says must be so.
bool is_true(const Moment& moment, const Track& job, const std::string& reason) {
  const Mirror& mirror = moment.mirror;
  const std::int64_t size = mirror.smallest(job);
  const bool claimed = std::ranges::any_of(mirror.jobs(), &Track::claims);
  if (reason == "QuotaLimit" || reason == "BorrowLimit" || reason == "UserLimit") {
    return !passes_limits(mirror, job, size);
  }
  if (reason == "GuaranteeOnly") return !job.spec.preemptible;
  if (reason == "LendLimit") return fills_the_cluster(mirror, job, size);
  if (reason == "Backoff") return is_backing_off(mirror, job);
  if (reason == "StrictOrder") {
    return std::ranges::any_of(mirror.path(job.queue), [&](std::size_t quota) {
      return mirror.tree()[quota].strict_fifo &&
             std::ranges::any_of(mirror.jobs(), [&](const Track& other) {
               return other.stage == Stage::kWaiting && other.number != job.number &&
                      mirror.is_below(other.queue, quota);
             });
    });
  }
  if (reason == "Protected") {
    return std::ranges::any_of(mirror.jobs(), [&](const Track& other) {
      const Policy& policy = mirror.stream().policy;
      return other.stage == Stage::kRunning &&
             mirror.now() - other.start <
                 std::max({policy.protect_fair, policy.protect_priority, policy.protect_reclaim});
    });
  }
  if (reason == "NodesDown") {
    return std::ranges::any_of(mirror.stream().nodes,
                               [&](const Node& node) { return !mirror.healthy(node.name); });
  }
  if (reason == "Backfill") return !moment.after.planned.empty();
  if (reason == "Topology") {
    return job.spec.topology != Topology::kNone || job.spec.segment > 1;
  }
  if (reason != "Resources" || claimed || job.failed || job.spec.components.size() > 1) return true;
  return static_cast<std::int64_t>(mirror.roomy(job).size()) < size ||
         fills_the_cluster(mirror, job, size);
}

void check_reasons(const Moment& moment) {
  for (const Track& job : moment.mirror.jobs()) {
    if (job.stage != Stage::kWaiting) continue;
    const auto found = moment.after.reasons.find(job.spec.id);
    const std::string reason = found == moment.after.reasons.end() ? "" : found->second;
    moment.ledger.expect("S9", reason_codes().contains(reason),
                         moment.when + ": " + job.spec.id + " waits for '" + reason + "'");
    if (moment.kind == Kind::kReserved || moment.kind == Kind::kRich) continue;
    moment.ledger.expect("Z2", is_true(moment, job, reason),
                         moment.when + ": " + job.spec.id + " does not wait for " + reason);
    const std::int64_t size = moment.mirror.smallest(job);
    const std::set<std::string> room = {"Backfill", "Topology", "Resources", "Protected"};
    if (!room.contains(reason)) continue;
    moment.ledger.expect("Z1",
                         passes_limits(moment.mirror, job, size) ||
                             job.spec.components.size() > 1 || job.spec.min_nodes,
                         moment.when + ": " + job.spec.id + " lacks quota, not " + reason);
  }
}

void check_budget_of_plans(const Moment& moment) {
  const auto& policy = moment.mirror.stream().policy;
  std::map<std::size_t, std::int64_t> all;
  std::map<std::size_t, std::int64_t> plans;
  for (const auto& [id, at] : moment.after.planned) {
    const Track& job = moment.mirror.job(id);
    moment.ledger.expect("B2", at > moment.mirror.now() && job.stage == Stage::kWaiting,
                         moment.when + ": " + id + " is planned for the past");
    ++all[top_of(moment.mirror, job)];
    if (!moment.mirror.starves(job)) ++plans[top_of(moment.mirror, job)];
  }
  for (const auto& [team, count] : all) {
    const auto most = std::max(policy.reservations_per_team, policy.starving_per_team);
    moment.ledger.expect("B2", count <= most, moment.when + ": a team has too many planned starts");
  }
  for (const auto& [team, count] : plans) {
    moment.ledger.expect("B2", count <= policy.reservations_per_team,
                         moment.when + ": a team has too many planned starts");
  }
}

}  // namespace

void check_rest(const Moment& moment) {
  check_reasons(moment);
  check_budget_of_plans(moment);
  if (moment.kind == Kind::kReserved || moment.kind == Kind::kRich) return;
  check_cover(moment);
  check_entitlement(moment);
  check_score(moment);
}

}  // namespace artel::rules
