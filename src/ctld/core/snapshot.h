// What readers see: an immutable picture of one moment.
#pragma once

#include <memory>
#include <vector>

#include "base/ids.h"
#include "base/units.h"
#include "model/job.h"
#include "model/node.h"

namespace artel::ctld {

/// Jobs that are not final, in scheduling order: placed ones first, then by priority and submit
/// order.
struct Snapshot {
  Time now;
  std::vector<std::shared_ptr<const Job>> jobs;
  std::vector<Node> nodes;

  /// The job, or null where it is not here (unknown or final).
  [[nodiscard]] std::shared_ptr<const Job> find(JobId id) const;
};

}  // namespace artel::ctld
