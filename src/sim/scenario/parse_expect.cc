// The states that must hold.
#include <algorithm>
#include <set>

#include "base/text.h"
#include "sim/scenario/parts.h"

namespace artel::scenario {

namespace {

constexpr std::string_view kLeaf = "leaf:";
constexpr std::string_view kFlavor = "flavor:";

class Expectations {
 public:
  explicit Expectations(const Case& scenario) : scenario_(scenario) {
    for (const Event& event : scenario.timeline) {
      if (const auto* submit = std::get_if<Submit>(&event.fact)) {
        for (const Job& task : tasks_of(submit->job)) jobs_.insert(task.id);
        users_.insert(submit->job.user);
      }
      if (const auto* reserve = std::get_if<Reserve>(&event.fact)) {
        reservations_.insert(reserve->reservation.name);
      }
    }
    for (const auto& [user, usage] : scenario.user_usage) users_.insert(user);
  }

  Expectation read(Fields& fields) {
    Expectation want;
    want.line = fields.line();
    fields.require("t");
    fields.number("t", 0, kMostMinutes, want.t);
    read_running(fields, want);
    codes(fields, "pending", jobs_, want.pending);
    std::optional<std::vector<std::string>> terminating;
    names(fields, "terminating", terminating);
    if (terminating) want.terminating = *terminating;
    codes(fields, "done", jobs_, want.done);
    codes(fields, "cancelled", jobs_, want.cancelled);
    codes(fields, "rejected", jobs_, want.rejected);
    numbers(fields, "preempts", want.preempts);
    numbers(fields, "planned", want.planned);
    names(fields, "borrowed", want.borrowed);
    shares(fields, "entitlement", want.entitlement);
    shares(fields, "score", want.score);
    shares(fields, "user_usage", want.user_usage);
    read_reservations(fields, want);
    codes(fields, "refused_reservations", reservations_, want.refused_reservations);
    read_devices(fields, want);
    fields.text("note", want.note);
    fields.end();
    return want;
  }

 private:
  static void check(Fields& fields, std::string_view key, const std::set<std::string>& known,
                    const std::string& name) {
    if (known.contains(name)) return;
    const std::vector<std::string_view> words(known.begin(), known.end());
    fields.mistake(key, "the timeline has no '" + name + "'" + did_you_mean(name, words));
  }

  void read_running(Fields& fields, Expectation& want) {
    const YAML::Node node = fields.any("running");
    if (!node) return;
    want.running.emplace();
    if (node.IsSequence()) {
      std::vector<std::string> ids;
      fields.texts("running", ids);
      for (const std::string& id : ids) {
        check(fields, "running", jobs_, id);
        want.running->emplace(id, Place{});
      }
      return;
    }
    Fields entries(fields.mistakes(), "running", node);
    if (!node.IsMap()) return;
    for (const auto& pair : node) {
      if (!pair.first.IsScalar()) continue;
      const std::string id = pair.first.Scalar();
      check(entries, id, jobs_, id);
      want.running->emplace(id, place(entries, id, pair.second));
    }
  }

  Place place(Fields& entries, const std::string& id, const YAML::Node& node) {
    Place place;
    if (const auto count = whole_number(node)) {
      place.count = *count;
      return place;
    }
    const std::string text = node.IsScalar() ? node.Scalar() : "";
    if (text == "any") return place;
    if (text.starts_with(kLeaf)) {
      place.leaf = text.substr(kLeaf.size());
      if (std::ranges::find(scenario_.nodes, place.leaf, &Node::leaf) == scenario_.nodes.end()) {
        entries.mistake(id, "the cluster has no leaf '" + place.leaf + "'");
      }
      return place;
    }
    if (text.starts_with(kFlavor)) {
      place.flavor = text.substr(kFlavor.size());
      check_flavor(entries, id, scenario_, place.flavor);
      return place;
    }
    entries.hosts(id, place.nodes);
    for (const std::string& name : place.nodes) check_node(entries, id, scenario_, name);
    std::ranges::sort(place.nodes);
    return place;
  }

