#include "sched/openings.h"

#include "base/assert.h"
#include "sched/place.h"

namespace artel::sched {
namespace {

/// More are forgotten and looked at again where they are asked for.
constexpr std::size_t kMostAsks = 256;

Ask ask_of(const State& state, const Job& job, FlavorId flavor, const Part& part) {
  Ask ask{.flavor = flavor,
          .part = part,
          .exclusive = job.request->exclusive,
          .queue = state.has_owners ? job.queue : kRoot,
          .sharer = is_share(part.gpus) ? sharer_of(state, job) : Sharer{},
          .listed = job.listed};
  ask.part.nodes = 1;
  if (part.gpus > 0 || part.cores > 0) ask.part.ranks = 1;  // M2: they do not count
  return ask;
}

bool takes(const State& state, const Ask& ask, NodeIndex node, const Rooms& rooms) {
  const Node& on = state.nodes[node];
  if (on.flavor != ask.flavor || (ask.listed && !ask.listed->has[node])) return false;
  return fits_on(state, on, {ask.queue, ask.exclusive}, ask.part, rooms.beside_work(node));
}

void look_at(const State& state, Opening& opening, NodeIndex node) {
  const Node& on = state.nodes[node];
  const Rooms now(state, {.from = state.now, .sharer = opening.ask.sharer}, nullptr);
  const bool was_in = opening.now.has(on.rank);
  const bool is_in = takes(state, opening.ask, node, now);
  if (was_in != is_in) {
    opening.now.set(on.rank, is_in);
    opening.count += is_in ? 1U : -1U;
    opening.in_leaf[on.leaf] += is_in ? 1U : -1U;
  }
}

void look_at_emptied(const State& state, Opening& opening, NodeIndex node) {
  const Node& on = state.nodes[node];
  const Rooms emptied(
      state, {.from = state.now, .sharer = opening.ask.sharer, .emptied = Emptied::kHealthyNodes},
      nullptr);
  const bool was_in = opening.emptied.has(on.rank);
  const bool is_in = takes(state, opening.ask, node, emptied);
  if (was_in == is_in) return;
  opening.emptied.set(on.rank, is_in);
  opening.emptied_count += is_in ? 1U : -1U;
}

}  // namespace

const Opening& Openings::of(const State& state, const Job& job, FlavorId flavor, const Part& part) {
  Ask ask = ask_of(state, job, flavor, part);
  const Key key{flavor,        ask.part.gpus, ask.part.cores, ask.part.memory, ask.part.ranks,
                ask.exclusive, ask.queue,     ask.sharer,     ask.listed.get()};
  if (const auto known = places_.find(key); known != places_.end()) return all_[known->second];
  ARTEL_ASSERT(state.assumed == 0);
  places_.emplace(key, all_.size());
  const std::size_t nodes = state.nodes.size();
  Opening& made = all_.emplace_back(Opening{.number = ++last_number_,
                                            .ask = std::move(ask),
                                            .now = RankSet(nodes),
                                            .in_leaf = {},
                                            .emptied = RankSet(nodes)});
  made.in_leaf.resize(state.leaves.size());
  for (NodeIndex node = 0; node < nodes; ++node) {
    look_at(state, made, node);
    look_at_emptied(state, made, node);
  }
  return made;
}

void Openings::changed(const State& state, NodeIndex node) {
  for (Opening& opening : all_) look_at(state, opening, node);
}

void Openings::health_changed(const State& state, NodeIndex node) {
  changed(state, node);
  for (Opening& opening : all_) look_at_emptied(state, opening, node);
}

void Openings::clear() {
  all_.clear();
  places_.clear();
}

void Openings::trim() {
  if (all_.size() > kMostAsks) clear();
}

std::vector<NodeIndex> nodes_of(const State& state, const RankSet& ranks) {
  std::vector<NodeIndex> nodes;
  ranks.for_each([&](std::uint32_t rank) { nodes.push_back(state.by_name[rank]); });
  return nodes;
}

}  // namespace artel::sched
