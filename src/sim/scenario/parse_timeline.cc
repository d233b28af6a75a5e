// The timeline of a case: jobs, reservations and the other facts.
#include <algorithm>
#include <set>

#include "base/text.h"
#include "sim/scenario/parts.h"

namespace artel::scenario {

namespace {

constexpr std::int64_t kMostNodes = 100'000;
constexpr const char* kFacts[] = {"submit",  "cancel",   "checkpoint", "node_down",
                                  "node_up", "set",      "reserve",    "hold",
                                  "release", "throttle", "features",   "node_refuses"};

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
    for (const char* key : kFacts) {
      if (!fields.any(key)) continue;
      ++facts;
      read_fact(fields, key, event);
    }
    if (facts != 1) {
      std::string all;
      for (const char* key : kFacts) all += (all.empty() ? "" : ", ") + std::string(key);
      top_.mistakes().add(fields.line(), "timeline: want one of " + all + " in each event");
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
    } else if (key == "hold") {
      event.fact = Hold{known_job(fields, key)};
    } else if (key == "release") {
      event.fact = Release{known_job(fields, key)};
    } else if (key == "throttle") {
      event.fact = throttled(fields);
    } else if (key == "features") {
      event.fact = featured(fields);
    } else if (key == "node_refuses") {
      event.fact = refused(fields);
    } else if (key == "set") {
      event.fact = changed(fields);
    } else {
      event.fact = Reserve{reserved(fields, event.t)};
    }
  }

  Job submitted(Fields& fields) {
    Fields submit(fields.mistakes(), "submit", fields.any("submit"));
    Job job = read_job(submit, scenario_, jobs_);
    if (job.id.empty()) return job;
    bool is_new = jobs_.insert(job.id).second;
    if (job.array) {
      arrays_.insert(job.id);
      for (const Job& task : tasks_of(job)) is_new = jobs_.insert(task.id).second && is_new;
    }
    if (!is_new) submit.mistake("id", "job '" + job.id + "' is there twice");
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

  Throttle throttled(Fields& fields) {
    Fields change(fields.mistakes(), "throttle", fields.any("throttle"));
    Throttle throttle;
    change.require("array");
    change.require("limit");
    change.text("array", throttle.array);
    if (!arrays_.contains(throttle.array)) {
      change.mistake("array", "no array '" + throttle.array + "' was submitted before");
    }
    change.number("limit", 0, kMostOfAll, throttle.limit);
    change.end();
    return throttle;
  }

  SetFeatures featured(Fields& fields) {
    Fields change(fields.mistakes(), "features", fields.any("features"));
    SetFeatures features;
    change.require("node");
    change.require("set");
    features.node = known_node(change, "node");
    read_features(change, "set", features.features);
    change.end();
    return features;
  }

  NodeRefuses refused(Fields& fields) {
    Fields refusal(fields.mistakes(), "node_refuses", fields.any("node_refuses"));
    NodeRefuses refuses;
    refusal.require("job");
    refusal.require("node");
    refuses.job = known_job(refusal, "job");
    refuses.node = known_node(refusal, "node");
    refusal.end();
    return refuses;
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
    if (!reservation.spare && reservation.start < now)
      reserve.mistake("start", "it lies before the event");
    if (!reservations_.insert(reservation.name).second) {
      reserve.mistake("name", "reservation '" + reservation.name + "' is there twice");
    }
    return reservation;
  }

  Fields& top_;
  Case& scenario_;
  Minute last_ = 0;
  std::set<std::string> jobs_;  // tasks and arrays too
  std::set<std::string> arrays_;
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

void read_flags(Fields& fields, Reservation& reservation) {
  std::vector<std::string> flags;
  fields.texts("flags", flags);
  for (const std::string& flag : flags) {
    if (flag == "MAINT") reservation.maintenance = true;
    if (flag == "FLEX") reservation.flex = true;
    if (flag == "SPARE") reservation.spare = true;
    if (flag != "MAINT" && flag != "FLEX" && flag != "SPARE") {
      fields.mistake("flags", "want MAINT, FLEX or SPARE");
    }
  }
  if (reservation.spare && flags.size() > 1) fields.mistake("flags", "SPARE stands alone");
}

void read_window(Fields& fields, Reservation& reservation) {
  fields.number("start", 0, kMostMinutes, reservation.start);
  fields.number("end", 0, kMostMinutes, reservation.end);
  if (reservation.spare) {
    for (const char* key : {"start", "end", "nodes", "topology", "users"}) {
      if (fields.has(key)) fields.mistake(key, "spares have none, only a count and an owner");
    }
    return;
  }
  fields.require("start");
  fields.require("end");
  if (fields.has("end") && reservation.end <= reservation.start) {
    fields.mistake("end", "want a time after the start");
  }
}

}  // namespace

Reservation read_reservation(Fields& fields, const Case& scenario) {
  Reservation reservation;
  fields.require("name");
  fields.text("name", reservation.name);
  read_flags(fields, reservation);
  read_window(fields, reservation);
  read_reserved_nodes(fields, scenario, reservation);
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
