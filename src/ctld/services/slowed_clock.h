// The controller's time where its store is ahead of the wall clock: it never goes back, and gets
// back to the wall clock by going at half its speed.
#pragma once

#include <algorithm>

#include "base/units.h"

namespace artel::ctld {

class SlowedClock {
 public:
  /// Shows `begin` now, while the wall clock shows `ahead` less (not negative).
  SlowedClock(Time begin, Duration ahead) : begin_(begin), ahead_(ahead) {}

  /// What it shows so long after its begin.
  [[nodiscard]] Time after(Duration elapsed) const {
    return begin_ + std::max(elapsed / 2, elapsed - ahead_);
  }
  /// How long after its begin it first shows that time.
  [[nodiscard]] Duration until(Time time) const {
    const Duration shown = time - begin_;
    return std::min(2 * shown, shown + ahead_);
  }

 private:
  Time begin_;
  Duration ahead_;
};

}  // namespace artel::ctld
