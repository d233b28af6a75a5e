#include "sched/state.h"

#include <algorithm>
#include <numeric>

#include "sched/books.h"

namespace artel::sched {
namespace {

std::int64_t bound(const Bounds& bounds, std::size_t resource, std::int64_t none) {
  return resource < bounds.size() && bounds[resource] ? *bounds[resource] : none;
}

/// Numbers names in their order.
std::vector<std::uint32_t> number_names(const std::vector<std::string>& names,
                                        std::size_t& different) {
  std::vector<std::string> sorted = names;
  std::ranges::sort(sorted);
  const auto rest = std::ranges::unique(sorted);
  sorted.erase(rest.begin(), rest.end());
  different = sorted.size();
  std::vector<std::uint32_t> numbers;
  numbers.reserve(names.size());
  for (const std::string& name : names) {
    numbers.push_back(
        static_cast<std::uint32_t>(std::ranges::lower_bound(sorted, name) - sorted.begin()));
  }
  return numbers;
}

std::vector<std::string> names_of(const Setup& setup, std::string NodeFacts::* member) {
  std::vector<std::string> names;
  names.reserve(setup.nodes.size());
  for (const NodeFacts& node : setup.nodes) names.push_back(node.*member);
  return names;
}

void add_nodes(State& state, const Setup& setup) {
  std::size_t leaves = 0;
  std::size_t blocks = 0;
  std::size_t all = 0;
  const auto leaf = number_names(names_of(setup, &NodeFacts::leaf), leaves);
  const auto block = number_names(names_of(setup, &NodeFacts::block), blocks);
  const auto rank = number_names(names_of(setup, &NodeFacts::name), all);
  state.largest_node.assign(state.flavors, 0);
  for (std::size_t i = 0; i < setup.nodes.size(); ++i) {
    const NodeFacts& facts = setup.nodes[i];
    state.nodes.push_back({.name = facts.name,
                           .rank = rank[i],
                           .leaf = leaf[i],
                           .block = block[i],
                           .flavor = facts.flavor,
                           .gpus = facts.gpus,
                           .cores = facts.cores,
                           .memory = facts.memory,
                           .owner = facts.owner,
                           .features = facts.features,
                           .shared = facts.shared,
                           .holders = {},
                           .free_gpus = facts.gpus,
                           .free_cores = facts.cores,
                           .free_memory = facts.memory});
    state.words.insert(facts.features.begin(), facts.features.end());
    state.has_owners = state.has_owners || facts.owner.has_value();
    auto& largest = state.largest_node[facts.flavor.value];
    largest = std::max(largest, facts.gpus);
  }
  state.by_name.resize(state.nodes.size());
  std::iota(state.by_name.begin(), state.by_name.end(), 0U);
  std::ranges::stable_sort(state.by_name, {}, [&](NodeIndex i) { return state.nodes[i].rank; });
  for (std::uint32_t i = 0; i < state.by_name.size(); ++i) state.nodes[state.by_name[i]].rank = i;
  state.leaves.resize(leaves);
  state.blocks.resize(blocks);
  state.blocks_of_leaf.resize(leaves);
  for (const NodeIndex i : state.by_name) {
    state.blocks_of_leaf[state.nodes[i].leaf].insert(state.nodes[i].block);
    state.leaves[state.nodes[i].leaf].push_back(i);
    state.blocks[state.nodes[i].block].push_back(i);
  }
}

void add_quotas(State& state, const Setup& setup) {
  const Amounts nothing(state.flavors + 1, 0);
  for (std::uint32_t i = 0; i < setup.tree.size(); ++i) {
    Quota quota{.parent = setup.tree[i].parent,
                .children = {},
                .path = {},
                .is_team = setup.tree[i].is_team,
                .facts = setup.tree[i],
                .guarantee = nothing,
                .jobs = nothing,
                .reserved = nothing,
                .fixed = nothing,
                .dedicated = nothing,
                .kept = nothing,
                .star = nothing,
                .star_below = nothing,
                .past = setup.tree[i].past,
                .used_gpu_ms = setup.tree[i].used_gpu_ms,
                .users = {}};
    if (i != kRoot.value) {
      quota.depth = state.quotas[quota.parent.value].depth + 1;
      quota.path = state.quotas[quota.parent.value].path;
      quota.path.insert(quota.path.begin(), QuotaId{i});
      state.quotas[quota.parent.value].children.push_back(QuotaId{i});
    }
    state.quotas.push_back(std::move(quota));
  }
}

/// What a node states: its own guarantee, else the sum of its children's.
void derive_guarantee(State& state, QuotaId id) {
  Amounts sum(state.flavors + 1, 0);
  bool children_state = false;
  for (const QuotaId child : state.at(id).children) {
    derive_guarantee(state, child);
    children_state = children_state || state.at(child).states;
    for (std::size_t r = 0; r < sum.size(); ++r) sum[r] += state.at(child).guarantee[r];
  }
  Quota& quota = state.at(id);
  quota.states = id != kRoot && (quota.facts.guarantee || children_state);
  quota.guarantee = quota.facts.guarantee ? *quota.facts.guarantee : sum;
  quota.guarantee.resize(sum.size(), 0);
}

void derive_star(State& state, QuotaId id) {
  Quota& quota = state.at(id);
  std::ranges::fill(quota.star_below, 0);
  for (const QuotaId child : quota.children) {
    derive_star(state, child);
    for (std::size_t r = 0; r < quota.star_below.size(); ++r) {
      quota.star_below[r] += state.at(child).star[r];
    }
  }
  for (std::size_t r = 0; r < quota.star.size(); ++r) {
    quota.star[r] = std::max({quota.star_below[r], use(quota, r), quota.kept[r]});
  }
}

}  // namespace

State::State(const Setup& setup, Time begin)
    : policy(setup.policy),
      flavors(setup.flavors.size()),
      licences(setup.licences),
      now(begin),
      settled(begin) {
  add_nodes(*this, setup);
  add_quotas(*this, setup);
  active_of.resize(quotas.size());
  licences_active.assign(licences.size(), 0);
  licences_signalled.assign(licences.size(), 0);
  user_past.insert(setup.user_past.begin(), setup.user_past.end());
  derive_tree(*this);
}

std::unique_ptr<State> copy_state(const State& from) {
  auto copy = std::make_unique<State>(from);
  for (Node& node : copy->nodes) {
    for (Holder& holder : node.holders) holder.job = &copy->jobs.at(holder.job->id);
  }
  for (auto& [id, job] : copy->waiting) job = &copy->jobs.at(id);
  for (auto& of_queue : copy->active_of) {
    for (Job*& job : of_queue) job = &copy->jobs.at(job->id);
  }
  for (auto& [quota, cover] : copy->covers) {
    for (Job*& job : cover.uncovered) job = &copy->jobs.at(job->id);
  }
  return copy;
}

QuotaId pool_of(const State& state, QuotaId queue) {
  for (const QuotaId quota : state.path(queue)) {
    if (state.at(quota).states) return quota;
  }
  return kRoot;
}

void derive_tree(State& state) {
  if (!state.capacity.empty()) settle(state);
  state.blank.reset();
  derive_guarantee(state, kRoot);
  for (auto& [id, job] : state.jobs) job.pool = pool_of(state, job.queue);
  derive_capacity(state);
}

void derive_capacity(State& state) {
  if (!state.capacity.empty()) settle(state);
  state.covers.clear();
  state.capacity.assign(state.flavors + 1, 0);
  for (Quota& quota : state.quotas) {
    std::ranges::fill(quota.dedicated, 0);
    std::ranges::fill(quota.reserved, 0);
  }
  state.out_of_service.clear();
  for (NodeIndex i = 0; i < state.nodes.size(); ++i) {
    const Node& node = state.nodes[i];
    if (!node.healthy || node.in_maintenance) {
      state.out_of_service.push_back(i);
      continue;
    }
    state.capacity[node.flavor.value] += node.gpus;
    state.capacity[state.cores()] += node.cores;
    if (node.owner) state.at(*node.owner).dedicated[node.flavor.value] += node.gpus;
  }
  for (const Reservation& one : state.reservations) {
    if (!one.open || !one.facts.owner) continue;
    for (const NodeIndex i : one.nodes) {
      const Node& node = state.nodes[i];
      if (!node.healthy) continue;
      for (const QuotaId quota : state.path(*one.facts.owner)) {
        state.at(quota).reserved[node.flavor.value] += node.gpus;
        state.at(quota).reserved[state.cores()] += node.cores;
      }
    }
  }
  for (Quota& quota : state.quotas) {
    for (std::size_t r = 0; r < quota.kept.size(); ++r) {
      const std::int64_t guarantee = quota.guarantee[r];
      const std::int64_t lend = bound(quota.facts.lend, r, guarantee);
      quota.kept[r] = std::max({std::int64_t{0}, guarantee - lend,
                                r == state.cores() ? 0 : std::min(guarantee, quota.dedicated[r])});
    }
  }
  derive_star(state, kRoot);
}

bool is_below(const State& state, QuotaId quota, QuotaId ancestor) {
  if (ancestor == kRoot) return true;
  const std::uint32_t up = state.at(ancestor).depth;
  const std::uint32_t down = state.at(quota).depth;
  return down >= up && state.path(quota)[down - up] == ancestor;
}

QuotaId common_ancestor(const State& state, QuotaId a, QuotaId b) {
  while (!is_below(state, b, a)) a = state.at(a).parent;
  return a;
}

std::optional<QuotaId> child_towards(const State& state, QuotaId ancestor, QuotaId quota) {
  const std::uint32_t up = state.at(ancestor).depth;
  const std::uint32_t down = state.at(quota).depth;
  if (down <= up) return std::nullopt;
  return state.path(quota)[down - up - 1];
}

std::int64_t use(const Quota& quota, std::size_t resource) {
  return quota.jobs[resource] + quota.reserved[resource];
}

bool is_starving(const State& state, const Job& job) {
  return job.stage == Stage::kPending && state.now - waits_since(job) >= state.policy.starve_after;
}

std::uint32_t most_plans(const State& state, const Job& job) {
  const Policy& policy = state.policy;
  if (!is_starving(state, job)) return policy.reservations_per_team;
  return std::max(policy.reservations_per_team, policy.starving_per_team);
}

std::int64_t lost_work(const State& state, const Job& job) {
  return job.charge.gpus * (state.now - std::max(job.start, job.saved_at)).count();
}

void Displaceable::add(const Displaceable& other, int times) {
  const auto add_to = [&](Amounts& sums, const Amounts& amounts) {
    if (sums.size() < amounts.size()) sums.resize(amounts.size(), 0);
    for (std::size_t i = 0; i < amounts.size(); ++i) sums[i] += times * amounts[i];
  };
  jobs += times * other.jobs;
  add_to(nodes, other.nodes);
  add_to(held, other.held);
}

void Displaceable::add(const State& state, const Job& job, int times) {
  nodes.resize(state.flavors, 0);
  held.resize(state.flavors + 1, 0);
  jobs += times;
  nodes[job.charge.flavor.value] += times * static_cast<std::int64_t>(job.shares.size());
  for_each(state, job.charge, [&](std::size_t r, std::int64_t more) { held[r] += times * more; });
}

std::uint32_t largest_size(const Request& request) {
  std::uint32_t size = 0;
  for (const Part& part : request.parts) size += part.nodes;
  return size;
}

std::uint32_t smallest_size(const Request& request) {
  return request.min_nodes.value_or(largest_size(request));
}

std::vector<std::uint32_t> sizes_of(const Request& request) {
  std::vector<std::uint32_t> sizes;
  for (std::uint32_t size = largest_size(request); size >= smallest_size(request); --size) {
    if (size % request.segment == 0) sizes.push_back(size);
    if (size == 0) break;
  }
  return sizes;
}

std::uint32_t nodes_of(const Request& request, std::uint32_t size) {
  return request.parts.size() == 1 ? size + request.spares : size;
}

std::vector<Part> parts_of(const Request& request, std::uint32_t size) {
  std::vector<Part> parts = request.parts;
  if (parts.size() == 1) parts.front().nodes = nodes_of(request, size);
  return parts;
}

Charge charge_of(const State& state, const Request& request, std::uint32_t size, FlavorId flavor) {
  Charge charge{.flavor = flavor};
  for (const Part& part : request.parts) {
    const std::int64_t nodes = request.parts.size() == 1 ? nodes_of(request, size) : part.nodes;
    charge.gpus += nodes * (request.exclusive ? state.largest_node[flavor.value] : part.gpus);
    charge.cores += nodes * part.cores;
  }
  return charge;
}

Charge charge_of_shares(const State& state, const Job& job) {
  Charge charge{.flavor = state.nodes[job.shares.front().node.value].flavor};
  for (const Share& share : job.shares) charge.gpus += share.gpus;
  const std::vector<Part>& parts = job.request->parts;
  if (parts.size() == 1) {
    charge.cores = parts.front().cores * static_cast<std::int64_t>(job.shares.size());
  } else {
    for (const Part& part : parts) charge.cores += part.cores * part.nodes;
  }
  return charge;
}

std::optional<Time> end_of_run(const Job& job, Time start) {
  if (!job.request->limit) return std::nullopt;
  return start + *job.request->limit;
}

}  // namespace artel::sched
