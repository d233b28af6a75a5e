// Cases as YAML in flow style, one node group, quota node or event a line.
#include "sim/scenario/print.h"

#include <algorithm>
#include <charconv>

namespace artel::scenario {

namespace {

std::string text_of(std::int64_t value) { return std::to_string(value); }
std::string text_of(bool value) { return value ? "true" : "false"; }
std::string text_of(const std::string& value) { return "\"" + value + "\""; }

std::string text_of(double value) {
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  return {buffer, end};
}

std::string text_of(const std::vector<std::string>& values) {
  std::string text;
  for (const std::string& value : values) text += (text.empty() ? "" : ", ") + text_of(value);
  return "[" + text + "]";
}

template <typename Value>
std::string text_of(const std::map<std::string, Value>& values) {
  std::string text;
  for (const auto& [key, value] : values) {
    text += (text.empty() ? "" : ", ") + text_of(key) + ": " + text_of(value);
  }
  return "{" + text + "}";
}

/// One mapping in flow style; values that equal the default are left out.
class Map {
 public:
  template <typename Value>
  Map& add(const std::string& key, const Value& value) {
    return raw(key, text_of(value));
  }
  template <typename Value>
  Map& add(const std::string& key, const Value& value, const Value& normal) {
    return value == normal ? *this : add(key, value);
  }
  template <typename Value>
  Map& add(const std::string& key, const std::optional<Value>& value) {
    return value ? add(key, *value) : *this;
  }
  Map& raw(const std::string& key, const std::string& text) {
    text_ += (text_.empty() ? "" : ", ") + key + ": " + text;
    return *this;
  }
  [[nodiscard]] bool empty() const { return text_.empty(); }
  [[nodiscard]] std::string text() const { return "{" + text_ + "}"; }

