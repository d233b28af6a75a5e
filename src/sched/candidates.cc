#include "sched/candidates.h"

#include <algorithm>

#include "base/text.h"
#include "sched/features.h"
#include "sched/place.h"

namespace artel::sched {
namespace {

/// More answers than this are forgotten and found out again where they are needed.
constexpr std::size_t kMostStandings = 100'000;

Result<> check_gpus(std::int64_t gpus) {
  if (is_gpu_amount(gpus)) return {};
  return fail(ErrorCode::kInvalidArgument,
              "GPUs: " + std::to_string(gpus) +
                  " thousandths on a node are neither whole devices nor a share of one; ask for a "
                  "multiple of 1000, or for 25 to 999");
}

NodeSet make_set(const State& state, const std::vector<bool>& has) {
  NodeSet set{.has = has, .nodes = {}};
  for (const NodeIndex node : state.by_name) {
    if (has[node]) set.nodes.push_back(node);
  }
  return set;
}

/// N1, N2.
NodeSet make_set(const State& state, const Request& request) {
  std::vector<bool> has(state.nodes.size(), request.nodes_wanted.empty());
  for (const NodeId node : request.nodes_wanted) {
    if (node.value < has.size()) has[node.value] = true;
  }
  for (const NodeId node : request.nodes_avoided) has[node.value] = false;
  if (!request.features.empty()) {
    const auto expression = FeatureExpression::parse(request.features);
    for (NodeIndex i = 0; i < has.size(); ++i) {
      has[i] = has[i] && expression && expression->holds(state.nodes[i].features);
    }
  }
  return make_set(state, has);
}

std::shared_ptr<const NodeSet> listed_nodes(State& state, const Request& request) {
  if (request.features.empty() && request.nodes_wanted.empty() && request.nodes_avoided.empty()) {
    return nullptr;
  }
  auto& sets = state.node_sets;
  if (sets.size() >= state.most_node_sets) {
    std::erase_if(sets, [](const auto& entry) { return entry.second.expired(); });
    state.most_node_sets = 2 * sets.size() + 64;
  }
  auto& known = sets[{request.features, request.nodes_wanted, request.nodes_avoided}];
  auto set = known.lock();
  if (!set) {
    set = std::make_shared<const NodeSet>(make_set(state, request));
    known = set;
  }
  return set;
}

void subtract_marks(const State& state, Job& job) {
  job.allowed = job.listed;
  if (job.marks.empty()) return;
  std::vector<bool> has =
      job.listed ? job.listed->has : std::vector<bool>(state.nodes.size(), true);
  for (const NodeIndex node : job.marks) has[node] = false;
  job.allowed = std::make_shared<const NodeSet>(make_set(state, has));
}

/// The nodes of a place for the smallest size; empty: there is none.
std::vector<NodeIndex> place_of(const State& state, const Job& job, FlavorId flavor,
                                Emptied emptied, bool anywhere) {
  const Rooms rooms(state, {.from = state.now, .sharer = sharer_of(state, job), .emptied = emptied},
                    nullptr);
  const Variant variant{smallest_size(*job.request), flavor};
  std::vector<NodeIndex> nodes;
  const auto shares = place(state, job, variant, rooms, {.domain = {}, .anywhere = anywhere});
  if (!shares) return nodes;
  for (const Share& share : *shares) nodes.push_back(share.node.value);
  return nodes;
}

/// In the first flavor in which there is one.
std::vector<NodeIndex> place_of(const State& state, const Job& job, Emptied emptied,
                                bool anywhere) {
  std::vector<NodeIndex> nodes;
  for (const FlavorId flavor : job.request->flavors) {
    nodes = place_of(state, job, flavor, emptied, anywhere);
    if (!nodes.empty()) break;
  }
  return nodes;
}

/// Marked jobs have an answer of their own.
StandingKey key_of(const State& state, const Job& job) {
  return {job.request->number, state.has_owners ? job.queue : kRoot,
          job.marks.empty() ? JobId{} : job.id};
}

Standing& standing_of(State& state, const Job& job) {
  if (state.standings.size() >= kMostStandings) state.standings.clear();
  return state.standings[key_of(state, job)];
}

bool still_true(const State& state, const Standing& standing) {
  if (standing.parked != Reason::kNone) return standing.recoveries == state.recoveries;
  return !standing.place.empty() && std::ranges::all_of(standing.place, [&](NodeIndex node) {
    return state.nodes[node].healthy;
  });
}

Reason parked(State& state, const Job& job) {
  Standing& standing = standing_of(state, job);
  if (still_true(state, standing)) return standing.parked;
  standing.recoveries = state.recoveries;
  standing.parked = Reason::kNone;
  standing.place = place_of(state, job, Emptied::kHealthyNodes, false);
  if (standing.place.empty()) {
    const bool exists = !place_of(state, job, Emptied::kAllNodes, true).empty();
    standing.parked = exists ? Reason::kNodesDown : Reason::kFeatures;
  }
  return standing.parked;
}

}  // namespace

Result<> check_request(const Request& request) {
  for (const Part& part : request.parts) {
    if (auto gpus = check_gpus(part.gpus); !gpus) return gpus;
  }
  if (request.spares > 0 && (request.parts.size() > 1 || request.segment > 1)) {
    return fail(ErrorCode::kInvalidArgument,
                "spares: a job of several components or with segments has none of its own; take "
                "the spares or the components and segments out");
  }
  const auto expression = FeatureExpression::parse(request.features);
  return expression ? Result<>{} : fail(expression);
}

Result<> check_words(const State& state, const Request& request) {
  const auto expression = FeatureExpression::parse(request.features);
  if (!expression) return fail(expression);
  for (const std::string& word : expression->words()) {
    if (state.words.contains(word)) continue;
    const std::vector<std::string_view> known(state.words.begin(), state.words.end());
    return fail(ErrorCode::kNeverFits,
                "features: no node has '" + word + "'" + did_you_mean(word, known));
  }
  return {};
}

void list_nodes(State& state, Job& job) {
  job.listed = listed_nodes(state, *job.request);
  subtract_marks(state, job);
}

void relist_nodes(State& state) {
  state.words.clear();
  for (const Node& node : state.nodes) {
    state.words.insert(node.features.begin(), node.features.end());
  }
  state.node_sets.clear();
  state.standings.clear();
  ++state.node_changes;
  ++state.recoveries;
  for (auto& [id, job] : state.jobs) {
    if (!job.request->features.empty()) list_nodes(state, job);
  }
}

const std::vector<bool>& placeable(State& state, const Job& job) {
  Standing& standing = standing_of(state, job);
  if (!standing.placeable.empty()) return standing.placeable;
  for (const FlavorId flavor : job.request->flavors) {
    auto nodes = place_of(state, job, flavor, Emptied::kAllNodes, false);
    standing.placeable.push_back(!nodes.empty());
    if (standing.place.empty() && standing.parked == Reason::kNone) {
      standing.place = std::move(nodes);
    }
  }
  return standing.placeable;
}

void mark_node(State& state, Job& job, NodeIndex node) {
  if (std::ranges::find(job.marks, node) != job.marks.end()) return;
  job.marks.push_back(node);
  subtract_marks(state, job);
  while (!job.marks.empty() && place_of(state, job, Emptied::kAllNodes, false).empty()) {
    job.marks.erase(job.marks.begin());
    subtract_marks(state, job);
  }
  state.standings.erase(key_of(state, job));
  state.unparked.push_back(job.id);
}

void park(State& state) {
  if (state.parked_at != state.node_changes) {
    for (auto& [id, job] : state.jobs) job.parked = parked(state, job);
  } else {
    for (const JobId id : state.unparked) {
      const auto job = state.jobs.find(id);
      if (job != state.jobs.end()) job->second.parked = parked(state, job->second);
    }
  }
  state.parked_at = state.node_changes;
  state.unparked.clear();
}

}  // namespace artel::sched
