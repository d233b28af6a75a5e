// What readers see: an immutable picture of one moment.
#pragma once

#include <memory>
#include <vector>

#include "base/ids.h"
#include "base/units.h"
#include "model/job.h"
#include "model/node.h"

namespace artel::ctld {

struct Snapshot {
  Time now;
  std::vector<std::shared_ptr<const Job>> jobs;    // not final, ascending id; no arrays
  std::vector<std::shared_ptr<const Job>> arrays;  // likewise, as a whole
  std::vector<std::shared_ptr<const Job>>
      recent;               // became final lately and may not be in the store yet
  std::vector<Node> nodes;  // indexed by NodeId

  /// The job, the array, or the task of one; null where it is not here (unknown, or final for a
  /// while).
  [[nodiscard]] std::shared_ptr<const Job> find(JobId id) const;
  /// The array that is not final, or null.
  [[nodiscard]] std::shared_ptr<const Job> find_array(JobId id) const;
};

/// The jobs that are not final, and arrays of which something waits, as people want them: placed
/// ones first, then by priority, submit time and id.
std::vector<std::shared_ptr<const Job>> in_scheduling_order(const Snapshot& snapshot);

}  // namespace artel::ctld
