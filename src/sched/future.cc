#include "sched/future.h"

#include <algorithm>
#include <iterator>
#include <tuple>

namespace artel::sched {
namespace {

void add_later(const State& state, std::optional<Time> time, std::vector<Time>& times) {
  if (time && *time > state.now) times.push_back(*time);
}

/// The times after now at which work on the node ends, ascending.
void ends_of_work(const State& state, NodeIndex node, const Leaving* leaving,
                  std::vector<Time>& ends) {
  ends.clear();
  // Who may leave at once, or is over its limit, is gone at any later time.
  const Time next = state.now + Duration{1};
  for (const Holder& holder : state.nodes[node].holders) {
    if (const auto end = end_of_hold(state, *holder.job, leaving)) {
      add_later(state, std::max(*end, next), ends);
    }
  }
  std::ranges::sort(ends);
}

/// The times after now at which anything on the node ends, ascending.
void all_ends(const State& state, NodeIndex node, const Beside& beside, std::vector<Time>& ends) {
  ends_of_work(state, node, &beside.leaving, ends);
  for (const PlannedHere& here : beside.plans.on(node)) add_later(state, here.plan->end, ends);
  if (state.nodes[node].reservations > 0) {
    for (const Reservation& one : state.reservations) add_later(state, one.facts.end, ends);
  }
  std::ranges::sort(ends);
}

std::optional<Release> release_of(const State& state, const Opening& opening, NodeIndex node,
                                  std::vector<Time>& ends) {
  const Node& on = state.nodes[node];
  if (opening.now.has(on.rank)) return Release{state.now, node};
  if (!opening.emptied.has(on.rank)) return std::nullopt;
  ends_of_work(state, node, nullptr, ends);
  const auto first = std::ranges::find_if(ends, [&](Time time) {
    const Rooms rooms(state, {.from = time, .sharer = opening.ask.sharer}, nullptr);
    return fits_on(state, on, {opening.ask.queue, opening.ask.exclusive}, opening.ask.part,
                   rooms.beside_work(node));
  });
  if (first == ends.end()) return std::nullopt;
  return Release{*first, node};
}

std::size_t domain_of(const Node& node, Locality level) {
  if (level == Locality::kAny) return 0;
  return level == Locality::kLeaf ? node.leaf : node.block;
}

/// By time, then by name.
void sort_releases(const State& state, std::vector<Release>& releases) {
  std::ranges::sort(releases, {}, [&](const Release& one) {
    return std::tuple(one.from, state.nodes[one.node].rank);
  });
}

/// The search for earliest_possible().
class Earliest {
 public:
  Earliest(const State& state, const Job& job, const Variant& variant, const Beside& beside)
      : state_(state),
        job_(job),
        flavor_(variant.flavor),
        beside_(beside),
        part_(parts_of(*job.request, variant.size).front()),
        times_(std::max({state.leaves.size(), state.blocks.size(), std::size_t{1}})) {}

  std::optional<Time> run() {
    const std::vector<Release>& releases = beside_.releases.of(job_, flavor_, part_);
    RankSet looked_at(beside_.leaving.empty() ? 0 : state_.nodes.size());
    for (const auto& [id, time] : beside_.leaving) {
      for (const Share& share : state_.jobs.at(id).shares) {
        const std::uint32_t rank = state_.nodes[share.node.value].rank;
        if (looked_at.has(rank)) continue;
        looked_at.set(rank, true);
        look_at(share.node.value, first_fit({state_.now, share.node.value}));
      }
    }
    for (const Release& release : releases) {
      if (earliest_ && release.from >= *earliest_) break;
      if (!beside_.leaving.empty() && looked_at.has(state_.nodes[release.node].rank)) continue;
      look_at(release.node, is_plain(release.node) ? release.from : first_fit(release));
    }
    return earliest_;
  }

 private:
  [[nodiscard]] bool fits_at(NodeIndex node, Time time) const {
    const Rooms rooms(state_,
                      {.from = time,
                       .end = end_of_run(job_, time),
                       .sharer = sharer_of(state_, job_),
                       .leaving = &beside_.leaving},
                      &beside_.plans);
    return is_candidate(state_, job_, flavor_, part_, node, rooms.at(node));
  }

  /// Nothing is there but the work that its release knows of.
  [[nodiscard]] bool is_plain(NodeIndex node) const {
    return state_.nodes[node].reservations == 0 && beside_.plans.on(node).empty();
  }

