#include "sched/future.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <tuple>

#include "sched/screen.h"

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

/// By time, then by name.
void sort_releases(const State& state, std::vector<Release>& releases) {
  std::ranges::sort(releases, {}, [&](const Release& one) {
    return std::tuple(one.from, state.nodes[one.node].rank);
  });
}

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

Timeline::Timeline(const State& state, const Job& job, FlavorId flavor, const Part& part,
                   const Beside& beside)
    : state_(state),
      job_(job),
      flavor_(flavor),
      part_(part),
      beside_(beside),
      releases_(beside.releases.of(job, flavor, part)),
      leaves_early_(state.nodes.size()),
      fits_(state.nodes.size()),
      in_leaf_(state.leaves.size()) {
  add_leaving();
  advance(state.now);
}

/// Nodes of those who leave before their limit: their releases do not know of it.
void Timeline::add_leaving() {
  for (const auto& [id, time] : beside_.leaving) {
    for (const Share& share : state_.jobs.at(id).shares) {
      const Node& node = state_.nodes[share.node.value];
      if (node.flavor != flavor_ || leaves_early_.has(node.rank)) continue;
      leaves_early_.set(node.rank, true);
      if (node.healthy && admits(job_, share.node.value)) watch({state_.now, share.node.value});
    }
  }
}

void Timeline::advance(Time time) {
  for (; next_release_ < releases_.size(); ++next_release_) {
    const Release& release = releases_[next_release_];
    if (release.from > time) break;
    if (!admits(job_, release.node)) continue;
    if (leaves_early_.has(state_.nodes[release.node].rank)) continue;
    if (is_plain(release.node)) {
      set(release.node, true);
    } else {
      watch(release);
    }
  }
  while (!queue_.empty() && queue_.front().first <= time) {
    std::ranges::pop_heap(queue_, std::greater{});
    Busy& busy = *queue_.back().second;
    queue_.pop_back();
    look_at(busy, time);
  }
}

std::optional<Time> Timeline::next_change() const {
  std::optional<Time> next;
  if (next_release_ < releases_.size()) next = releases_[next_release_].from;
  if (!queue_.empty() && (!next || queue_.front().first < *next)) next = queue_.front().first;
  return next;
}

void Timeline::add_to(RankSet& nodes) const {
  fits_.for_each([&](std::uint32_t rank) { nodes.set(rank, true); });
}

std::int64_t Timeline::most() const {
  const Request& request = *job_.request;
  if (request.locality == Locality::kAny && request.segment == 1) return count_;
  return most_in_domain(state_, in_leaf_, request);
}

/// Nothing is there but the work that its release knows of.
bool Timeline::is_plain(NodeIndex node) const {
  return state_.nodes[node].reservations == 0 && beside_.plans.on(node).empty();
}

bool Timeline::fits_at(NodeIndex node, Time time) const {
  const Rooms rooms(state_,
                    {.from = time,
                     .end = end_of_run(job_, time),
                     .sharer = sharer_of(state_, job_),
                     .leaving = &beside_.leaving},
                    &beside_.plans);
  return is_candidate(state_, job_, flavor_, part_, node, rooms.at(node));
}

/// Something ends, or a start gets near enough to fall into the job's time.
std::vector<Time> Timeline::changes_of(const Release& release) const {
  std::vector<Time> changes;
  all_ends(state_, release.node, beside_, changes);
  changes.push_back(release.from);
  const auto add_start = [&](Time start) {
    if (job_.request->limit) changes.push_back(start - *job_.request->limit + Duration{1});
  };
  for (const PlannedHere& here : beside_.plans.on(release.node)) add_start(here.plan->start);
  if (state_.nodes[release.node].reservations > 0) {
    for (const Reservation& one : state_.reservations) add_start(one.facts.start);
  }
  std::erase_if(changes, [&](Time time) { return time < release.from; });
  std::ranges::sort(changes);
  return changes;
}

void Timeline::watch(const Release& release) {
  Busy& busy = busy_.emplace_back(Busy{.node = release.node, .changes = changes_of(release)});
  queue_.emplace_back(busy.changes.front(), &busy);
  std::ranges::push_heap(queue_, std::greater{});
}

void Timeline::look_at(Busy& busy, Time time) {
  while (busy.next < busy.changes.size() && busy.changes[busy.next] <= time) ++busy.next;
  set(busy.node, fits_at(busy.node, time));
  if (busy.next == busy.changes.size()) return;
  queue_.emplace_back(busy.changes[busy.next], &busy);
  std::ranges::push_heap(queue_, std::greater{});
}

void Timeline::set(NodeIndex node, bool fits) {
  const Node& on = state_.nodes[node];
  if (fits_.has(on.rank) == fits) return;
  fits_.set(on.rank, fits);
  count_ += fits ? 1U : -1U;
  in_leaf_[on.leaf] += fits ? 1U : -1U;
}

}  // namespace artel::sched
