// The planned start of one job: B2.
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "sched/future.h"

namespace artel::sched {

class StartSearch {
 public:
  /// `allowed`: the ways to start it, the best first. Keeps references.
  StartSearch(const State& state, const Job& job, const std::vector<Variant>& allowed,
              const Beside& beside);
  /// The earliest of these times, which are ascending and after now, at which it can be placed;
  /// nullopt: at none.
  std::optional<Planned> run(const std::vector<Time>& times);

 private:
  void advance(Time time);
  [[nodiscard]] std::optional<Time> next_change() const;
  [[nodiscard]] bool may_fit(const Variant& variant) const;
  [[nodiscard]] std::optional<std::vector<Share>> place_at(const Variant& variant, Time time) const;
  [[nodiscard]] const std::deque<Timeline>& timelines(FlavorId flavor) const;

  const State& state_;
  const Job& job_;
  const std::vector<Variant>& allowed_;
  const Beside& beside_;
  std::vector<std::deque<Timeline>> timelines_;  // by flavor that is allowed, of each part
};

}  // namespace artel::sched
