// What the clients of the simulated world ask for, and what must have become of it in the end.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/ids.h"
#include "base/units.h"
#include "ctld/core/controller.h"
#include "model/job_spec.h"
#include "sim/model_store.h"
#include "sim/random.h"
#include "sim/truth.h"
#include "sim/world.h"

namespace artel::sim {

/// A submission that its client repeats until it is acknowledged.
struct Order {
  JobSpec spec;
  std::optional<JobId> acknowledged;
  bool cancelled = false;  // wholly or in part
};

/// Any job; some are arrays.
JobSpec any_job(std::uint32_t index, const WorldOptions& options, Random& random);
/// The job, or some of the tasks of the array.
ctld::JobTarget any_part(const Order& order, Random& random);
/// The job's number and, of an array, those of its tasks: [first, last].
std::pair<JobId, JobId> numbers(const Order& order);

/// S1 and liveness: each order was acknowledged and became one job that has ended; each task of an
/// array ended once, by a run or by a cancel.
void check_orders(const std::vector<Order>& orders, const ModelStore& store, Truth& truth);

}  // namespace artel::sim
