// Rules P and X: where a job starts.
#include <algorithm>
#include <tuple>

#include "property/rules/bed/checks.h"

namespace artel::rules {

using namespace scenario;

namespace {

using Nodes = std::vector<const Node*>;

std::map<std::string, Nodes> by_leaf(const Nodes& nodes) {
  std::map<std::string, Nodes> leaves;
  for (const Node* node : nodes) leaves[node->leaf].push_back(node);
  return leaves;
}

std::int64_t rounded(const Nodes& nodes, std::int64_t segment) {
  return static_cast<std::int64_t>(nodes.size()) / segment * segment;
}

/// Rule P3.
void take(const Mirror& mirror, Nodes& leaf, std::int64_t count, std::set<std::string>& taken) {
  std::ranges::sort(leaf, {}, [&](const Node* node) {
    return std::tuple(mirror.free_gpus(node->name), node->name);
  });
  for (std::int64_t i = 0; i < count; ++i) taken.insert(leaf[static_cast<std::size_t>(i)]->name);
}

/// Rule P4.
std::set<std::string> fill(const Mirror& mirror, const Nodes& domain, std::int64_t size,
                           std::int64_t segment) {
  std::set<std::string> taken;
  auto leaves = by_leaf(domain);
  while (size > 0) {
    auto best = leaves.end();
    for (auto leaf = leaves.begin(); leaf != leaves.end(); ++leaf) {
      if (best == leaves.end()) {
        best = leaf;
        continue;
      }
      const std::int64_t room = rounded(leaf->second, segment);
      const std::int64_t best_room = rounded(best->second, segment);
      const bool holds = room >= size;
      const bool best_holds = best_room >= size;
      const bool better = holds != best_holds ? holds
                          : holds             ? leaf->second.size() < best->second.size()
                                              : room > best_room;
      if (better) best = leaf;
    }
    const std::int64_t count = std::min(size, rounded(best->second, segment));
    take(mirror, best->second, count, taken);
    size -= count;
    leaves.erase(best);
  }
  return taken;
}

std::int64_t room_in(const Nodes& domain, std::int64_t segment) {
  std::int64_t room = 0;
  for (const auto& [name, nodes] : by_leaf(domain)) room += rounded(nodes, segment);
  return room;
}

std::string domain_of(const Node& node, int level) {
  if (level == 0) return node.leaf;
  return level == 1 ? node.block : "";
}

/// Rule P2 over the nodes with room.
std::set<std::string> expected(const Mirror& mirror, const Track& job, std::int64_t size) {
  const Topology wide = job.spec.topology;
  const int widest = wide == Topology::kLeaf ? 0 : wide == Topology::kBlock ? 1 : 2;
  const std::int64_t segment = job.spec.segment;
  for (int level = 0; level <= widest; ++level) {
    std::map<std::string, Nodes> domains;
    for (const Node* node : mirror.roomy(job)) domains[domain_of(*node, level)].push_back(node);
    const Nodes* best = nullptr;
    std::int64_t fewest = 0;
    for (const auto& [name, nodes] : domains) {
      if (room_in(nodes, segment) < size) continue;
      std::int64_t free = 0;
      for (const Node* node : nodes) free += mirror.free_gpus(node->name);
      if (best != nullptr && free >= fewest) continue;
      best = &nodes;
      fewest = free;
    }
    if (best != nullptr) return fill(mirror, *best, size, segment);
  }
  return {};
}

const Node& node_named(const Moment& moment, const std::string& name) {
  return *std::ranges::find(moment.mirror.stream().nodes, name, &Node::name);
}

void check_topology(const Moment& moment, const Track& job, const Start& start) {
  std::map<std::string, std::int64_t> leaves;
  std::set<std::string> blocks;
  for (const Share& share : start.shares) {
    const Node& node = node_named(moment, share.node);
    ++leaves[node.leaf];
    blocks.insert(node.block);
  }
  const std::string what = moment.when + ": " + job.spec.id + " starts over " +
                           std::to_string(leaves.size()) + " leaves";
  if (job.spec.topology == Topology::kLeaf) moment.ledger.expect("P2", leaves.size() == 1, what);
  if (job.spec.topology == Topology::kBlock) moment.ledger.expect("P2", blocks.size() == 1, what);
  if (job.spec.segment == 1) return;
  const bool whole = std::ranges::all_of(
      leaves, [&](const auto& leaf) { return leaf.second % job.spec.segment == 0; });
  moment.ledger.expect("P5", whole, what + " with a part of a segment");
}

}  // namespace

void check_place(const Moment& moment, const Start& start) {
  if (moment.kind != Kind::kMixed) return;
  const Track& job = moment.mirror.job(start.job);
  check_topology(moment, job, start);
  for (const Share& share : start.shares) {
    const bool shared = std::ranges::any_of(moment.mirror.jobs(), [&](const Track& other) {
      return other.spec.exclusive &&
             std::ranges::find(other.shares, share.node, &Share::node) != other.shares.end();
    });
    moment.ledger.expect("X2",
                         !shared && (!job.spec.exclusive || moment.mirror.is_empty(share.node)),
                         moment.when + ": " + job.spec.id + " shares an exclusive node");
  }
  // Where the nodes are held by claims or promised to plans, the choice is narrower than seen here.
  const bool claimed = std::ranges::any_of(moment.mirror.jobs(), &Track::claims);
  if (claimed || !moment.claimants.empty() || moment.signalled || !moment.after.planned.empty() ||
      !moment.before.planned.empty() || job.spec.components.size() > 1 || job.failed) {
    return;
  }
  std::set<std::string> chosen;
  for (const Share& share : start.shares) chosen.insert(share.node);
  const auto wanted = expected(moment.mirror, job, static_cast<std::int64_t>(start.shares.size()));
  std::string text;
  for (const std::string& node : wanted) text += " " + node;
  moment.ledger.expect(job.spec.topology == Topology::kNone ? "P4" : "P2", chosen == wanted,
                       moment.when + ": " + job.spec.id + " should start on" + text);
  if (chosen.size() == 1) {
    moment.ledger.expect("P3", chosen == wanted,
                         moment.when + ": " + job.spec.id + " should start on" + text);
  }
}

}  // namespace artel::rules