 private:
  std::string text_;
};

const std::string kEmpty;
const std::vector<std::string> kNothing;

std::string node_text(const Node& node) {
  const Node normal;
  return Map()
      .add("names", node.name)
      .add("gpus", node.gpus, normal.gpus)
      .add("cpus", node.cpus, normal.cpus)
      .add("memory", node.memory, normal.memory)
      .add("leaf", node.leaf, kEmpty)
      .add("block", node.block, kEmpty)
      .add("flavor", node.flavor, normal.flavor)
      .add("owner", node.owner, kEmpty)
      .add("features", node.features, kNothing)
      .add("shared", node.shared, false)
      .text();
}

std::string policy_text(const Policy& policy) {
  const Policy normal;
  Map map;
  map.add("grace", policy.grace, normal.grace)
      .add("protect_reclaim", policy.protect_reclaim, normal.protect_reclaim)
      .add("protect_fair", policy.protect_fair, normal.protect_fair)
      .add("protect_priority", policy.protect_priority, normal.protect_priority)
      .add("requeue_backoff", policy.requeue_backoff, normal.requeue_backoff)
      .add("fair_preemption", policy.fair_preemption, normal.fair_preemption)
      .add("fair_patience", policy.fair_patience, normal.fair_patience)
      .add("fair_waste_factor", policy.fair_waste_factor, normal.fair_waste_factor)
      .add("half_life", policy.half_life, normal.half_life)
      .add("kappa", policy.kappa, normal.kappa)
      .add("reservations_per_team", policy.reservations_per_team, normal.reservations_per_team)
      .add("starving_per_team", policy.starving_per_team, normal.starving_per_team)
      .add("starve_after", policy.starve_after, normal.starve_after);
  if (policy.share_between == ShareBetween::kTeam) map.raw("share_between", "team");
  if (policy.share_between == ShareBetween::kAll) map.raw("share_between", "all");
  return map.text();
}

std::string quota_text(const Case& scenario, std::size_t index) {
  const Quota& quota = scenario.tree[index];
  Map map;
  map.add("name", quota.path.substr(quota.path.rfind('.') + 1));
  if (quota.kind == QuotaKind::kTeam) map.raw("kind", "team");
  map.add("guarantee", quota.guarantee)
      .add("limit", quota.limit)
      .add("borrow", quota.borrow)
      .add("lend", quota.lend)
      .add("weight", quota.weight, 1.0)
      .add("users", quota.users)
      .add("max_jobs_per_user", quota.max_jobs_per_user)
      .add("max_gpus_per_user", quota.max_gpus_per_user)
      .add("user_weights", quota.user_weights, {})
      .add("budget", quota.budget)
      .add("strict_fifo", quota.strict_fifo, false)
      .add("idle_timeout", quota.idle_timeout)
      .add("grace", quota.grace);
  std::string children;
  for (const std::size_t child : quota.children) {
    children += (children.empty() ? "" : ", ") + quota_text(scenario, child);
  }
  if (!children.empty()) map.raw("children", "[" + children + "]");
  return map.text();
}

void add_part(Map& map, const Component& part) {
  map.add("nodes", part.nodes, std::int64_t{1});
  if (part.gpu_milli > 0) {
    map.add("gpu_milli", part.gpu_milli);
  } else {
    map.add("gpus", part.gpus, std::int64_t{8});
  }
  map.add("cpus", part.cpus, std::int64_t{0}).add("memory", part.memory, std::int64_t{0});
}

void add_shape(Map& map, const Job& job) {
  if (job.components.size() == 1) {
    add_part(map, job.components.front());
  } else {
    std::string parts;
    for (const Component& part : job.components) {
      Map one;
      add_part(one, part);
      parts += (parts.empty() ? "" : ", ") + one.text();
    }
    map.raw("components", "[" + parts + "]");
  }
  map.add("min_nodes", job.min_nodes).add("segment", job.segment, std::int64_t{1});
  map.add("spares", job.spares, std::int64_t{0});
  if (job.topology != Topology::kNone) {
    map.raw("topology", job.topology == Topology::kLeaf ? "leaf" : "block");
  }
  if (job.exclusive) map.raw("exclusive", "node");
}

void add_dependencies(Map& map, const Job& job) {
  static const std::string kKinds[] = {
      "after:", "afterany:", "afterok:", "afternotok:", "singleton"};
  std::vector<std::string> parts;
  for (const Dependency& on : job.after) {
    parts.push_back(kKinds[static_cast<std::size_t>(on.kind)] + on.job);
  }
  map.add(job.any_is_enough ? "after_any" : "after", parts, kNothing);
}

std::string job_text(const Job& job) {
  Map map;
  map.add("id", job.id).add("queue", job.queue).add("user", job.user, kEmpty);
  map.add("name", job.name, kEmpty);
  if (job.kind == JobKind::kInteractive) map.raw("kind", "interactive");
  if (job.kind == JobKind::kService) map.raw("kind", "service");
  add_shape(map, job);
  map.add("duration", job.duration).add("walltime", job.walltime);
  map.add("priority", job.priority, std::int64_t{0}).add("preemptible", job.preemptible, true);
  map.add("flavors", job.flavors, Job{}.flavors).add("licenses", job.licenses, {});
  map.add("reservation", job.reservation, kEmpty).add("max_wait", job.max_wait);
  map.add("requeue", job.requeue, job.kind != JobKind::kInteractive).add("grace", job.grace);
  map.add("checkpoint_every", job.checkpoint_every).add("idle_from", job.idle_from);
  map.add("fails", job.fails, false).add("held", job.held, false).add("begin", job.begin);
  map.add("deadline", job.deadline).add("array", job.array).add("throttle", job.throttle);
  map.add("features", job.features, kEmpty);
  map.add("nodes_wanted", job.nodes_wanted, kNothing);
  map.add("nodes_avoided", job.nodes_avoided, kNothing);
  add_dependencies(map, job);
  return map.text();
}

std::string reservation_text(const Reservation& one) {
  Map map;
  map.add("name", one.name).add("owner", one.owner, kEmpty).add("users", one.users, kNothing);
  if (!one.spare) map.add("start", one.start).add("end", one.end);
  map.add("nodes", one.nodes, kNothing).add("count", one.count);
  if (one.one_leaf) map.raw("topology", "leaf");
  map.add("flavor", one.flavor, kEmpty);
  std::vector<std::string> flags;
  if (one.maintenance) flags.emplace_back("MAINT");
  if (one.flex) flags.emplace_back("FLEX");
  if (one.spare) flags.emplace_back("SPARE");
  return map.add("flags", flags, kNothing).text();
}

/// The key and value of a fact.
struct FactText {
  Map& map;
  void operator()(const Submit& one) const { map.raw("submit", job_text(one.job)); }
  void operator()(const Cancel& one) const { map.add("cancel", one.job); }
  void operator()(const Checkpoint& one) const { map.add("checkpoint", one.job); }
  void operator()(const NodeDown& one) const { map.add("node_down", one.node); }
  void operator()(const NodeUp& one) const { map.add("node_up", one.node); }
  void operator()(const Hold& one) const { map.add("hold", one.job); }
  void operator()(const Release& one) const { map.add("release", one.job); }
  void operator()(const Reserve& one) const {
    map.raw("reserve", reservation_text(one.reservation));
  }
  void operator()(const Throttle& one) const {
    map.raw("throttle", Map().add("array", one.array).add("limit", one.limit).text());
  }
  void operator()(const SetFeatures& one) const {
    map.raw("features", Map().add("node", one.node).add("set", one.features).text());
  }
  void operator()(const NodeRefuses& one) const {
    map.raw("node_refuses", Map().add("job", one.job).add("node", one.node).text());
  }
  void operator()(const SetQuota& one) const {
    map.raw("set", Map()
                       .add("node", one.quota)
                       .add("guarantee", one.guarantee)
                       .add("limit", one.limit)
                       .add("borrow", one.borrow)
                       .add("lend", one.lend)
                       .add("weight", one.weight)
                       .text());
  }
};

}  // namespace

std::string print_case(const Case& scenario) {
  std::string text = "id: " + text_of(scenario.id) + "\ntitle: " + text_of(scenario.title) +
                     "\ncluster:\n  nodes:\n";
  for (const Node& node : scenario.nodes) text += "    - " + node_text(node) + "\n";
  if (!scenario.licenses.empty()) text += "  licenses: " + text_of(scenario.licenses) + "\n";
  text += "config: " + policy_text(scenario.policy) + "\n";
  std::map<std::string, double> usage = scenario.team_usage;
  for (const auto& [user, past] : scenario.user_usage) usage["user:" + user] = past;
  if (!usage.empty()) text += "usage0: " + text_of(usage) + "\n";
  text += "tree:\n";
  for (const std::size_t child : scenario.tree.front().children) {
    text += "  - " + quota_text(scenario, child) + "\n";
  }
  text += "timeline:\n";
  for (const Event& event : scenario.timeline) {
    Map map;
    map.add("t", event.t);
    std::visit(FactText{map}, event.fact);
    text += "  - " + map.text() + "\n";
  }
  return text + "expect: []\n";
}

}  // namespace artel::scenario
