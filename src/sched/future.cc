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

/// The order of releases: by time, then by name.
auto order_of(const State& state) {
  return [&](const Release& one) { return std::tuple(one.from, state.nodes[one.node].rank); };
}

/// Ascending: when work, plans and reservations on the node begin or end, from its release on.
std::vector<Time> changes_on(const State& state, const PlanBook& plans, const Leaving* leaving,
                             const Release& release) {
  std::vector<Time> changes;
  ends_of_work(state, release.node, leaving, changes);
  changes.push_back(release.from);
  for (const auto& [plan, share] : plans.on(release.node)) {
    changes.push_back(plan->start);
    if (plan->end) changes.push_back(*plan->end);
  }
  if (state.nodes[release.node].reservations > 0) {
    for (const Reservation& one : state.reservations) {
      changes.push_back(one.facts.start);
      changes.push_back(one.facts.end);
    }
  }
  std::erase_if(changes, [&](Time time) { return time < release.from; });
  std::ranges::sort(changes);
  const auto rest = std::ranges::unique(changes);
  changes.erase(rest.begin(), rest.end());
  return changes;
}

}  // namespace

Releases::List& Releases::of(const Job& job, FlavorId flavor, const Part& part) {
  const Opening& opening = state_.openings.of(state_, job, flavor, part);
  const auto [known, is_new] = lists_.try_emplace(opening.number);
  List& list = known->second;
  if (is_new) {
    list.ask = opening.ask;
    list.gaps.resize(state_.nodes.size());
    std::vector<Time> ends;
    for (NodeIndex node = 0; node < state_.nodes.size(); ++node) {
      if (const auto one = release_of(state_, opening, node, ends)) list.by_time.push_back(*one);
    }
    std::ranges::sort(list.by_time, {}, order_of(state_));
  } else if (!list.changed.empty()) {
    bring_up_to_date(list, opening);
  }
  return list;
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
  std::erase_if(list.by_time,
                [&](const Release& one) { return stale.has(state_.nodes[one.node].rank); });
  std::ranges::sort(fresh, {}, order_of(state_));
  std::vector<Release> all;
  all.reserve(list.by_time.size() + fresh.size());
  std::ranges::merge(list.by_time, fresh, std::back_inserter(all), {}, order_of(state_),
                     order_of(state_));
  list.by_time = std::move(all);
}

void Releases::trim() {
  constexpr std::size_t kMostLists = 128;
  if (lists_.size() > kMostLists) lists_.clear();
}

void Releases::changed(NodeIndex node) {
  for (auto& [number, list] : lists_) {
    list.changed.push_back(node);
    list.gaps[node].reset();
  }
}

void Releases::planned(NodeIndex node) {
  for (auto& [number, list] : lists_) list.gaps[node].reset();
}

const std::vector<Gap>& Releases::gaps(List& list, const Release& release) const {
  auto& known = list.gaps[release.node];
  if (!known) known = find_gaps(list.ask, release);
  return *known;
}

/// Between two changes nothing changes, so one look at each is enough.
std::vector<Gap> Releases::find_gaps(const Ask& ask, const Release& release) const {
  std::vector<Gap> gaps;
  bool is_open = false;
  for (const Time time : changes_on(state_, plans_, nullptr, release)) {
    const Rooms rooms(state_, {.from = time, .end = time + Duration{1}, .sharer = ask.sharer},
                      &plans_);
    const bool fits = fits_on(state_, state_.nodes[release.node], {ask.queue, ask.exclusive},
                              ask.part, rooms.at(release.node));
    if (fits && !is_open) gaps.push_back({.from = time, .until = std::nullopt});
    if (!fits && is_open) gaps.back().until = time;
    is_open = fits;
  }
  return gaps;
}

Rooms rooms_at(const State& state, const Job& job, const Beside& beside, Time time) {
  return {state,
          {.from = time,
           .end = end_of_run(job, time),
           .sharer = sharer_of(state, job),
           .leaving = &beside.leaving},
          &beside.releases.plans()};
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
      if (!node.healthy || !admits(job_, share.node.value)) continue;
      watch_by_looking({state_.now, share.node.value});
    }
  }
}

void Timeline::advance(Time time) {
  const std::vector<Release>& by_time = releases_.by_time;
  for (; next_release_ < by_time.size() && by_time[next_release_].from <= time; ++next_release_) {
    const Release& release = by_time[next_release_];
    const Node& node = state_.nodes[release.node];
    if (!admits(job_, release.node) || leaves_early_.has(node.rank)) continue;
    if (is_plain(release.node)) {
      set(release.node, true);
    } else if (node.shared) {
      watch_by_looking(release);
    } else {
      watch_gaps(release);
    }
  }
  while (!changes_.empty() && changes_.front().time <= time) {
    std::ranges::pop_heap(changes_, std::greater{});
    set(changes_.back().node, changes_.back().fits);
    changes_.pop_back();
  }
}

std::optional<Time> Timeline::next_change() const {
  std::optional<Time> next;
  if (next_release_ < releases_.by_time.size()) next = releases_.by_time[next_release_].from;
  if (!changes_.empty() && (!next || changes_.front().time < *next)) next = changes_.front().time;
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
  return state_.nodes[node].reservations == 0 && beside_.releases.plans().on(node).empty();
}

bool Timeline::fits_at(NodeIndex node, Time time) const {
  const Rooms rooms = rooms_at(state_, job_, beside_, time);
  return is_candidate(state_, job_, flavor_, part_, node, rooms.at(node));
}

/// It may start in a gap as long as what is left of the gap is long enough.
void Timeline::watch_gaps(const Release& release) {
  const auto& limit = job_.request->limit;
  for (const Gap& gap : beside_.releases.gaps(releases_, release)) {
    if (gap.until && (!limit || gap.from + *limit > *gap.until)) continue;
    expect(gap.from, release.node, true);
    if (gap.until) expect(*gap.until - *limit + Duration{1}, release.node, false);
  }
}

/// Something begins or ends there, or gets near enough to fall into the job's time.
void Timeline::watch_by_looking(const Release& release) {
  std::vector<Time> looks = changes_on(state_, beside_.releases.plans(), &beside_.leaving, release);
  if (const auto& limit = job_.request->limit) {
    const std::size_t count = looks.size();
    for (std::size_t i = 0; i < count; ++i) {
      const Time last = looks[i] - *limit + Duration{1};
      if (last > release.from) looks.push_back(last);
    }
  }
  for (const Time time : looks) expect(time, release.node, fits_at(release.node, time));
}

void Timeline::expect(Time time, NodeIndex node, bool fits) {
  changes_.push_back({.time = time, .node = node, .fits = fits});
  std::ranges::push_heap(changes_, std::greater{});
}

void Timeline::set(NodeIndex node, bool fits) {
  const Node& on = state_.nodes[node];
  if (fits_.has(on.rank) == fits) return;
  fits_.set(on.rank, fits);
  count_ += fits ? 1U : -1U;
  in_leaf_[on.leaf] += fits ? 1U : -1U;
}

}  // namespace artel::sched
