// How much of a pool is free from when on, as far as it is planned.
#pragma once

#include <vector>

#include "sim/trace/workload.h"

namespace artel::trace {

/// Steps of free units over time; the last one lasts for ever.
class Profile {
 public:
  explicit Profile(Milli capacity) : steps_{{0, capacity}} {}

  /// Everything free from `now` on.
  void reset(Seconds now, Milli capacity);
  /// Forgets what was before `now`.
  void advance(Seconds now);
  /// The earliest time from `from` on at which `size` is free for `length`.
  [[nodiscard]] Seconds earliest(Seconds from, Seconds length, Milli size) const;
  /// Requires that it is free.
  void take(Seconds from, Seconds to, Milli size);

 private:
  struct Step {
    Seconds from{};
    Milli free{};
  };
  /// The index of the step that begins at `at`; one is made there if need be.
  std::size_t cut(Seconds at);

  std::vector<Step> steps_;
};

}  // namespace artel::trace
