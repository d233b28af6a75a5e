// Comparison of expected states with the states that were reached.
#include "sim/scenario/compare.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/hostlist.h"

namespace artel::scenario {

namespace {

constexpr double kEntitlementError = 0.01;
constexpr double kScoreError = 0.001;
constexpr const char* kNone = "-";

std::vector<std::string> nodes_of(const std::vector<Share>& shares) {
  std::vector<std::string> nodes;
  for (const Share& share : shares) nodes.push_back(share.node);
  std::ranges::sort(nodes);
  return nodes;
}

std::string text_of(const std::vector<std::string>& nodes) { return fold_hosts(nodes); }
std::string text_of(std::int64_t value) { return std::to_string(value); }
std::string text_of(const std::string& value) { return value.empty() ? "yes" : value; }

std::string text_of(double value) {
  std::string text = std::to_string(value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

std::string text_of(const std::vector<std::int64_t>& numbers) {
  std::string text;
  for (const std::int64_t number : numbers) text += (text.empty() ? "" : ",") + text_of(number);
  return text.empty() ? kNone : text;
}

std::string text_of(const std::vector<Share>& shares) {
  std::string text;
  for (const Share& share : shares) {
    text += (text.empty() ? "" : " ") + share.node + ":" + std::to_string(share.gpus);
    if (share.gpu_milli > 0) text += "+" + std::to_string(share.gpu_milli) + "m";
    if (share.cpus > 0) text += "+" + std::to_string(share.cpus) + "c";
    if (!share.devices.empty()) text += "@" + text_of(share.devices);
  }
  return text;
}

std::string text_of(const Place& place) {
  if (!place.nodes.empty()) return fold_hosts(place.nodes);
  if (place.count) return std::to_string(*place.count) + " nodes";
  if (!place.leaf.empty()) return "leaf:" + place.leaf;
  if (!place.flavor.empty()) return "flavor:" + place.flavor;
  return "any";
}

const Node& node_of(const Case& scenario, const std::string& name) {
  return *std::ranges::find(scenario.nodes, name, &Node::name);
}

bool holds(const Case& scenario, const Place& want, const std::vector<Share>& got) {
  if (!want.nodes.empty() && nodes_of(got) != want.nodes) return false;
  if (want.count && *want.count != static_cast<std::int64_t>(got.size())) return false;
  return std::ranges::all_of(got, [&](const Share& share) {
    const Node& node = node_of(scenario, share.node);
    return (want.leaf.empty() || node.leaf == want.leaf) &&
           (want.flavor.empty() || node.flavor == want.flavor);
  });
}

/// Collects differences of one state.
class Finder {
 public:
  Finder(Minute t, int line, std::string note) : t_(t), line_(line), note_(std::move(note)) {}

  void add(const std::string& what, const std::string& expected, const std::string& got) {
    found_.push_back({t_, line_, what, expected, got, note_});
  }

  /// Both ways: nothing may be missing, nothing may be too much.
  template <typename Want, typename Got, typename Same>
  void whole(const std::string& what, const std::map<std::string, Want>& want,
             const std::map<std::string, Got>& got, Same same) {
    listed(what, want, got, same);
    for (const auto& [name, value] : got) {
      if (!want.contains(name)) add(what + " " + name, kNone, text_of(value));
    }
  }

  /// Only what is listed must be there.
  template <typename Want, typename Got, typename Same>
  void listed(const std::string& what, const std::map<std::string, Want>& want,
              const std::map<std::string, Got>& got, Same same) {
    for (const auto& [name, value] : want) {
      const auto entry = got.find(name);
      if (entry == got.end()) {
        add(what + " " + name, text_of(value), kNone);
      } else if (!same(value, entry->second)) {
        add(what + " " + name, text_of(value), text_of(entry->second));
      }
    }
  }

  void names(const std::string& what, const std::vector<std::string>& want,
             const std::vector<std::string>& got) {
    const std::set<std::string> wanted(want.begin(), want.end());
    const std::set<std::string> had(got.begin(), got.end());
    for (const std::string& name : wanted) {
      if (!had.contains(name)) add(what + " " + name, "yes", kNone);
    }
    for (const std::string& name : had) {
      if (!wanted.contains(name)) add(what + " " + name, kNone, "yes");
    }
  }

  std::vector<Difference> take() { return std::move(found_); }

 private:
  Minute t_;
  int line_;
  std::string note_;
  std::vector<Difference> found_;
};

bool same_code(const std::string& want, const std::string& got) {
  return want.empty() || want == got;
}

struct Near {
  double error;
  bool operator()(double want, double got) const {
    return want == got || std::abs(want - got) <= error;
  }
};

void compare_jobs(const Case& scenario, const Expectation& want, const State& got, Finder& finder) {
  if (want.running) {
    finder.whole("running", *want.running, got.running,
                 [&](const Place& place, const std::vector<Share>& shares) {
                   return holds(scenario, place, shares);
                 });
  }
  if (want.pending) finder.whole("pending", *want.pending, got.pending, same_code);
  finder.names("terminating", want.terminating, got.terminating);
  if (want.done) finder.listed("done", *want.done, got.done, same_code);
  if (want.cancelled) finder.listed("cancelled", *want.cancelled, got.cancelled, same_code);
  if (want.rejected) finder.listed("rejected", *want.rejected, got.rejected, same_code);
  if (want.preempts) finder.whole("preempts", *want.preempts, got.preempts, std::equal_to<>());
}

/// The device that a job is expected on, by node.
void compare_devices(const Expectation& want, const State& got, Finder& finder) {
  for (const auto& [job, places] : want.devices) {
    for (const auto& [node, device] : places) {
      std::string on = kNone;
      const auto run = got.running.find(job);
      if (run != got.running.end()) {
        const auto share = std::ranges::find(run->second, node, &Share::node);
        if (share != run->second.end()) on = text_of(share->devices);
      }
      if (on != text_of(device))
        finder.add("device of " + job + " on " + node, text_of(device), on);
    }
  }
}

void compare_beliefs(const Expectation& want, const State& got, Finder& finder) {
  const Beliefs& have = got.beliefs;
  if (want.planned) finder.whole("planned", *want.planned, have.planned, std::equal_to<>());
  if (want.borrowed) finder.names("borrowed", *want.borrowed, have.borrowed);
  if (want.entitlement) {
    finder.listed("entitlement", *want.entitlement, have.entitlement, Near{kEntitlementError});
  }
  if (want.score) finder.listed("score", *want.score, have.score, Near{kScoreError});
  if (want.user_usage) {
    finder.listed("user_usage", *want.user_usage, have.user_usage, Near{kScoreError});
  }
  if (want.reservations) {
    finder.whole("reservations", *want.reservations, have.reservations, std::equal_to<>());
  }
  if (want.refused_reservations) {
    finder.listed("refused_reservations", *want.refused_reservations, got.refused_reservations,
                  same_code);
  }
}

std::string padded(const std::string& text, std::size_t width) {
  return text + std::string(text.size() < width ? width - text.size() : 0, ' ');
}

}  // namespace

std::vector<Difference> compare(const Case& scenario, const Expectation& want, const State& got) {
  Finder finder(want.t, want.line, want.note);
  compare_jobs(scenario, want, got, finder);
  compare_devices(want, got, finder);
  compare_beliefs(want, got, finder);
  return finder.take();
}

std::vector<Difference> compare(const State& left, const State& right) {
  Finder finder(left.t, 0, "");
  const std::equal_to<> same;
  finder.whole("running", left.running, right.running, same);
  finder.whole("pending", left.pending, right.pending, same);
  finder.names("terminating", left.terminating, right.terminating);
  finder.whole("done", left.done, right.done, same);
  finder.whole("cancelled", left.cancelled, right.cancelled, same);
  finder.whole("rejected", left.rejected, right.rejected, same);
  finder.whole("preempts", left.preempts, right.preempts, same);
  finder.whole("refused_reservations", left.refused_reservations, right.refused_reservations, same);
  finder.whole("planned", left.beliefs.planned, right.beliefs.planned, same);
  finder.names("borrowed", left.beliefs.borrowed, right.beliefs.borrowed);
  finder.whole("entitlement", left.beliefs.entitlement, right.beliefs.entitlement,
               Near{kEntitlementError});
  finder.whole("score", left.beliefs.score, right.beliefs.score, Near{kScoreError});
  finder.whole("user_usage", left.beliefs.user_usage, right.beliefs.user_usage, Near{kScoreError});
  finder.whole("reservations", left.beliefs.reservations, right.beliefs.reservations, same);
  return finder.take();
}

std::string render(const std::vector<Difference>& differences) {
  std::size_t what = 4;
  std::size_t expected = 8;
  for (const Difference& one : differences) {
    what = std::max(what, one.what.size());
    expected = std::max(expected, one.expected.size());
  }
  std::string text;
  const auto row = [&](const std::string& t, const std::string& name, const std::string& want,
                       const std::string& got) {
    text += "  " + padded(t, 6) + "  " + padded(name, what) + "  " + padded(want, expected) + "  " +
            got + "\n";
  };
  row("MINUTE", "WHAT", "EXPECTED", "GOT");
  const Difference* last = nullptr;
  const auto note = [&] {
    if (last != nullptr && !last->note.empty()) text += "          note: " + last->note + "\n";
  };
  for (const Difference& one : differences) {
    if (last != nullptr && last->t != one.t) note();
    row(std::to_string(one.t), one.what, one.expected, one.got);
    last = &one;
  }
  note();
  return text;
}

}  // namespace artel::scenario
