// From a case to what the core is told.
#include "sim/scenario/core_facts.h"

#include <algorithm>
#include <limits>
#include <set>

#include "base/assert.h"

namespace artel::scenario {

namespace {

constexpr auto kMilli = static_cast<std::int64_t>(GpuMilli::kPerDevice);
constexpr std::int64_t kGigabyte = 1'000'000'000;

template <typename Id>
Id known(const std::map<std::string, Id>& ids, const std::string& name) {
  const auto entry = ids.find(name);
  ARTEL_ASSERT(entry != ids.end());  // the parser has checked it
  return entry->second;
}

sched::ShareBetween between_of(ShareBetween between) {
  switch (between) {
    case ShareBetween::kUser:
      return sched::ShareBetween::kUser;
    case ShareBetween::kTeam:
      return sched::ShareBetween::kTeam;
    case ShareBetween::kAll:
      break;
  }
  return sched::ShareBetween::kAll;
}

sched::Policy policy_of(const Policy& policy) {
  return {.protect_reclaim = duration_of(policy.protect_reclaim),
          .protect_fair = duration_of(policy.protect_fair),
          .protect_priority = duration_of(policy.protect_priority),
          .requeue_backoff = duration_of(policy.requeue_backoff),
          .most_backoffs = std::numeric_limits<std::uint32_t>::max(),
          .fair_preemption = policy.fair_preemption,
          .fair_patience = duration_of(policy.fair_patience),
          .fair_waste_factor = policy.fair_waste_factor,
          .half_life = Duration{static_cast<std::int64_t>(policy.half_life * 60'000)},
          .kappa = policy.kappa,
          .reservations_per_team = static_cast<std::uint32_t>(policy.reservations_per_team),
          .starving_per_team = static_cast<std::uint32_t>(policy.starving_per_team),
          .starve_after = duration_of(policy.starve_after),
          .share_between = between_of(policy.share_between)};
}

sched::QuotaFacts quota_of(CoreNames& names, const Quota& quota) {
  sched::QuotaFacts facts;
  facts.name = quota.path;
  facts.parent = sched::QuotaId{static_cast<std::uint32_t>(quota.parent)};
  facts.is_team = quota.kind == QuotaKind::kTeam;
  if (quota.guarantee) facts.guarantee = names.amounts(*quota.guarantee);
  facts.limit = names.bounds(quota.limit);
  facts.borrow = names.bounds(quota.borrow);
  facts.lend = names.bounds(quota.lend);
  facts.weight = quota.weight;
  if (quota.users) facts.users = names.users(*quota.users);
  for (const auto& [user, weight] : quota.user_weights) {
    facts.user_weights.emplace_back(names.user(user), weight);
  }
  std::ranges::sort(facts.user_weights);
  facts.max_jobs_per_user = quota.max_jobs_per_user;
  if (quota.max_gpus_per_user) facts.max_gpus_per_user = *quota.max_gpus_per_user * kMilli;
  facts.budget = quota.budget;
  facts.strict_fifo = quota.strict_fifo;
  const auto& past = names.scenario().team_usage;
  if (const auto entry = past.find(quota.path); entry != past.end()) facts.past = entry->second;
  return facts;
}

sched::NodeFacts node_of(const CoreNames& names, const Node& node) {
  sched::NodeFacts facts{.name = node.name,
                         .leaf = node.leaf,
                         .block = node.block,
                         .flavor = names.flavor(node.flavor),
                         .gpus = node.gpus * kMilli,
                         .cores = node.cpus,
                         .memory = node.memory * kGigabyte,
                         .owner = std::nullopt,
                         .features = node.features,
                         .shared = node.shared};
  if (!node.owner.empty()) facts.owner = names.quota(node.owner);
  return facts;
}

sched::Part part_of(const Component& part) {
  return {.nodes = static_cast<std::uint32_t>(part.nodes),
          .gpus = part.gpus * kMilli + part.gpu_milli,
          .cores = part.cpus,
          .memory = part.memory * kGigabyte};
}

sched::Request request_of(const CoreNames& names, const Job& job) {
  sched::Request request;
  request.parts.clear();
  for (const Component& part : job.components) request.parts.push_back(part_of(part));
  if (job.min_nodes) request.min_nodes = static_cast<std::uint32_t>(*job.min_nodes);
  request.segment = static_cast<std::uint32_t>(job.segment);
  if (job.topology == Topology::kLeaf) request.locality = sched::Locality::kLeaf;
  if (job.topology == Topology::kBlock) request.locality = sched::Locality::kBlock;
  request.exclusive = job.exclusive;
  request.flavors.clear();
  for (const std::string& flavor : job.flavors) request.flavors.push_back(names.flavor(flavor));
  for (const auto& [name, count] : job.licenses) {
    request.licences.emplace_back(names.licence(name), count);
  }
  if (job.walltime) request.limit = duration_of(*job.walltime);
  request.features = job.features;
  request.nodes_wanted = names.nodes(job.nodes_wanted);
  request.nodes_avoided = names.nodes(job.nodes_avoided);
  request.spares = static_cast<std::uint32_t>(job.spares);
  return request;
}

}  // namespace

CoreNames::CoreNames(const Case& scenario) : case_(scenario) {
  std::set<std::string> flavors;
  for (const Node& node : case_.nodes) {
    flavors.insert(node.flavor);
    nodes_.emplace(node.name, NodeId{static_cast<std::uint32_t>(nodes_.size())});
  }
  flavors_.assign(flavors.begin(), flavors.end());
  for (std::size_t i = 0; i < case_.tree.size(); ++i) {
    quotas_.emplace(case_.tree[i].path, sched::QuotaId{static_cast<std::uint32_t>(i)});
  }
  for (const auto& [name, count] : case_.licenses) {
    licences_.emplace(name, sched::LicenceId{static_cast<std::uint16_t>(licences_.size())});
  }
}

sched::FlavorId CoreNames::flavor(const std::string& name) const {
  const auto found = std::ranges::lower_bound(flavors_, name);
  ARTEL_ASSERT(found != flavors_.end() && *found == name);
  return sched::FlavorId{static_cast<std::uint16_t>(found - flavors_.begin())};
}

NodeId CoreNames::node(const std::string& name) const { return known(nodes_, name); }

std::vector<NodeId> CoreNames::nodes(const std::vector<std::string>& names) const {
  std::vector<NodeId> ids;
  for (const std::string& name : names) ids.push_back(node(name));
  std::ranges::sort(ids);
  return ids;
}

sched::QuotaId CoreNames::quota(const std::string& path) const { return known(quotas_, path); }

sched::LicenceId CoreNames::licence(const std::string& name) const {
  return known(licences_, name);
}

sched::UserId CoreNames::user(const std::string& name) {
  const auto number = static_cast<std::uint32_t>(users_.size());
  return users_.try_emplace(name, sched::UserId{number}).first->second;
}

std::vector<sched::UserId> CoreNames::users(const std::vector<std::string>& names) {
  std::vector<sched::UserId> ids;
  for (const std::string& name : names) ids.push_back(user(name));
  std::ranges::sort(ids);
  return ids;
}

sched::Amounts CoreNames::amounts(const Amounts& amounts) const {
  sched::Amounts all(flavors_.size() + 1, 0);
  for (std::size_t i = 0; i < flavors_.size(); ++i) {
    const auto entry = amounts.find(flavors_[i]);
    if (entry != amounts.end()) all[i] = entry->second * kMilli;
  }
  if (const auto cores = amounts.find(kCores); cores != amounts.end()) all.back() = cores->second;
  return all;
}

sched::Bounds CoreNames::bounds(const std::optional<Amounts>& amounts) const {
  if (!amounts) return {};
  sched::Bounds all(flavors_.size() + 1);
  for (std::size_t i = 0; i < flavors_.size(); ++i) {
    const auto entry = amounts->find(flavors_[i]);
    if (entry != amounts->end()) all[i] = entry->second * kMilli;
  }
  if (const auto cores = amounts->find(kCores); cores != amounts->end()) {
    all.back() = cores->second;
  }
  return all;
}

sched::Setup setup_of(CoreNames& names) {
  const Case& scenario = names.scenario();
  sched::Setup setup;
  setup.flavors = names.flavors();
  for (const Node& node : scenario.nodes) setup.nodes.push_back(node_of(names, node));
  for (const Quota& quota : scenario.tree) setup.tree.push_back(quota_of(names, quota));
  for (const auto& [name, count] : scenario.licenses) setup.licences.push_back(count);
  setup.policy = policy_of(scenario.policy);
  for (const auto& [user, past] : scenario.user_usage) {
    setup.user_past.emplace_back(names.user(user), past);
  }
  return setup;
}

sched::JobFacts facts_of(CoreNames& names, const Job& job, JobId id) {
  const auto time = [](const std::optional<Minute>& minute) {
    return minute ? std::optional(time_of(*minute)) : std::nullopt;
  };
  return {.id = id,
          .queue = names.quota(job.queue),
          .user = names.user(job.user),
          .request = request_of(names, job),
          .priority = static_cast<std::int32_t>(job.priority),
          .preemptible = job.preemptible,
          .grace = duration_of(grace_of(names.scenario(), job)),
          .reservation = std::nullopt,
          .name = job.name.empty() ? job.id : job.name,
          .array = std::nullopt,
          .held = job.held,
          .begin = time(job.begin),
          .deadline = time(job.deadline),
          .max_wait = job.max_wait ? std::optional(duration_of(*job.max_wait)) : std::nullopt};
}

sched::ReservationFacts facts_of(CoreNames& names, const Reservation& reservation) {
  sched::ReservationFacts facts;
  if (!reservation.owner.empty()) facts.owner = names.quota(reservation.owner);
  facts.users = names.users(reservation.users);
  facts.start = time_of(reservation.start);
  facts.end = time_of(reservation.end);
  facts.nodes = names.nodes(reservation.nodes);
  if (reservation.count) facts.count = static_cast<std::uint32_t>(*reservation.count);
  facts.one_leaf = reservation.one_leaf;
  if (!reservation.flavor.empty()) facts.flavor = names.flavor(reservation.flavor);
  facts.maintenance = reservation.maintenance;
  facts.flex = reservation.flex;
  facts.spares = reservation.spare;
  return facts;
}

sched::QuotaChange change_of(const CoreNames& names, const SetQuota& change) {
  sched::QuotaChange told;
  if (change.guarantee) told.guarantee = names.amounts(*change.guarantee);
  if (change.limit) told.limit = names.bounds(change.limit);
  if (change.borrow) told.borrow = names.bounds(change.borrow);
  if (change.lend) told.lend = names.bounds(change.lend);
  told.weight = change.weight;
  return told;
}

}  // namespace artel::scenario
