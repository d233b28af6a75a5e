// The top of a case, its cluster and its policy.
#include "sim/scenario/parse.h"

#include <algorithm>
#include <set>

#include "base/hostlist.h"
#include "base/text.h"
#include "sim/scenario/features.h"
#include "sim/scenario/parts.h"

namespace artel::scenario {

namespace {

constexpr std::int64_t kMostGpusOnANode = 64;
constexpr std::int64_t kMostCoresOnANode = 4096;

Case read_case(Mistakes& mistakes, const YAML::Node& document) {
  Case scenario;
  Fields top(mistakes, "case", document);
  for (const char* key : {"id", "title", "cluster", "tree", "timeline", "expect"}) {
    top.require(key);
  }
  top.text("id", scenario.id);
  top.text("title", scenario.title);
  top.texts("features", scenario.features);
  top.text("origin", scenario.origin);
  top.text("why", scenario.why);
  read_cluster(top, scenario);
  read_policy(top, scenario);
  read_tree(top, scenario);
  read_first_usage(top, scenario);
  read_timeline(top, scenario);
  read_expectations(top, scenario);
  top.end();
  return scenario;
}

void read_nodes(Fields& cluster, const YAML::Node& item, Case& scenario) {
  Fields fields(cluster.mistakes(), "nodes", item);
  Node node;
  std::vector<std::string> names;
  fields.require("names");
  fields.hosts("names", names);
  fields.number("gpus", 0, kMostGpusOnANode, node.gpus);
  fields.number("cpus", 0, kMostCoresOnANode, node.cpus);
  fields.number("memory", 0, kMostOfAll, node.memory);
  read_features(fields, "features", node.features);
  fields.flag("shared", node.shared);
  fields.text("leaf", node.leaf);
  fields.text("block", node.block);
  fields.text("flavor", node.flavor);
  fields.text("owner", node.owner);
  if (node.flavor == kCores) fields.mistake("flavor", "'cpu' names the cores, choose another");
  fields.end();
  for (const std::string& name : names) {
    if (std::ranges::find(scenario.nodes, name, &Node::name) != scenario.nodes.end()) {
      fields.mistake("names", "node '" + name + "' is there twice");
      continue;
    }
    node.name = name;
    scenario.nodes.push_back(node);
  }
}

void read_classes(Fields& config, Policy& policy) {
  const YAML::Node map = config.map("classes");
  if (!map) return;
  Fields entries(config.mistakes(), "classes", map);
  for (const auto& pair : map) {
    if (!pair.first.IsScalar()) continue;
    const YAML::Node value = entries.map(pair.first.Scalar());
    if (!value) continue;
    Fields fields(config.mistakes(), "class " + pair.first.Scalar(), value);
    JobClass& preset = policy.classes[pair.first.Scalar()];
    fields.number("priority", -kMostOfAll, kMostOfAll, preset.priority);
    fields.flag("preemptible", preset.preemptible);
    fields.number("grace", 0, kMostMinutes, preset.grace);
    fields.end();
  }
}

/// Domains nest: a leaf lies in one block.
void check_domains(Fields& cluster, const Case& scenario) {
  std::map<std::string, std::string> block_of;
  for (const Node& node : scenario.nodes) {
    const auto [entry, is_new] = block_of.try_emplace(node.leaf, node.block);
    if (!is_new && entry->second != node.block) {
      cluster.mistake("nodes", "leaf '" + node.leaf + "' is in blocks '" + entry->second +
                                   "' and '" + node.block + "', give each block leaves of its own");
      return;
    }
  }
}

void unknown(Fields& fields, std::string_view key, const std::string& what,
             const std::vector<std::string>& known) {
  const std::vector<std::string_view> words(known.begin(), known.end());
  const std::string word = what.substr(what.rfind(' ') + 1);
  fields.mistake(key, "unknown " + what + did_you_mean(word, words));
}

}  // namespace

Result<Case> parse_case(const std::string& file, std::string_view text) {
  Mistakes mistakes(file);
  try {
    const YAML::Node document = YAML::Load(std::string(text));
    Case scenario = read_case(mistakes, document);
    if (mistakes.none()) return scenario;
  } catch (const YAML::Exception& error) {
    mistakes.add(error.mark.line + 1, "not YAML: " + error.msg);
  }
  return fail(ErrorCode::kConfig, mistakes.text());
}

void read_cluster(Fields& top, Case& scenario) {
  const YAML::Node map = top.map("cluster");
  if (!map) return;
  Fields cluster(top.mistakes(), "cluster", map);
  cluster.require("nodes");
  for (const YAML::Node& item : cluster.list("nodes")) read_nodes(cluster, item, scenario);
  check_domains(cluster, scenario);
  if (const YAML::Node licenses = cluster.map("licenses")) {
    Fields fields(cluster.mistakes(), "licenses", licenses);
    for (const auto& pair : licenses) {
      if (!pair.first.IsScalar()) continue;
      const std::string& name = pair.first.Scalar();
      fields.number(name, 0, kMostOfAll, scenario.licenses[name]);
    }
  }
  cluster.end();
}

void read_policy(Fields& top, Case& scenario) {
  const YAML::Node map = top.map("config");
  if (!map) return;
  Fields fields(top.mistakes(), "config", map);
  Policy& policy = scenario.policy;
  fields.number("grace", 0, kMostMinutes, policy.grace);
  fields.number("protect_reclaim", 0, kMostMinutes, policy.protect_reclaim);
  fields.number("protect_fair", 0, kMostMinutes, policy.protect_fair);
  fields.number("protect_priority", 0, kMostMinutes, policy.protect_priority);
  fields.number("requeue_backoff", 0, kMostMinutes, policy.requeue_backoff);
  fields.flag("fair_preemption", policy.fair_preemption);
  fields.number("fair_patience", 0, kMostMinutes, policy.fair_patience);
  fields.fraction("fair_waste_factor", policy.fair_waste_factor);
  if (fields.fraction("half_life", policy.half_life) && policy.half_life <= 0) {
    fields.mistake("half_life", "want minutes above 0");
  }
  fields.fraction("kappa", policy.kappa);
  fields.number("reservations_per_team", 0, kMostOfAll, policy.reservations_per_team);
  fields.number("starving_per_team", 0, kMostOfAll, policy.starving_per_team);
  fields.number("starve_after", 0, kMostMinutes, policy.starve_after);
  if (const auto who = fields.word("share_between", {"user", "team", "all"})) {
    policy.share_between = static_cast<ShareBetween>(*who);
  }
  read_classes(fields, policy);
  fields.end();
}

void check_node(Fields& fields, std::string_view key, const Case& scenario,
                const std::string& node) {
  std::vector<std::string> known;
  for (const Node& one : scenario.nodes) known.push_back(one.name);
  if (std::ranges::find(known, node) == known.end()) unknown(fields, key, "node " + node, known);
}

void check_quota(Fields& fields, std::string_view key, const Case& scenario,
                 const std::string& path) {
  if (find_quota(scenario, path)) return;
  std::vector<std::string> known;
  for (std::size_t i = 1; i < scenario.tree.size(); ++i) known.push_back(scenario.tree[i].path);
  unknown(fields, key, "team or queue " + path, known);
}

void check_class(Fields& fields, std::string_view key, const Case& scenario,
                 const std::string& name) {
  std::vector<std::string> known;
  for (const auto& [one, preset] : scenario.policy.classes) known.push_back(one);
  if (!scenario.policy.classes.contains(name)) unknown(fields, key, "class " + name, known);
}

void check_flavor(Fields& fields, std::string_view key, const Case& scenario,
                  const std::string& flavor) {
  std::set<std::string> known;
  for (const Node& one : scenario.nodes) known.insert(one.flavor);
  if (!known.contains(flavor)) {
    unknown(fields, key, "flavor " + flavor, {known.begin(), known.end()});
  }
}

void read_features(Fields& fields, std::string_view key, std::vector<std::string>& out) {
  fields.texts(key, out);
  for (const std::string& word : out) {
    if (!is_feature(word)) {
      fields.mistake(key, "'" + word + "' is no feature, use small letters, digits and . _ -");
    }
  }
}

void check_amounts(Fields& fields, std::string_view key, const Case& scenario,
                   const std::optional<Amounts>& amounts) {
  if (!amounts) return;
  for (const auto& [resource, amount] : *amounts) {
    if (resource != kCores && amount > 0) check_flavor(fields, key, scenario, resource);
  }
}

}  // namespace artel::scenario
