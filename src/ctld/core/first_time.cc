#include "ctld/core/first_time.h"

#include <algorithm>

namespace artel::ctld {

Time first_time(const StoredState& stored, Time wall) {
  constexpr std::chrono::hours kMostAhead{1};
  Time latest = stored.latest;
  // The end of a part is no event of its own.
  for (const Job& job : stored.jobs) {
    if (!job.attempt) continue;
    for (const NodePart& part : job.attempt->parts) {
      if (part.end) latest = std::max(latest, part.end->ended);
    }
  }
  return latest > wall + kMostAhead ? wall : std::max(latest, wall);
}

}  // namespace artel::ctld
