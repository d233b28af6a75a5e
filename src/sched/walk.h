// One walk over the pending jobs: section 5 of RULES.md.
#pragma once

#include <memory>
#include <vector>

#include "sched/state.h"

namespace artel::sched {

/// Nobody else changes the state until the walk is done.
class Walk {
 public:
  /// Keeps a reference.
  explicit Walk(State& state);
  ~Walk();
  Walk(const Walk&) = delete;
  Walk& operator=(const Walk&) = delete;

  /// Treats one job after another until all are treated or `may_go_on` (empty: always) says no.
  /// Returns the starts, signals and claims made by that.
  [[nodiscard]] std::vector<Decision> go_on(const MayGoOn& may_go_on);
  /// Every pending job has its reason.
  [[nodiscard]] bool is_done() const;

 private:
  class Steps;
  std::unique_ptr<Steps> steps_;
};

}  // namespace artel::sched
