#include "sim/trace/artel_setup.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace artel::trace {
namespace {

using sched::Amounts;
using sched::Bounds;
using sched::FlavorId;
using sched::NodeFacts;
using sched::QuotaFacts;
using sched::QuotaId;

/// Where no cluster is given, a unit of any kind is a GPU of this type.
constexpr std::string_view kUnit = "unit";

std::vector<std::string> flavors_of(const Site& site) {
  std::set<std::string> types;
  for (const NodeConfig& node : site.nodes) {
    if (node.resources.gpus > 0) types.insert(node.resources.gpu_type);
  }
  if (types.empty()) types.insert(std::string(kUnit));
  return {types.begin(), types.end()};
}

constexpr Milli kMostNodes = 1'000'000;

/// The job's CPUs, evenly on all its nodes.
void add_cores(std::vector<sched::Part>& parts, const Job& job) {
  std::int64_t nodes = 0;
  for (const sched::Part& part : parts) nodes += part.nodes;
  const Milli cores = (job.cpus + kMilli - 1) / kMilli;
  for (sched::Part& part : parts) part.cores = (cores + nodes - 1) / nodes;
}

std::vector<NodeFacts> uniform_nodes(const Problem& problem, const Site& site) {
  std::vector<NodeFacts> nodes;
  const Milli size = static_cast<Milli>(site.node_size) * kMilli;
  for (Milli left = problem.capacity; left > 0; left -= size) {
    NodeFacts node;
    node.name = fmt::format("n{:06}", nodes.size() + 1);
    node.gpus = std::min(left, size);
    nodes.push_back(std::move(node));
  }
  return nodes;
}

std::vector<NodeFacts> given_nodes(const Site& site, const std::vector<std::string>& flavors) {
  std::vector<NodeFacts> nodes;
  for (const NodeConfig& config : site.nodes) {
    NodeFacts node;
    node.name = config.name;
    const auto type = std::ranges::lower_bound(flavors, config.resources.gpu_type);
    if (config.resources.gpus > 0)
      node.flavor = FlavorId(static_cast<std::uint16_t>(type - flavors.begin()));
    node.gpus = config.resources.gpus * kMilli;
    node.cores = config.resources.cpus;
    node.memory = static_cast<std::int64_t>(config.resources.memory.value);
    nodes.push_back(std::move(node));
  }
  return nodes;
}

/// Makes the quota tree: root, cohorts, teams of the file, teams that only jobs name.
class Tree {
 public:
  Tree(const Problem& problem, const Site& site, ArtelSetup& out)
      : problem_(problem), site_(site), out_(out) {
    const auto has_guarantee = [](const Team& team) { return team.guarantee.has_value(); };
    // Siblings all state a guarantee or none does (Q1): without one it is 0.
    has_guarantees_ = std::ranges::any_of(site.teams.teams, has_guarantee);
  }

  Result<> make() {
    out_.setup.tree.push_back(QuotaFacts{});
    for (const std::string& cohort : site_.teams.cohorts) cohorts_[cohort] = add(cohort, QuotaId{});
    for (const Team& team : site_.teams.teams) {
      if (auto added = add_team(team); !added) return added;
    }
    for (const Task& task : problem_.tasks) {
      const std::uint32_t name = problem_.workload->jobs[task.job].team;
      if (!out_.queues.contains(name)) out_.queues[name] = queue_of(problem_.workload->names[name]);
    }
    return {};
  }

 private:
  [[nodiscard]] std::size_t resources() const { return out_.setup.flavors.size() + 1; }

  QuotaId add(const std::string& name, QuotaId parent) {
    QuotaFacts facts;
    facts.name = name.empty() ? "(none)" : name;
    facts.parent = parent;
    if (has_guarantees_) facts.guarantee = Amounts(resources(), 0);
    out_.setup.tree.push_back(std::move(facts));
    return QuotaId(static_cast<std::uint32_t>(out_.setup.tree.size() - 1));
  }

  Result<> add_team(const Team& team) {
    const QuotaId parent = team.cohort.empty() ? QuotaId{} : cohorts_.at(team.cohort);
    const QuotaId id = add(team.name, parent);
    teams_[team.name] = id;
    QuotaFacts& facts = out_.setup.tree[id.value];
    facts.is_team = true;
    facts.weight = static_cast<double>(team.weight);
    if (team.guarantee) {
      if (auto set = set_guarantee(team, facts, parent); !set) return set;
    }
    for (const auto& [value, bounds] :
         {std::pair(team.limit, &facts.limit), std::pair(team.borrow, &facts.borrow),
          std::pair(team.lend, &facts.lend)}) {
      if (!value) continue;
      if (out_.setup.flavors.size() > 1) {
        return fail(
            ErrorCode::kConfig,
            fmt::format("team '{}': limit, borrow and lend are one number for all GPUs, but "
                        "the cluster has several types: {}",
                        team.name, fmt::join(out_.setup.flavors, ", ")));
      }
      *bounds = Bounds(resources());
      bounds->front() = static_cast<std::int64_t>(*value) * kMilli;
    }
    return {};
  }