  /// {job: code}, or a plain list of names.
  void codes(Fields& fields, std::string_view key, const std::set<std::string>& known,
             std::optional<std::map<std::string, std::string>>& out) {
    const YAML::Node node = fields.any(key);
    if (!node) return;
    out.emplace();
    if (node.IsSequence()) {
      std::vector<std::string> ids;
      fields.texts(key, ids);
      for (const std::string& id : ids) out->emplace(id, "");
    } else if (node.IsMap()) {
      Fields entries(fields.mistakes(), std::string(key), node);
      for (const auto& pair : node) {
        if (!pair.first.IsScalar()) continue;
        entries.text(pair.first.Scalar(), (*out)[pair.first.Scalar()]);
      }
    } else {
      fields.mistake(key, "want {name: code} or a list of names");
    }
    for (const auto& [name, code] : *out) check(fields, key, known, name);
  }

  void names(Fields& fields, std::string_view key, std::optional<std::vector<std::string>>& out) {
    std::vector<std::string> found;
    if (!fields.texts(key, found)) return;
    for (const std::string& name : found) check(fields, key, jobs_, name);
    std::ranges::sort(found);
    out = found;
  }

  void numbers(Fields& fields, std::string_view key,
               std::optional<std::map<std::string, std::int64_t>>& out) {
    const YAML::Node node = fields.map(key);
    if (!node) return;
    out.emplace();
    Fields entries(fields.mistakes(), std::string(key), node);
    for (const auto& pair : node) {
      if (!pair.first.IsScalar()) continue;
      const std::string& id = pair.first.Scalar();
      check(entries, id, jobs_, id);
      entries.number(id, 0, kMostMinutes, (*out)[id]);
    }
  }

  void shares(Fields& fields, std::string_view key,
              std::optional<std::map<std::string, double>>& out) {
    const YAML::Node node = fields.map(key);
    if (!node) return;
    out.emplace();
    Fields entries(fields.mistakes(), std::string(key), node);
    for (const auto& pair : node) {
      if (!pair.first.IsScalar()) continue;
      const std::string& name = pair.first.Scalar();
      if (key == "user_usage") {
        check(entries, name, users_, name);
      } else {
        check_quota(entries, name, scenario_, name);
      }
      entries.fraction(name, (*out)[name]);
    }
  }

  void read_reservations(Fields& fields, Expectation& want) {
    const YAML::Node node = fields.map("reservations");
    if (!node) return;
    want.reservations.emplace();
    Fields entries(fields.mistakes(), "reservations", node);
    for (const auto& pair : node) {
      if (!pair.first.IsScalar()) continue;
      const std::string& name = pair.first.Scalar();
      check(entries, name, reservations_, name);
      std::vector<std::string> nodes;
      entries.hosts(name, nodes);
      for (const std::string& one : nodes) check_node(entries, name, scenario_, one);
      std::ranges::sort(nodes);
      (*want.reservations)[name] = nodes;
    }
  }

  void read_devices(Fields& fields, Expectation& want) {
    const YAML::Node node = fields.map("devices");
    if (!node) return;
    Fields entries(fields.mistakes(), "devices", node);
    for (const auto& pair : node) {
      if (!pair.first.IsScalar()) continue;
      const std::string id = pair.first.Scalar();
      check(entries, id, jobs_, id);
      const YAML::Node places = entries.map(id);
      if (!places) continue;
      Fields on(fields.mistakes(), "devices of " + id, places);
      for (const auto& place : places) {
        if (!place.first.IsScalar()) continue;
        const std::string name = place.first.Scalar();
        check_node(on, name, scenario_, name);
        on.number(name, 0, kMostOfAll, want.devices[id][name]);
      }
    }
  }

  const Case& scenario_;
  std::set<std::string> jobs_;
  std::set<std::string> users_;
  std::set<std::string> reservations_;
};

}  // namespace

void read_expectations(Fields& top, Case& scenario) {
  const YAML::Node items = top.list("expect");
  if (!items) return;
  Expectations expectations(scenario);
  Minute last = 0;
  for (const YAML::Node& item : items) {
    Fields fields(top.mistakes(), "expect", item);
    scenario.expect.push_back(expectations.read(fields));
    if (scenario.expect.back().t < last) fields.mistake("t", "times go up; sort the states");
    last = std::max(last, scenario.expect.back().t);
  }
}

}  // namespace artel::scenario
