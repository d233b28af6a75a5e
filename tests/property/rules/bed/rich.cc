// Amounts are recomputed from what jobs state and nodes have, never taken from an engine.
#include "property/rules/bed/rich.h"

#include <algorithm>

namespace artel::rules {

using namespace scenario;

namespace {

/// Rule N1, by recursive descent; expressions of the generator are well formed.
class Expression {
 public:
  Expression(const std::string& text, const std::vector<std::string>& words)
      : text_(text), words_(words) {}
  bool holds() { return text_.empty() || any(); }

 private:
  bool any() {
    bool value = all();
    while (next('|')) value = all() || value;
    return value;
  }
  bool all() {
    bool value = one();
    while (next('&')) value = one() && value;
    return value;
  }
  bool one() {
    if (next('!')) return !one();
    if (next('(')) {
      const bool value = any();
      next(')');
      return value;
    }
    const std::size_t from = at_;
    while (at_ < text_.size() && std::string("|&!()").find(text_[at_]) == std::string::npos) ++at_;
    return std::ranges::find(words_, text_.substr(from, at_ - from)) != words_.end();
  }
  bool next(char sign) {
    if (at_ >= text_.size() || text_[at_] != sign) return false;
    ++at_;
    return true;
  }

  const std::string& text_;
  const std::vector<std::string>& words_;
  std::size_t at_ = 0;
};

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

std::int64_t milli_of(const Component& part) {
  return part.gpu_milli > 0 ? part.gpu_milli : part.gpus * 1000;
}

/// Rule M2.
std::int64_t cores_on(const Component& part, const Node& node) {
  if (part.cpus > 0) return part.cpus;
  if (node.cpus == 0) return 0;
  const std::int64_t milli = milli_of(part);
  if (milli == 0) return 1;
  return std::max<std::int64_t>(1, node.cpus * milli / (node.gpus * 1000));
}

std::int64_t memory_on(const Component& part, const Node& node) {
  if (part.memory > 0) return part.memory;
  const std::int64_t milli = milli_of(part);
  if (milli > 0) return node.memory * milli / (node.gpus * 1000);
  return node.cpus == 0 ? 0 : node.memory * cores_on(part, node) / node.cpus;
}

const Node& node_named(const Case& stream, const std::string& name) {
  return *std::ranges::find(stream.nodes, name, &Node::name);
}

std::int64_t size_of(const Mirror& mirror, const Track& job) {
  return mirror.largest(job) + job.spec.spares;
}

bool holds_anything(const Track& job) {
  return job.stage == Stage::kRunning || job.stage == Stage::kLeaving || job.claims;
}

}  // namespace

Rich::Rich(const Case& stream, Ledger& ledger) : stream_(stream), ledger_(ledger) {
  for (const Node& node : stream.nodes) features_[node.name] = node.features;
}

void Rich::features(const std::string& node, const std::vector<std::string>& features) {
  features_[node] = features;
}

void Rich::expect(const Mirror& mirror, const std::string& rule, bool holds, const Track& job,
                  const std::string& what) {
  ledger_.expect(rule, holds,
                 "minute " + std::to_string(mirror.now()) + ": " + job.spec.id + " " + what);
}

bool Rich::allows(const Track& job, const Node& node) const {
  const Job& spec = job.spec;
  if (!spec.nodes_wanted.empty() && !has(spec.nodes_wanted, node.name)) return false;
  if (has(spec.nodes_avoided, node.name)) return false;
  return Expression(spec.features, features_.at(node.name)).holds();
}

bool Rich::could_hold(const Track& job, const Node& node) const {
  const Component& part = job.spec.components.front();
  if (!allows(job, node)) return false;
  if (part.gpu_milli > 0 && part.gpu_milli < 1000 && !node.shared) return false;
  if (milli_of(part) > node.gpus * 1000) return false;
  return cores_on(part, node) <= node.cpus && memory_on(part, node) <= node.memory;
}

std::optional<std::int64_t> Rich::throttle_of(const Track& job) const {
  const auto changed = throttles_.find(job.spec.array_id);
  return changed == throttles_.end() ? job.spec.throttle : changed->second;
}

std::int64_t Rich::holding(const Mirror& mirror, const std::string& array) const {
  return std::ranges::count_if(mirror.jobs(), [&](const Track& job) {
    return job.spec.array_id == array && holds_anything(job);
  });
}

void Rich::check_time(const Mirror& mirror, const Track& job) {
  if (job.spec.begin) {
    expect(mirror, "W3", mirror.now() >= *job.spec.begin, job, "starts before its begin time");
  }
  if (job.spec.deadline) {
    expect(mirror, "W4", mirror.now() + *job.spec.walltime <= *job.spec.deadline, job,
           "starts too late for its deadline");
  }
  const auto waits = waits_.find(job.spec.id);
  if (waits == waits_.end()) return;
  expect(mirror, "W6", !waits->second.held, job, "starts while it is held");
  expect(mirror, "D1", !waits->second.depends, job, "starts though it depends");
}

/// What the names of a dependency stand for has to be over, or to have started.
void Rich::check_dependencies(const Mirror& mirror, const Track& job) {
  std::size_t met = 0;
  for (const Dependency& on : job.spec.after) {
    bool holds = true;
    for (const Track& other : mirror.jobs()) {
      if (other.spec.id != on.job && other.spec.array_id != on.job) continue;
      const bool over = other.stage == Stage::kOver;
      holds = holds && (over || (on.kind == Depends::kAfter && other.has_started));
    }
    met += holds ? 1 : 0;
  }
  if (job.spec.after.empty()) return;
  const bool enough = job.spec.any_is_enough ? met > 0 : met == job.spec.after.size();
  expect(mirror, "D3", enough, job, "starts before what it waits for");
}

void Rich::check_array(const Mirror& mirror, const Track& job, bool somebody_left) {
  if (job.spec.array_id.empty()) return;
  if (const auto throttle = throttle_of(job)) {
    const std::int64_t others = holding(mirror, job.spec.array_id) - (holds_anything(job) ? 1 : 0);
    expect(mirror, "J2", job.claims || others < *throttle, job, "starts beyond its throttle");
  }
  if (somebody_left || job.claims || job.evictions > 0 || job.failed) return;
  bool first = true;
  for (const Track& other : mirror.jobs()) {
    if (other.spec.array_id != job.spec.array_id || other.stage != Stage::kWaiting) continue;
    if (other.evictions > 0 || other.failed || other.claims) continue;
    if (refused_.contains(other.spec.id) || refused_.contains(job.spec.id)) continue;
    const auto waits = waits_.find(other.spec.id);
    if (waits != waits_.end() && (waits->second.held || waits->second.depends)) continue;
    first = first && other.spec.index >= job.spec.index;
  }
  expect(mirror, "J3", first, job, "starts before an earlier task of its array");
}

void Rich::check_nodes(const Mirror& mirror, const Track& job, const Start& start) {
  const Component& part = job.spec.components.front();
  const auto size = static_cast<std::int64_t>(start.shares.size());
  std::set<std::string> nodes;
  bool allowed = true;
  bool refused = false;
  for (const Share& share : start.shares) {
    nodes.insert(share.node);
    allowed = allowed && allows(job, node_named(stream_, share.node));
    refused = refused ||
              (refused_.contains(job.spec.id) && refused_.at(job.spec.id).contains(share.node));
  }
  expect(mirror, "N3", allowed, job, "starts on a node that it excludes");
  expect(mirror, "H1", size == size_of(mirror, job) && nodes.size() == start.shares.size(), job,
         "starts on " + std::to_string(size) + " nodes");
  if (refused_.contains(job.spec.id) && part.gpus + part.gpu_milli > 0) {
    const auto others = std::ranges::count_if(stream_.nodes, [&](const Node& node) {
      return could_hold(job, node) && !refused_.at(job.spec.id).contains(node.name);
    });
    expect(mirror, "N4", !refused || others < size, job, "starts on a node that refused it");
  }
}

/// Rules M1, U2 and U4 on each node, with the job on it.
void Rich::check_amounts(const Mirror& mirror, const Track& job, const std::vector<Share>& shares) {
  for (const Share& share : shares) {
    const Node& node = node_named(stream_, share.node);
    std::int64_t cores = cores_on(job.spec.components.front(), node);
    std::int64_t memory = memory_on(job.spec.components.front(), node);
    std::int64_t milli = milli_of(job.spec.components.front());
    for (const Track& other : mirror.jobs()) {
      if (other.number == job.number) continue;
      if (std::ranges::find(other.shares, share.node, &Share::node) == other.shares.end()) continue;
      cores += cores_on(other.spec.components.front(), node);
      memory += memory_on(other.spec.components.front(), node);
      milli += milli_of(other.spec.components.front());
    }
    expect(mirror, "M1", cores <= node.cpus || node.cpus == 0, job, "lacks cores on " + node.name);
    expect(mirror, "M1", memory <= node.memory || node.memory == 0, job,
           "lacks memory on " + node.name);
    expect(mirror, "M1", milli <= node.gpus * 1000 && mirror.healthy(node.name), job,
           "lacks GPUs on " + node.name);
    if (node.shared) check_devices(mirror, job, share);
  }
}

void Rich::check_devices(const Mirror& mirror, const Track& job, const Share& share) {
  const Node& node = node_named(stream_, share.node);
  const std::int64_t asked = job.spec.components.front().gpu_milli;
  const bool shares = asked > 0 && asked < 1000;
  std::vector<std::int64_t> free(static_cast<std::size_t>(node.gpus), 1000);
  std::vector<std::set<std::string>> users(free.size());
  for (const Track& other : mirror.jobs()) {
    if (other.number == job.number) continue;
    for (const Share& held : other.shares) {
      if (held.node != share.node) continue;
      for (const std::int64_t device : held.devices) {
        const auto at = static_cast<std::size_t>(device);
        free[at] -= held.gpu_milli > 0 && held.gpu_milli < 1000 ? held.gpu_milli : 1000;
        users[at].insert(other.spec.user);
      }
    }
  }
  const auto wanted =
      shares ? 1 : static_cast<std::size_t>(milli_of(job.spec.components.front()) / 1000);
  expect(mirror, "U2", share.devices.size() == wanted, job, "holds a wrong number of devices");
  for (const std::int64_t device : share.devices) {
    const auto at = static_cast<std::size_t>(device);
    expect(mirror, "U2", free[at] >= (shares ? asked : 1000), job, "overfills a device");
    if (!shares) continue;
    const bool alone = users[at].empty() || users[at] == std::set<std::string>{job.spec.user};
    expect(mirror, "U4", alone, job, "shares a device with another user");
    for (std::size_t i = 0; i < free.size(); ++i) {
      const bool open = users[i].empty() || users[i] == std::set<std::string>{job.spec.user};
      const bool tighter = free[i] < free[at] || (free[i] == free[at] && i < at);
      if (!open || free[i] < asked || i == at) continue;
      expect(mirror, "U3", !tighter, job, "leaves a fuller device aside");
    }
  }
}

void Rich::started(const Mirror& mirror, const Beliefs& after, const Start& start,
                   bool somebody_left) {
  const Track& job = mirror.job(start.job);
  check_time(mirror, job);
  check_dependencies(mirror, job);
  check_array(mirror, job, somebody_left);
  check_nodes(mirror, job, start);
  check_amounts(mirror, job, start.shares);
  const auto spares = after.reservations.find("SP");
  if (spares == after.reservations.end() || job.claims) return;
  const bool apart = std::ranges::none_of(
      start.shares, [&](const Share& share) { return has(spares->second, share.node); });
  expect(mirror, "H3", apart, job, "starts on a spare");
}

void Rich::swapped(const Mirror& mirror, const Beliefs& before, const std::string& id,
                   const std::string& lost, const std::optional<Start>& swap) {
  const Track& job = mirror.job(id);
  std::set<std::string> kept;
  for (const Share& share : job.shares) {
    if (share.node != lost) kept.insert(share.node);
  }
  const auto left = static_cast<std::int64_t>(kept.size());
  const bool own = left >= mirror.largest(job);
  expect(mirror, "H2", !own || swap.has_value() || !job.spec.requeue, job,
         "is not swapped though nodes enough are left");
  if (!swap) return;
  std::set<std::string> now;
  for (const Share& share : swap->shares) now.insert(share.node);
  const auto spares = before.reservations.find("SP");
  bool known = true;
  std::int64_t added = 0;
  for (const std::string& node : now) {
    if (kept.contains(node)) continue;
    ++added;
    known = known && spares != before.reservations.end() && has(spares->second, node) &&
            allows(job, node_named(stream_, node));
  }
  expect(mirror, "H4", std::ranges::includes(now, kept) && known && added <= (own ? 0 : 1), job,
         "is swapped to other nodes than its own and a spare");
  check_amounts(mirror, job, swap->shares);
}

void Rich::check_reason(const Mirror& mirror, const Beliefs& after, const Track& job) {
  const auto found = after.reasons.find(job.spec.id);
  const std::string reason = found == after.reasons.end() ? "" : found->second;
  const auto waits = waits_.find(job.spec.id);
  const bool held = waits != waits_.end() && waits->second.held;
  const bool depends = waits != waits_.end() && waits->second.depends;
  std::int64_t exist = 0;
  std::int64_t up = 0;
  for (const Node& node : stream_.nodes) {
    if (!could_hold(job, node)) continue;
    ++exist;
    up += mirror.healthy(node.name) ? 1 : 0;
  }
  const std::int64_t size = size_of(mirror, job);
  std::string first;
  if (held) {
    first = "Held";
  } else if (depends) {
    first = "Dependency";
  } else if (job.spec.begin && mirror.now() < *job.spec.begin) {
    first = "BeginTime";
  } else if (exist < size) {
    first = "Features";
  } else if (up < size) {
    first = "NodesDown";
  }
  const std::set<std::string> early = {"Held", "Dependency", "BeginTime", "Features", "NodesDown"};
  const bool right = first.empty() ? !early.contains(reason) : reason == first;
  const std::string what = "waits for '" + reason + "', not '" + first + "'";
  expect(mirror, exist < size || up < size ? "N5" : "Z1", right, job, what);
  const bool planned = after.planned.contains(job.spec.id);
  if (!first.empty()) expect(mirror, "W1", !planned, job, "is planned though not eligible");
  if (planned && job.spec.deadline) {
    expect(mirror, "W5", after.planned.at(job.spec.id) + *job.spec.walltime <= *job.spec.deadline,
           job, "is planned too late for its deadline");
  }
  if (reason != "ArrayThrottle") return;
  std::int64_t taken = holding(mirror, job.spec.array_id);
  for (const auto& [id, at] : after.planned) {
    taken += mirror.job(id).spec.array_id == job.spec.array_id ? 1 : 0;
  }
  expect(mirror, "J2", taken >= throttle_of(job).value_or(0), job, "is throttled below its limit");
}

/// Spares are idle, healthy and not too many (H3).
void Rich::check_spares(const Mirror& mirror, const Beliefs& after) {
  const auto spares = after.reservations.find("SP");
  if (spares == after.reservations.end()) return;
  bool idle = spares->second.size() <= 1;
  for (const std::string& node : spares->second) idle = idle && mirror.is_empty(node);
  ledger_.expect("H3", idle, "minute " + std::to_string(mirror.now()) + ": a spare is in use");
}

void Rich::rest(const Mirror& mirror, const Beliefs& after) {
  for (const Track& job : mirror.jobs()) {
    if (job.stage == Stage::kWaiting && !job.claims && !job.failed) {
      check_reason(mirror, after, job);
    }
  }
  check_spares(mirror, after);
}

}  // namespace artel::rules
