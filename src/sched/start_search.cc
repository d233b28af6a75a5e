#include "sched/start_search.h"

#include <algorithm>

namespace artel::sched {

StartSearch::StartSearch(const State& state, const Job& job, const std::vector<Variant>& allowed,
                         const Beside& beside)
    : state_(state), job_(job), allowed_(allowed), beside_(beside) {
  for (const Variant& variant : allowed) {
    const bool is_known = std::ranges::any_of(timelines_, [&](const auto& of_parts) {
      return of_parts.front().flavor() == variant.flavor;
    });
    if (is_known) continue;
    std::deque<Timeline>& of_parts = timelines_.emplace_back();
    for (const Part& part : job.request->parts) {
      of_parts.emplace_back(state, job, variant.flavor, part, beside);
    }
  }
}

std::optional<Planned> StartSearch::run(const std::vector<Time>& times) {
  for (auto time = times.begin(); time != times.end();) {
    advance(*time);
    bool may_fit_any = false;
    for (const Variant& variant : allowed_) {
      if (!may_fit(variant)) continue;
      may_fit_any = true;
      if (auto shares = place_at(variant, *time)) {
        return Planned{.job = &job_,
                       .start = *time,
                       .end = end_of_run(job_, *time),
                       .shares = std::move(*shares)};
      }
    }
    ++time;
    // Enough nodes for each part are not always a place for all: which of them a part gets (P3)
    // may be different after any end.
    if (may_fit_any) continue;
    const auto next = next_change();
    if (!next) return std::nullopt;
    time = std::max(time, std::ranges::lower_bound(times, *next));
  }
  return std::nullopt;
}

void StartSearch::advance(Time time) {
  for (auto& of_parts : timelines_) {
    for (Timeline& timeline : of_parts) timeline.advance(time);
  }
}

std::optional<Time> StartSearch::next_change() const {
  std::optional<Time> next;
  for (const auto& of_parts : timelines_) {
    for (const Timeline& timeline : of_parts) {
      const auto change = timeline.next_change();
      if (change && (!next || *change < *next)) next = change;
    }
  }
  return next;
}

const std::deque<Timeline>& StartSearch::timelines(FlavorId flavor) const {
  return *std::ranges::find(timelines_, flavor,
                            [](const auto& of_parts) { return of_parts.front().flavor(); });
}

bool StartSearch::may_fit(const Variant& variant) const {
  const std::deque<Timeline>& of_parts = timelines(variant.flavor);
  const std::vector<Part> parts = parts_of(*job_.request, variant.size);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (of_parts[i].most() < parts[i].nodes) return false;
  }
  return true;
}

std::optional<std::vector<Share>> StartSearch::place_at(const Variant& variant, Time time) const {
  RankSet ranks(state_.nodes.size());
  for (const Timeline& timeline : timelines(variant.flavor)) timeline.add_to(ranks);
  const std::vector<NodeIndex> among = nodes_of(state_, ranks);
  const Rooms rooms = rooms_at(state_, job_, beside_, time);
  return place(state_, job_, variant, rooms, {.domain = {}, .among = &among});
}

}  // namespace artel::sched
