#include "ctld/core/layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/assert.h"
#include "model/resources.h"
#include "sched/quota_change.h"

namespace artel::ctld {
namespace {

using sched::QuotaFacts;
using sched::QuotaId;

constexpr auto kMilli = static_cast<std::int64_t>(GpuMilli::kPerDevice);
/// The type of nodes without GPUs; no GPU type is called so, since it is no word.
constexpr std::string_view kPlain = "(no GPU)";

bool states_guarantee(const TeamsConfig& teams) {
  const auto states = [](const auto& one) { return one.terms.guarantee.has_value(); };
  return std::ranges::any_of(teams.teams, states) || std::ranges::any_of(teams.cohorts, states);
}

}  // namespace

Layout::Layout(const std::vector<NodeConfig>& nodes, const TeamsConfig& teams,
               const sched::Policy& policy, const std::vector<std::string>& extra)
    : has_teams_(!teams.teams.empty()), states_(states_guarantee(teams)) {
  setup_.policy = policy;
  std::set<std::string> types;
  for (const NodeConfig& node : nodes) {
    if (node.resources.gpus > 0) types.insert(node.resources.gpu_type);
    has_plain_ = has_plain_ || node.resources.gpus == 0;
  }
  setup_.flavors.assign(types.begin(), types.end());
  if (has_plain_ || types.empty()) setup_.flavors.emplace_back(kPlain);
  add("", "", QuotaId{});
  for (const CohortConfig& cohort : teams.cohorts) {
    const QuotaId parent = cohort.parent.empty() ? QuotaId{} : cohorts_.at(cohort.parent);
    const QuotaId id = add("cohort", cohort.name, parent);
    cohorts_.emplace(cohort.name, id);
    add_terms(cohort.terms, setup_.tree[id.value]);
  }
  for (const TeamConfig& team : teams.teams) add_team(team, teams.queues);
  // They keep what they have and get what nobody else wants.
  for (const std::string& name : extra) {
    if (teams_.contains(name) || !has_teams_) continue;
    TeamConfig left{.name = name};
    left.terms.weight = 0;
    if (states_) left.terms.guarantee = QuotaAmounts{};
    add_team(left, {});
  }
  if (!has_teams_) {
    add_team(TeamConfig{.name = "all"}, teams.queues);
    other_ = teams_.at("all");
  }
  add_nodes(nodes);
}

QuotaId Layout::add(std::string_view kind, const std::string& name, QuotaId parent) {
  const QuotaId id{static_cast<std::uint32_t>(setup_.tree.size())};
  QuotaFacts facts;
  const std::string above = id.value == 0 ? "" : setup_.tree[parent.value].name;
  facts.name = above.empty() ? name : fmt::format("{}/{}", above, name);
  facts.parent = parent;
  facts.is_team = kind == "team";
  setup_.tree.push_back(std::move(facts));
  labels_.push_back(kind.empty() ? "the cluster" : fmt::format("{} {}", kind, name));
  return id;
}

void Layout::add_terms(const QuotaTerms& terms, QuotaFacts& facts) const {
  if (terms.guarantee) facts.guarantee = amounts(*terms.guarantee);
  facts.limit = bounds(terms.limit);
  facts.borrow = bounds(terms.borrow);
  facts.lend = bounds(terms.lend);
  facts.weight = terms.weight;
}

void Layout::add_team(const TeamConfig& team, const std::vector<QueueConfig>& queues) {
  const QuotaId parent = team.cohort.empty() ? QuotaId{} : cohorts_.at(team.cohort);
  const QuotaId id = add("team", team.name, parent);
  teams_.emplace(team.name, id);
  add_terms(team.terms, setup_.tree[id.value]);
  setup_.tree[id.value].budget = team.budget;
  for (const QueueConfig& queue : queues) {
    if (!queue.team.empty() && queue.team != team.name) continue;
    const QuotaId node = add("queue", queue.name, id);
    queues_.emplace(std::pair(team.name, queue.name), node);
    QuotaFacts& facts = setup_.tree[node.value];
    facts.max_jobs_per_user = queue.max_jobs_per_user;
    if (queue.max_gpus_per_user) facts.max_gpus_per_user = *queue.max_gpus_per_user * kMilli;
    facts.strict_fifo = queue.strict_fifo;
  }
}

void Layout::add_nodes(const std::vector<NodeConfig>& nodes) {
  for (const NodeConfig& node : nodes) {
    const std::string type =
        node.resources.gpus > 0 ? node.resources.gpu_type : std::string(kPlain);
    const auto flavor = std::ranges::find(setup_.flavors, type);
    ARTEL_ASSERT(flavor != setup_.flavors.end());
    sched::NodeFacts facts{
        .name = node.name,
        .leaf = node.leaf,
        .block = node.block,
        .flavor = sched::FlavorId{static_cast<std::uint16_t>(flavor - setup_.flavors.begin())},
        .gpus = static_cast<std::int64_t>(node.resources.gpus) * kMilli,
        .cores = node.resources.cpus,
        .memory = static_cast<std::int64_t>(node.resources.memory.value),
        .owner = {},
        .features = node.features};
    if (const auto owner = teams_.find(node.owner); owner != teams_.end())
      facts.owner = owner->second;
    setup_.nodes.push_back(std::move(facts));
  }
}

std::optional<QuotaId> Layout::cohort(const std::string& name) const {
  const auto known = cohorts_.find(name);
  return known == cohorts_.end() ? std::nullopt : std::optional(known->second);
}

std::optional<QuotaId> Layout::team(const std::string& name) const {
  const auto known = teams_.find(name);
  return known == teams_.end() ? std::nullopt : std::optional(known->second);
}

sched::QuotaChange Layout::change_to(const QuotaTerms& terms) const {
  sched::QuotaChange out{.guarantee = {},
                         .limit = bounds(terms.limit),
                         .borrow = bounds(terms.borrow),
                         .lend = bounds(terms.lend),
                         .weight = terms.weight};
  if (terms.guarantee) out.guarantee = amounts(*terms.guarantee);
  return out;
}

void Layout::changed(QuotaId quota, const sched::QuotaChange& change) {
  apply(change, setup_.tree.at(quota.value));
}

sched::Amounts Layout::amounts(const QuotaAmounts& of) const {
  sched::Amounts all(setup_.flavors.size() + 1, 0);
  const sched::Bounds stated = bounds(of);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = stated[i].value_or(0);
  return all;
}

sched::Bounds Layout::bounds(const QuotaAmounts& of) const {
  sched::Bounds all(setup_.flavors.size() + 1);
  for (std::size_t i = 0; i < setup_.flavors.size(); ++i) {
    const auto stated = of.find(setup_.flavors[i]);
    if (stated != of.end()) all[i] = stated->second * kMilli;
  }
  if (const auto cores = of.find(std::string(kCoresKey)); cores != of.end())
    all.back() = cores->second;
  return all;
}

QuotaId Layout::queue(const std::string& team, const std::string& queue) const {
  const auto of_team = teams_.find(team);
  const std::string& name = of_team == teams_.end() ? "all" : team;
  const auto known = queues_.find(std::pair(name, queue));
  if (known != queues_.end()) return known->second;
  return of_team == teams_.end() ? other_ : of_team->second;
}

std::vector<sched::FlavorId> Layout::flavors(const NodeRequest& request) const {
  std::vector<sched::FlavorId> accepted;
  const auto id = [](std::size_t i) { return sched::FlavorId{static_cast<std::uint16_t>(i)}; };
  for (std::size_t i = 0; i < setup_.flavors.size(); ++i) {
    if (request.gpu_type.empty() || request.gpu_type == setup_.flavors[i])
      accepted.push_back(id(i));
  }
  // Who needs no GPU goes first where there is none.
  const bool is_plain = has_plain_ && request.gpus.value == 0 && request.gpu_type.empty();
  if (is_plain) std::ranges::rotate(accepted, accepted.end() - 1);
  return accepted;
}

sched::UserId Layout::user(const std::string& name) {
  const auto number = static_cast<std::uint32_t>(users_.size());
  return users_.try_emplace(name, sched::UserId{number}).first->second;
}

std::string Layout::label(QuotaId quota) const { return labels_.at(quota.value); }

}  // namespace artel::ctld