  /// When the job's part fits on the node beside all; not before its release.
  std::optional<Time> first_fit(const Release& release) {
    if (release.from <= state_.now && fits_at(release.node, state_.now)) return state_.now;
    all_ends(state_, release.node, beside_, ends_);
    const auto first = std::ranges::find_if(
        ends_, [&](Time time) { return time >= release.from && fits_at(release.node, time); });
    return first == ends_.end() ? std::nullopt : std::optional(*first);
  }

  /// `time`: when it first fits there.
  void look_at(NodeIndex at, std::optional<Time> time) {
    const Node& node = state_.nodes[at];
    if (!time || node.flavor != flavor_ || !node.healthy || !admits(job_, at)) return;
    // The earliest `nodes` of each domain, the latest of them first.
    std::vector<Time>& heap = times_[domain_of(node, job_.request->locality)];
    if (heap.size() == part_.nodes && *time >= heap.front()) return;
    if (heap.size() == part_.nodes) {
      std::ranges::pop_heap(heap);
      heap.pop_back();
    }
    heap.push_back(*time);
    std::ranges::push_heap(heap);
    if (heap.size() == part_.nodes && (!earliest_ || heap.front() < *earliest_)) {
      earliest_ = heap.front();
    }
  }

  const State& state_;
  const Job& job_;
  FlavorId flavor_;
  const Beside& beside_;
  Part part_;
  std::vector<std::vector<Time>> times_;  // by domain
  std::vector<Time> ends_;
  std::optional<Time> earliest_;
};

}  // namespace

const std::vector<Release>& Releases::of(const Job& job, FlavorId flavor, const Part& part) {
  const Opening& opening = state_.openings.of(state_, job, flavor, part);
  const auto [known, is_new] = lists_.try_emplace(opening.number);
  List& list = known->second;
  if (is_new) {
    std::vector<Time> ends;
    for (NodeIndex node = 0; node < state_.nodes.size(); ++node) {
      if (const auto one = release_of(state_, opening, node, ends)) list.releases.push_back(*one);
    }
    sort_releases(state_, list.releases);
  } else if (!list.changed.empty()) {
    bring_up_to_date(list, opening);
  }
  return list.releases;
}

void Releases::bring_up_to_date(List& list, const Opening& opening) const {
  RankSet stale(state_.nodes.size());
  std::vector<Release> fresh;
  std::vector<Time> ends;
  for (const NodeIndex node : list.changed) {
    const std::uint32_t rank = state_.nodes[node].rank;
    if (stale.has(rank)) continue;
    stale.set(rank, true);
    if (const auto one = release_of(state_, opening, node, ends)) fresh.push_back(*one);
  }
  list.changed.clear();
  std::erase_if(list.releases,
                [&](const Release& one) { return stale.has(state_.nodes[one.node].rank); });
  sort_releases(state_, fresh);
  std::vector<Release> all;
  all.reserve(list.releases.size() + fresh.size());
  const auto key = [&](const Release& one) {
    return std::tuple(one.from, state_.nodes[one.node].rank);
  };
  std::ranges::merge(list.releases, fresh, std::back_inserter(all), {}, key, key);
  list.releases = std::move(all);
}

void Releases::changed(NodeIndex node) {
  for (auto& [number, list] : lists_) list.changed.push_back(node);
}

std::optional<Time> earliest_possible(const State& state, const Job& job, const Variant& variant,
                                      const Beside& beside) {
  if (job.request->parts.size() != 1) return state.now;
  return Earliest(state, job, variant, beside).run();
}

std::vector<NodeIndex> nodes_free_at(const State& state, const Job& job, const Variant& variant,
                                     const Beside& beside, Time time) {
  RankSet ranks(state.nodes.size());
  for (const Part& part : parts_of(*job.request, variant.size)) {
    for (const Release& release : beside.releases.of(job, variant.flavor, part)) {
      if (release.from > time) break;
      ranks.set(state.nodes[release.node].rank, true);
    }
  }
  for (const auto& [id, end] : beside.leaving) {
    for (const Share& share : state.jobs.at(id).shares) {
      ranks.set(state.nodes[share.node.value].rank, true);
    }
  }
  return nodes_of(state, ranks);
}

}  // namespace artel::sched
