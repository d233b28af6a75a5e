// Terms of the rules.
#include "reference/world.h"

#include <algorithm>

namespace artel::reference {

const Node& node_named(const World& world, const std::string& name) {
  return *std::ranges::find_if(world.nodes,
                               [&](const Node& node) { return node.spec.name == name; });
}

Reservation* find_reservation(World& world, const std::string& name) {
  for (Reservation& one : world.reservations) {
    if (one.spec.name == name) return &one;
  }
  return nullptr;
}

const Reservation* find_reservation(const World& world, const std::string& name) {
  return find_reservation(const_cast<World&>(world), name);
}

std::vector<std::size_t> path_of(const World& world, std::size_t quota) {
  std::vector<std::size_t> path;
  for (; quota != kRoot; quota = world.quotas[quota].spec.parent) path.push_back(quota);
  return path;
}

bool is_below(const World& world, std::size_t quota, std::size_t ancestor) {
  if (ancestor == kRoot) return true;
  const auto path = path_of(world, quota);
  return std::ranges::find(path, ancestor) != path.end();
}

std::size_t common_ancestor(const World& world, std::size_t a, std::size_t b) {
  while (!is_below(world, b, a)) a = world.quotas[a].spec.parent;
  return a;
}

std::optional<std::size_t> child_towards(const World& world, std::size_t ancestor,
                                         std::size_t quota) {
  std::optional<std::size_t> child;
  for (; quota != ancestor; quota = world.quotas[quota].spec.parent) child = quota;
  return child;
}

std::int64_t amount(const Amounts& amounts, const std::string& resource) {
  const auto entry = amounts.find(resource);
  return entry == amounts.end() ? 0 : entry->second;
}

bool is_inside(const World& world, const Job& job) {
  if (job.spec.reservation.empty() || job.stage != Stage::kRunning) return false;
  const Reservation* reservation = find_reservation(world, job.spec.reservation);
  return reservation != nullptr && reservation->is_open;
}

bool is_active(const Job& job) {
  return (job.stage == Stage::kRunning || job.stage == Stage::kClaiming) && !job.assumed_gone;
}

Minute waits_since(const Job& job) { return std::max(job.ready, job.pending_since); }

std::int64_t tasks_holding(const World& world, const Job& job) {
  return std::ranges::count_if(world.jobs, [&](const Job& other) {
    const bool holds = other.stage == Stage::kRunning || other.stage == Stage::kSignalled ||
                       other.stage == Stage::kClaiming;
    return holds && other.spec.array_id == job.spec.array_id;
  });
}

bool is_starving(const World& world, const Job& job) {
  return job.stage == Stage::kPending && world.now - waits_since(job) >= world.policy.starve_after;
}

std::int64_t milli_of(const scenario::Component& part) {
  return part.gpus * kDevice + part.gpu_milli;
}

std::int64_t milli_of(const Share& share) { return share.gpus * kDevice + share.gpu_milli; }

std::int64_t largest_size(const Job& job) {
  std::int64_t size = 0;
  for (const auto& part : job.spec.components) size += part.nodes;
  return size;
}

std::int64_t smallest_size(const Job& job) {
  return job.spec.min_nodes.value_or(largest_size(job));
}

std::vector<std::int64_t> sizes_of(const Job& job) {
  std::vector<std::int64_t> sizes;
  for (std::int64_t size = largest_size(job); size >= smallest_size(job); --size) {
    if (size % job.spec.segment == 0) sizes.push_back(size);
  }
  return sizes;
}

std::vector<scenario::Component> parts_of(const Job& job, std::int64_t size) {
  std::vector<scenario::Component> parts = job.spec.components;
  if (parts.size() == 1) parts.front().nodes = size + job.spec.spares;
  return parts;
}

Amounts charge_of(const World& world, const Job& job, const Variant& variant) {
  std::int64_t whole_node = 0;
  for (const Node& node : world.nodes) {
    if (node.spec.flavor == variant.flavor) whole_node = std::max(whole_node, node.spec.gpus);
  }
  std::int64_t gpus = 0;
  std::int64_t cpus = 0;
  for (const auto& part : parts_of(job, variant.size)) {
    gpus += part.nodes * (job.spec.exclusive ? whole_node * kDevice : milli_of(part));
    cpus += part.nodes * part.cpus;
  }
  Amounts charge;
  if (gpus > 0) charge[variant.flavor] = gpus;
  if (cpus > 0) charge[scenario::kCores] = cpus;
  return charge;
}

std::int64_t gpus_of(const Amounts& amounts) {
  std::int64_t gpus = 0;
  for (const auto& [resource, value] : amounts) {
    if (resource != scenario::kCores) gpus += value;
  }
  return gpus;
}

std::int64_t lost_work(const World& world, const Job& job) {
  return gpus_of(job.charge) * (world.now - std::max(job.start, job.saved_at));
}

}  // namespace artel::reference
