// The quota tree of a case and the usage before its time 0.
#include <algorithm>

#include "sim/scenario/parts.h"

namespace artel::scenario {

namespace {

constexpr std::size_t kDeepest = 16;

void read_level(Fields& parent, const YAML::Node& items, std::size_t parent_index, Case& scenario);

void read_limits(Fields& fields, const Case& scenario, Quota& quota) {
  fields.amounts("guarantee", quota.guarantee);
  fields.amounts("limit", quota.limit);
  fields.amounts("borrow", quota.borrow);
  fields.amounts("lend", quota.lend);
  check_amounts(fields, "guarantee", scenario, quota.guarantee);
  check_amounts(fields, "limit", scenario, quota.limit);
  check_amounts(fields, "borrow", scenario, quota.borrow);
  check_amounts(fields, "lend", scenario, quota.lend);
}

void read_classes(Fields& fields, const Case& scenario, Quota& quota) {
  std::vector<std::string> classes;
  if (fields.texts("classes", classes)) quota.classes = classes;
  fields.text("class", quota.default_class);
  for (const std::string& name : classes) check_class(fields, "classes", scenario, name);
  if (!quota.default_class.empty()) check_class(fields, "class", scenario, quota.default_class);
}

void read_users(Fields& fields, Quota& quota) {
  std::vector<std::string> users;
  if (fields.texts("users", users)) quota.users = users;
  fields.number("max_jobs_per_user", 0, kMostOfAll, quota.max_jobs_per_user);
  fields.number("max_gpus_per_user", 0, kMostOfAll, quota.max_gpus_per_user);
  if (const YAML::Node weights = fields.map("user_weights")) {
    Fields entries(fields.mistakes(), "user_weights", weights);
    for (const auto& pair : weights) {
      if (!pair.first.IsScalar()) continue;
      double& weight = quota.user_weights[pair.first.Scalar()];
      if (entries.fraction(pair.first.Scalar(), weight) && weight <= 0) {
        entries.mistake(pair.first.Scalar(), "want a number above 0");
      }
    }
  }
}

std::string child_path(const Quota& parent, const std::string& name) {
  return parent.path.empty() ? name : parent.path + "." + name;
}

void read_name(Fields& fields, const Case& scenario, const Quota& parent, Quota& quota) {
  std::string name;
  fields.require("name");
  if (!fields.text("name", name)) return;
  if (name.find('.') != std::string::npos) fields.mistake("name", "want a name without '.'");
  quota.path = child_path(parent, name);
  if (find_quota(scenario, quota.path)) {
    fields.mistake("name", "'" + quota.path + "' is there twice");
  }
}

void read_quota(Fields& level, const YAML::Node& item, std::size_t parent, Case& scenario) {
  Fields fields(level.mistakes(), "tree", item);
  Quota quota;
  quota.parent = parent;
  read_name(fields, scenario, scenario.tree[parent], quota);
  if (fields.word("kind", {"team"})) quota.kind = QuotaKind::kTeam;
  read_limits(fields, scenario, quota);
  fields.fraction("weight", quota.weight);
  read_users(fields, quota);
  read_classes(fields, scenario, quota);
  fields.fraction("budget", quota.budget);
  fields.flag("strict_fifo", quota.strict_fifo);
  fields.number("idle_timeout", 0, kMostMinutes, quota.idle_timeout);
  fields.number("grace", 0, kMostMinutes, quota.grace);
  const std::size_t index = scenario.tree.size();
  scenario.tree[parent].children.push_back(index);
  scenario.tree.push_back(quota);
  if (const YAML::Node children = fields.list("children")) {
    read_level(fields, children, index, scenario);
  }
  fields.end();
}

bool states_guarantee(const Case& scenario, std::size_t index) {
  const Quota& quota = scenario.tree[index];
  return quota.guarantee || std::ranges::any_of(quota.children, [&](std::size_t child) {
           return states_guarantee(scenario, child);
         });
}

Amounts guarantee_of(const Case& scenario, std::size_t index) {
  const Quota& quota = scenario.tree[index];
  if (quota.guarantee) return *quota.guarantee;
  Amounts sum;
  for (const std::size_t child : quota.children) {
    for (const auto& [resource, amount] : guarantee_of(scenario, child)) sum[resource] += amount;
  }
  return sum;
}

/// Rule Q1, and the depth.
void check_level(Fields& parent, std::size_t index, const Case& scenario) {
  const Quota& quota = scenario.tree[index];
  std::size_t stating = 0;
  Amounts sum;
  for (const std::size_t child : quota.children) {
    if (states_guarantee(scenario, child)) ++stating;
    for (const auto& [resource, amount] : guarantee_of(scenario, child)) sum[resource] += amount;
  }
  if (stating != 0 && stating != quota.children.size()) {
    parent.mistake("children",
                   "siblings all state a guarantee or none does; give the others "
                   "'guarantee: 0'");
  }
  if (!quota.guarantee) return;
  for (const auto& [resource, amount] : sum) {
    const auto own = quota.guarantee->find(resource);
    const std::int64_t stated = own == quota.guarantee->end() ? 0 : own->second;
    if (stated < amount) {
      parent.mistake("guarantee", "'" + quota.path + "' has " + std::to_string(stated) + " " +
                                      resource + ", its children have " + std::to_string(amount) +
                                      "; state at least that");
    }
  }
}

void read_level(Fields& parent, const YAML::Node& items, std::size_t parent_index, Case& scenario) {
  const std::string& path = scenario.tree[parent_index].path;
  if (static_cast<std::size_t>(std::ranges::count(path, '.')) >= kDeepest) {
    parent.mistake("children", "the tree is deeper than " + std::to_string(kDeepest) + " levels");
    return;
  }
  for (const YAML::Node& item : items) read_quota(parent, item, parent_index, scenario);
  check_level(parent, parent_index, scenario);
}

void check_owners(Fields& top, const Case& scenario) {
  for (const Node& node : scenario.nodes) {
    if (!node.owner.empty()) check_quota(top, "cluster", scenario, node.owner);
  }
}

}  // namespace

void read_tree(Fields& top, Case& scenario) {
  const YAML::Node items = top.list("tree");
  if (!items) return;
  read_level(top, items, 0, scenario);
  check_owners(top, scenario);
}

void read_first_usage(Fields& top, Case& scenario) {
  constexpr std::string_view kUser = "user:";
  const YAML::Node map = top.map("usage0");
  if (!map) return;
  Fields fields(top.mistakes(), "usage0", map);
  for (const auto& pair : map) {
    if (!pair.first.IsScalar()) continue;
    const std::string key = pair.first.Scalar();
    double usage = 0;
    if (!fields.fraction(key, usage)) continue;
    if (key.starts_with(kUser)) {
      scenario.user_usage[key.substr(kUser.size())] = usage;
    } else {
      check_quota(fields, key, scenario, key);
      scenario.team_usage[key] = usage;
    }
  }
}

}  // namespace artel::scenario
