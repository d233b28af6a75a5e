// Rules W1, N.
#include "reference/eligible.h"

#include <algorithm>

#include "reference/placement.h"
#include "sim/scenario/features.h"

namespace artel::reference {

namespace {

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

/// Whether the nodes, all empty, could hold the job at its smallest size.
bool could_hold(const World& world, const Job& job, bool only_healthy, bool anywhere) {
  const std::vector<Room> rooms = empty_rooms(world, only_healthy);
  return std::ranges::any_of(job.spec.flavors, [&](const std::string& flavor) {
    return place(world, job, {smallest_size(job), flavor}, rooms, anywhere).has_value();
  });
}

}  // namespace

bool admits_node(const Job& job, const Node& node) {
  const std::string& name = node.spec.name;
  if (!job.spec.nodes_wanted.empty() && !has(job.spec.nodes_wanted, name)) return false;
  if (has(job.spec.nodes_avoided, name) || has(job.marks, name)) return false;
  return scenario::satisfies(job.spec.features, node.spec.features).value_or(false);
}

void mark_node(const World& world, Job& job, const std::string& node) {
  if (!has(job.marks, node)) job.marks.push_back(node);
  while (!job.marks.empty() && !could_hold(world, job, false, false)) {
    job.marks.erase(job.marks.begin());
  }
}

std::string obstacle(const World& world, const Job& job) {
  if (job.is_held) return "Held";
  if (job.depends) return "Dependency";
  if (job.spec.begin && world.now < *job.spec.begin) return "BeginTime";
  if (!could_hold(world, job, false, true)) return "Features";
  if (!could_hold(world, job, true, false)) return "NodesDown";
  return "";
}

}  // namespace artel::reference
