// The timeline of a case: jobs, reservations and the other facts.
#include <algorithm>
#include <set>

#include "base/text.h"
#include "sim/scenario/parts.h"

namespace artel::scenario {

namespace {

constexpr std::int64_t kMostNodes = 100'000;
constexpr std::int64_t kMostPriority = 1'000'000'000;

void read_component(Fields& fields, Component& component) {
  fields.number("nodes", 1, kMostNodes, component.nodes);
  fields.number("gpus", 0, kMostOfAll, component.gpus);
  fields.number("cpus", 0, kMostOfAll, component.cpus);
}

void read_shape(Fields& fields, Job& job) {
  if (const YAML::Node items = fields.list("components")) {
    for (const char* key : {"nodes", "gpus", "cpus", "min_nodes"}) {
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

/// The jobs and nodes that the timeline has named so far.
class Timeline {
 public:
  Timeline(Fields& top, Case& scenario) : top_(top), scenario_(scenario) {}

  void read(const YAML::Node& item) {
    Fields fields(top_.mistakes(), "timeline", item);
    Event event;
    fields.require("t");
    fields.number("t", 0, kMostMinutes, event.t);
    if (event.t < last_) fields.mistake("t", "times go up; sort the events");
    last_ = std::max(last_, event.t);
    std::size_t facts = 0;
    for (const char* key :
         {"submit", "cancel", "checkpoint", "node_down", "node_up", "set", "reserve"}) {
      if (!fields.any(key)) continue;
      ++facts;
      read_fact(fields, key, event);
    }
    if (facts != 1) {
      top_.mistakes().add(fields.line(),
                          "timeline: want one of submit, cancel, checkpoint, "
                          "node_down, node_up, set, reserve in each event");
    }
    fields.end();
    scenario_.timeline.push_back(event);
  }

 private:
  void read_fact(Fields& fields, const std::string& key, Event& event) {
    if (key == "submit") {
      event.fact = Submit{submitted(fields)};
    } else if (key == "cancel") {
      event.fact = Cancel{known_job(fields, key)};
    } else if (key == "checkpoint") {
      event.fact = Checkpoint{known_job(fields, key)};
    } else if (key == "node_down") {
      event.fact = NodeDown{known_node(fields, key)};
    } else if (key == "node_up") {
      event.fact = NodeUp{known_node(fields, key)};
    } else if (key == "set") {
      event.fact = changed(fields);
    } else {
      event.fact = Reserve{reserved(fields, event.t)};
    }
  }

  Job submitted(Fields& fields) {
    Fields submit(fields.mistakes(), "submit", fields.any("submit"));
    Job job = read_job(submit, scenario_);
    if (!job.id.empty() && !jobs_.insert(job.id).second) {
      submit.mistake("id", "job '" + job.id + "' is there twice");
    }
    return job;
  }

  std::string known_job(Fields& fields, const std::string& key) {
    std::string id;
    if (!fields.text(key, id)) return id;
    if (!jobs_.contains(id)) {
      const std::vector<std::string_view> known(jobs_.begin(), jobs_.end());
      fields.mistake(key, "no job '" + id + "' was submitted before" + did_you_mean(id, known));
    }
    return id;
  }

  std::string known_node(Fields& fields, const std::string& key) {
    std::string name;
    if (fields.text(key, name)) check_node(fields, key, scenario_, name);
    return name;
  }

  SetQuota changed(Fields& fields) {
    Fields set(fields.mistakes(), "set", fields.any("set"));
    SetQuota change;
    set.require("node");
    if (set.text("node", change.quota)) check_quota(set, "node", scenario_, change.quota);
    set.amounts("guarantee", change.guarantee);
    set.amounts("limit", change.limit);
    set.amounts("borrow", change.borrow);
    set.amounts("lend", change.lend);
    set.fraction("weight", change.weight);
    set.end();
    return change;
  }

  Reservation reserved(Fields& fields, Minute now) {
    Fields reserve(fields.mistakes(), "reserve", fields.any("reserve"));
    Reservation reservation = read_reservation(reserve, scenario_);
    if (reservation.start < now) reserve.mistake("start", "it lies before the event");
    if (!reservations_.insert(reservation.name).second) {
      reserve.mistake("name", "reservation '" + reservation.name + "' is there twice");
    }
    return reservation;
  }

  Fields& top_;
  Case& scenario_;
  Minute last_ = 0;
  std::set<std::string> jobs_;
  std::set<std::string> reservations_;
};

void read_reserved_nodes(Fields& fields, const Case& scenario, Reservation& reservation) {
  fields.hosts("nodes", reservation.nodes);
  for (const std::string& name : reservation.nodes) check_node(fields, "nodes", scenario, name);
  fields.number("count", 1, kMostNodes, reservation.count);
  if (fields.has("nodes") == fields.has("count")) {
    fields.mistake("nodes", "want either nodes or a count");
  }
  if (fields.word("topology", {"leaf"})) reservation.one_leaf = true;
  if (fields.text("flavor", reservation.flavor)) {
    check_flavor(fields, "flavor", scenario, reservation.flavor);
  }
  for (const char* key : {"topology", "flavor"}) {
    if (fields.has(key) && fields.has("nodes")) fields.mistake(key, "it goes with a count only");
  }
}

}  // namespace

Job read_job(Fields& fields, const Case& scenario) {
  Job job;
  fields.require("id");
  fields.text("id", job.id);
  read_queue(fields, scenario, job);
  fields.text("user", job.user);
  read_shape(fields, job);
  read_kind(fields, job);
  fields.number("priority", -kMostPriority, kMostPriority, job.priority);
  fields.flag("preemptible", job.preemptible);
  read_wishes(fields, scenario, job);
  fields.number("max_wait", 0, kMostMinutes, job.max_wait);
  fields.number("grace", 0, kMostMinutes, job.grace);
  fields.number("checkpoint_every", 1, kMostMinutes, job.checkpoint_every);
  fields.end();
  return job;
}

Reservation read_reservation(Fields& fields, const Case& scenario) {
  Reservation reservation;
  for (const char* key : {"name", "start", "end"}) fields.require(key);
  fields.text("name", reservation.name);
  fields.number("start", 0, kMostMinutes, reservation.start);
  fields.number("end", 0, kMostMinutes, reservation.end);
  if (fields.has("end") && reservation.end <= reservation.start) {
    fields.mistake("end", "want a time after the start");
  }
  read_reserved_nodes(fields, scenario, reservation);
  std::vector<std::string> flags;
  fields.texts("flags", flags);
  for (const std::string& flag : flags) {
    if (flag == "MAINT") reservation.maintenance = true;
    if (flag == "FLEX") reservation.flex = true;
    if (flag != "MAINT" && flag != "FLEX") fields.mistake("flags", "want MAINT or FLEX");
  }
  if (fields.text("owner", reservation.owner)) {
    check_quota(fields, "owner", scenario, reservation.owner);
  }
  if (fields.has("owner") == reservation.maintenance) {
    fields.mistake("owner", "want an owner, or the flag MAINT, which has none");
  }
  fields.texts("users", reservation.users);
  fields.end();
  return reservation;
}

void read_timeline(Fields& top, Case& scenario) {
  const YAML::Node items = top.list("timeline");
  if (!items) return;
  Timeline timeline(top, scenario);
  for (const YAML::Node& item : items) timeline.read(item);
}

}  // namespace artel::scenario
