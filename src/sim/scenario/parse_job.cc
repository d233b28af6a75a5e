// One job of a timeline.
#include <algorithm>
#include <set>

#include "base/text.h"
#include "sim/scenario/features.h"
#include "sim/scenario/parts.h"

namespace artel::scenario {

namespace {

constexpr std::int64_t kMostNodes = 100'000;
constexpr std::int64_t kMostTasks = 100'000;
constexpr std::int64_t kMostPriority = 1'000'000'000;
constexpr std::int64_t kDevice = 1000;
constexpr std::int64_t kLeastShare = 25;

/// Rule U1: whole devices, or a share of one.
void read_share(Fields& fields, Component& component) {
  std::int64_t milli = 0;
  if (!fields.number("gpu_milli", kLeastShare, kMostOfAll, milli)) return;
  if (fields.has("gpus")) fields.mistake("gpu_milli", "want either gpus or gpu_milli");
  if (milli > kDevice && milli % kDevice != 0) {
    fields.mistake("gpu_milli", "want 25 to 999, or a multiple of 1000");
  }
  component.gpus = milli / kDevice;
  component.gpu_milli = milli % kDevice;
}

void read_component(Fields& fields, Component& component) {
  fields.number("nodes", 1, kMostNodes, component.nodes);
  fields.number("gpus", 0, kMostOfAll, component.gpus);
  fields.number("cpus", 0, kMostOfAll, component.cpus);
  fields.number("memory", 0, kMostOfAll, component.memory);
  read_share(fields, component);
}

void read_shape(Fields& fields, Job& job) {
  if (const YAML::Node items = fields.list("components")) {
    for (const char* key :
         {"nodes", "gpus", "gpu_milli", "cpus", "memory", "min_nodes", "spares"}) {
      if (fields.has(key)) fields.mistake(key, "a job with components states it in each");
    }
    job.components.clear();
    for (const YAML::Node& item : items) {
      Fields part(fields.mistakes(), "components", item);
      read_component(part, job.components.emplace_back());
      part.end();
    }
    if (job.components.empty()) fields.mistake("components", "want at least one");
  }
  if (!fields.has("components")) read_component(fields, job.components.front());
  const std::int64_t nodes = job.components.empty() ? 1 : job.components.front().nodes;
  fields.number("min_nodes", 1, nodes, job.min_nodes);
  fields.number("segment", 1, kMostNodes, job.segment);
  if (job.segment > 1) {
    if (job.components.size() > 1) {
      fields.mistake("segment", "a job with components has none");
    } else if (nodes % job.segment != 0) {
      fields.mistake("segment", "want a divisor of the " + std::to_string(nodes) + " nodes");
    } else if (job.min_nodes && *job.min_nodes % job.segment != 0) {
      fields.mistake("min_nodes", "want a multiple of the segment");
    }
  }
  if (fields.word("exclusive", {"node"})) job.exclusive = true;
  fields.number("spares", 0, kMostNodes, job.spares);
  if (job.spares > 0 && job.segment > 1) fields.mistake("spares", "a job with segments has none");
}

void read_kind(Fields& fields, Job& job) {
  if (const auto kind = fields.word("kind", {"batch", "interactive", "service"})) {
    job.kind = static_cast<JobKind>(*kind);
  }
  job.requeue = job.kind != JobKind::kInteractive;
  fields.flag("requeue", job.requeue);
  fields.number("duration", 1, kMostMinutes, job.duration);
  fields.number("walltime", 1, kMostMinutes, job.walltime);
  if (job.kind == JobKind::kService) {
    if (job.walltime) fields.mistake("walltime", "a service has no limit, drop it");
  } else if (!job.duration) {
    fields.require("duration");
  } else if (!job.walltime) {
    job.walltime = job.duration;
  }
  fields.number("idle_from", 0, kMostMinutes, job.idle_from);
  if (job.idle_from && job.kind != JobKind::kInteractive) {
    fields.mistake("idle_from", "only interactive jobs are idle, add 'kind: interactive'");
  }
}

void read_licenses(Fields& fields, const Case& scenario, Job& job) {
  const YAML::Node map = fields.map("licenses");
  if (!map) return;
  std::vector<std::string_view> known;
  for (const auto& [name, count] : scenario.licenses) known.emplace_back(name);
  Fields entries(fields.mistakes(), "licenses", map);
  for (const auto& pair : map) {
    if (!pair.first.IsScalar()) continue;
    const std::string& name = pair.first.Scalar();
    entries.number(name, 1, kMostOfAll, job.licenses[name]);
    if (!scenario.licenses.contains(name)) {
      entries.mistake(name, "the cluster has no such license" + did_you_mean(name, known));
    }
  }
}

void read_wishes(Fields& fields, const Case& scenario, Job& job) {
  if (const auto level = fields.word("topology", {"leaf", "block"})) {
    job.topology = *level == 0 ? Topology::kLeaf : Topology::kBlock;
  }
  if (fields.texts("flavors", job.flavors) && job.flavors.empty()) {
    fields.mistake("flavors", "want at least one");
  }
  if (std::set<std::string>(job.flavors.begin(), job.flavors.end()).size() != job.flavors.size()) {
    fields.mistake("flavors", "a flavor is there twice, drop one");
  }
  for (const std::string& flavor : job.flavors) check_flavor(fields, "flavors", scenario, flavor);
  read_licenses(fields, scenario, job);
  fields.text("reservation", job.reservation);
}

void read_queue(Fields& fields, const Case& scenario, Job& job) {
  fields.require("queue");
  if (!fields.text("queue", job.queue)) return;
  check_quota(fields, "queue", scenario, job.queue);
  const auto index = find_quota(scenario, job.queue);
  if (index && !scenario.tree[*index].children.empty()) {
    fields.mistake("queue", "'" + job.queue + "' has children, submit to one of them");
  }
  job.user = job.queue.substr(0, job.queue.find('.')) + "-user";
}

/// Rules K: the class's values, less where the job asks for less.
void read_class(Fields& fields, const Case& scenario, Job& job) {
  for (std::size_t i = find_quota(scenario, job.queue).value_or(0); i != 0 && job.job_class.empty();
       i = scenario.tree[i].parent) {
    job.job_class = scenario.tree[i].default_class;
  }
  fields.text("class", job.job_class);
  fields.number("priority", -kMostPriority, kMostPriority, job.priority);
  fields.flag("preemptible", job.preemptible);
  fields.number("grace", 0, kMostMinutes, job.grace);
  if (job.job_class.empty()) return;
  check_class(fields, "class", scenario, job.job_class);
  const auto preset = scenario.policy.classes.find(job.job_class);
  if (preset == scenario.policy.classes.end()) return;
  job.priority += preset->second.priority;
  if (!fields.has("preemptible")) job.preemptible = preset->second.preemptible;
  if (!job.preemptible && preset->second.preemptible) {
    fields.mistake("preemptible", "the class is preemptible, choose another class");
  }
  const auto grace = preset->second.grace;
  if (grace && job.grace && *job.grace > *grace) {
    fields.mistake("grace", "the class gives " + std::to_string(*grace) + ", ask for no more");
  }
  if (!job.grace) job.grace = grace;
}

std::optional<Dependency> read_dependency(Fields& fields, std::string_view key,
                                          const std::string& text,
                                          const std::set<std::string>& known) {
  static const std::vector<std::string_view> kKinds{"after", "afterany", "afterok", "afternotok"};
  if (text == "singleton") return Dependency{Depends::kSingleton, ""};
  const std::size_t colon = text.find(':');
  const auto kind = std::ranges::find(kKinds, text.substr(0, colon));
  if (kind == kKinds.end() || colon == std::string::npos) {
    fields.mistake(key, "'" + text + "' is none; write after:, afterany:, afterok: or afternotok:" +
                            " and a job, or singleton");
    return std::nullopt;
  }
  const std::string job = text.substr(colon + 1);
  if (!known.contains(job)) {
    const std::vector<std::string_view> words(known.begin(), known.end());
    fields.mistake(key, "no job '" + job + "' was submitted before" + did_you_mean(job, words));
  }
  return Dependency{static_cast<Depends>(kind - kKinds.begin()), job};
}

void read_dependencies(Fields& fields, const std::set<std::string>& known, Job& job) {
  if (fields.has("after") && fields.has("after_any")) {
    fields.mistake("after_any", "want either after or after_any");
  }
  job.any_is_enough = fields.has("after_any");
  for (const char* key : {"after", "after_any"}) {
    std::vector<std::string> texts;
    fields.texts(key, texts);
    for (const std::string& text : texts) {
      if (const auto one = read_dependency(fields, key, text, known)) job.after.push_back(*one);
    }
  }
  if (job.after.empty()) job.any_is_enough = false;
}

void read_times(Fields& fields, Job& job) {
  fields.flag("fails", job.fails);
  fields.flag("held", job.held);
  fields.number("begin", 0, kMostMinutes, job.begin);
  fields.number("deadline", 0, kMostMinutes, job.deadline);
  if (job.deadline && !job.walltime) fields.mistake("deadline", "it needs a walltime");
  fields.number("array", 1, kMostTasks, job.array);
  fields.number("throttle", 0, kMostTasks, job.throttle);
  if (job.throttle && !job.array) fields.mistake("throttle", "it goes with an array only");
}

/// The words that some node has at the begin or in an event so far.
std::set<std::string> all_features(const Case& scenario) {
  std::set<std::string> all;
  for (const Node& node : scenario.nodes) all.insert(node.features.begin(), node.features.end());
  for (const Event& event : scenario.timeline) {
    if (const auto* change = std::get_if<SetFeatures>(&event.fact)) {
      all.insert(change->features.begin(), change->features.end());
    }
  }
  return all;
}

/// Rules N.
void read_nodes(Fields& fields, const Case& scenario, Job& job) {
  if (fields.text("features", job.features)) {
    const auto words = feature_words(job.features);
    if (!words) fields.mistake("features", words.error().text);
    const std::set<std::string> all = all_features(scenario);
    const std::vector<std::string_view> known(all.begin(), all.end());
    for (const std::string& word : words.value_or(std::vector<std::string>{})) {
      if (all.contains(word)) continue;
      fields.mistake("features", "no node has '" + word + "'" + did_you_mean(word, known));
    }
  }
  fields.hosts("nodes_wanted", job.nodes_wanted);
  fields.hosts("nodes_avoided", job.nodes_avoided);
  for (const std::string& name : job.nodes_wanted) {
    check_node(fields, "nodes_wanted", scenario, name);
  }
  for (const std::string& name : job.nodes_avoided) {
    check_node(fields, "nodes_avoided", scenario, name);
  }
}

}  // namespace

Job read_job(Fields& fields, const Case& scenario, const std::set<std::string>& known) {
  Job job;
  fields.require("id");
  fields.text("id", job.id);
  read_queue(fields, scenario, job);
  fields.text("user", job.user);
  fields.text("name", job.name);
  read_shape(fields, job);
  read_kind(fields, job);
  read_class(fields, scenario, job);
  read_wishes(fields, scenario, job);
  read_nodes(fields, scenario, job);
  read_times(fields, job);
  read_dependencies(fields, known, job);
  fields.number("max_wait", 0, kMostMinutes, job.max_wait);
  fields.number("checkpoint_every", 1, kMostMinutes, job.checkpoint_every);
  fields.end();
  return job;
}

}  // namespace artel::scenario