  /// Cohorts are guaranteed what their teams are together.
  Result<> set_guarantee(const Team& team, QuotaFacts& facts, QuotaId parent) {
    for (const auto& [type, units] : *team.guarantee) {
      const auto flavor = flavor_of(type);
      if (!flavor) {
        return fail(ErrorCode::kConfig,
                    fmt::format("team '{}': guarantee: {}; the cluster has {}", team.name,
                                type.empty() ? "several types of GPUs need a table, { TYPE = N }"
                                             : "there is no GPU of type '" + type + "'",
                                fmt::join(out_.setup.flavors, ", ")));
      }
      const std::int64_t amount = static_cast<std::int64_t>(units) * kMilli;
      facts.guarantee->at(*flavor) += amount;
      if (parent.value != 0) out_.setup.tree[parent.value].guarantee->at(*flavor) += amount;
    }
    return {};
  }

  /// Without a cluster all units are alike, whatever the teams file calls them.
  [[nodiscard]] std::optional<std::size_t> flavor_of(const std::string& type) const {
    const auto& flavors = out_.setup.flavors;
    if (site_.nodes.empty() || (type.empty() && flavors.size() == 1)) return 0;
    const auto at = std::ranges::find(flavors, type);
    if (at == flavors.end()) return std::nullopt;
    return static_cast<std::size_t>(at - flavors.begin());
  }

  QuotaId queue_of(const std::string& name) {
    const auto known = teams_.find(name);
    if (known != teams_.end()) return known->second;
    const QuotaId id = add(name, QuotaId{});
    out_.setup.tree[id.value].is_team = true;
    return id;
  }

  const Problem& problem_;
  const Site& site_;
  ArtelSetup& out_;
  bool has_guarantees_ = false;
  std::map<std::string, QuotaId> cohorts_;
  std::map<std::string, QuotaId> teams_;
};

/// As many units on each of `nodes` nodes as divide them evenly; the first get one more.
std::vector<sched::Part> even_parts(Milli units, std::uint32_t nodes) {
  const Milli whole = units / kMilli;
  if (nodes == 1 || units % kMilli != 0)
    return {{nodes, (units + nodes - 1) / static_cast<Milli>(nodes), 0, 0}};
  const auto more = static_cast<std::uint32_t>(whole % nodes);
  const Milli each = whole / nodes;
  std::vector<sched::Part> parts;
  if (more > 0) parts.push_back({more, (each + 1) * kMilli, 0, 0});
  if (nodes > more && each > 0) parts.push_back({nodes - more, each * kMilli, 0, 0});
  return parts;
}

/// Whole nodes, and one with the rest.
std::vector<sched::Part> packed_parts(Milli units, Milli node) {
  const auto full = static_cast<std::uint32_t>(units / node);
  std::vector<sched::Part> parts;
  if (full > 0) parts.push_back({full, node, 0, 0});
  if (units % node > 0) parts.push_back({1, units % node, 0, 0});
  return parts;
}

}  // namespace

Result<ArtelSetup> make_setup(const Problem& problem, const Site& site) {
  ArtelSetup out;
  out.setup.flavors = flavors_of(site);
  const Milli node_size = static_cast<Milli>(site.node_size) * kMilli;
  if (site.nodes.empty() && problem.capacity / node_size > kMostNodes) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("the machine would have {} nodes, policy artel plays at most {}; name "
                            "their size with --node-size, or a --cluster",
                            problem.capacity / node_size, kMostNodes));
  }
  out.setup.nodes =
      site.nodes.empty() ? uniform_nodes(problem, site) : given_nodes(site, out.setup.flavors);
  for (const NodeFacts& node : out.setup.nodes) out.node_gpus = std::max(out.node_gpus, node.gpus);
  if (auto made = Tree(problem, site, out).make(); !made) return fail(made);
  return out;
}

sched::Request request_of(const Problem& problem, const Site& site, const ArtelSetup& setup,
                          TaskIndex task) {
  const Task& what = problem.tasks[task];
  const Job& job = problem.workload->jobs[what.job];
  sched::Request request;
  request.limit = std::chrono::seconds{what.limit};
  request.flavors.clear();
  for (std::size_t i = 0; i < setup.setup.flavors.size(); ++i)
    request.flavors.emplace_back(static_cast<std::uint16_t>(i));
  // A log may say anything; more nodes than this no machine has.
  const auto nodes = static_cast<std::uint32_t>(std::min<Milli>(job.nodes / kMilli, kMostNodes));
  if (site.nodes.empty()) {
    request.parts = packed_parts(what.size, setup.node_gpus);
  } else if (problem.resource == Resource::kNodes) {
    request.parts = {{nodes, 0, 0, 0}};
    request.exclusive = true;
  } else if (job.gpus > 0) {
    const bool fits = job.gpus <= setup.node_gpus * static_cast<Milli>(nodes);
    request.parts = fits || setup.node_gpus == 0 ? even_parts(job.gpus, nodes)
                                                 : packed_parts(job.gpus, setup.node_gpus);
    if (problem.resource == Resource::kCpus) add_cores(request.parts, job);
  } else {
    const Milli cores = (job.cpus + kMilli - 1) / kMilli;
    request.parts = {{nodes, 0, (cores + nodes - 1) / static_cast<Milli>(nodes), 0}};
  }
  return request;
}

}  // namespace artel::trace
