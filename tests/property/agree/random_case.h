// Random small cases, from one seed each: clusters, quota trees and timelines.
#pragma once

#include <cstdint>

#include "sim/scenario/case.h"

namespace artel::agree {

/// What a case may contain. Each is a family of its own so that a rule is met often.
enum class Family : std::uint8_t {
  kQuota,         // teams, cohorts, queues with limits, borrowing, lending
  kEviction,      // priorities, grace, minimum run times, back-off, checkpoints
  kPlacement,     // leaves, blocks, segments, part nodes, components, exclusive, flavors
  kFair,          // fair-share preemption, weights, histories, users
  kReservations,  // advance reservations, maintenance, flex
  kFailures,      // nodes that fail and come back, changed quotas, cancels
  kMixed,
  kShares,    // shares of GPUs, whole devices beside them, cores and memory by share, whole nodes
  kFeatures,  // features and lists of nodes, refusals, failures
  kSpares,    // spares of jobs, queues and teams, failures
  kTimes,     // held jobs, begin times, deadlines, dependencies, arrays, licenses
  kLarge      // evictions and placement on more nodes, with more jobs and larger components
};
inline constexpr Family kFamilies[] = {Family::kQuota,  Family::kEviction,     Family::kPlacement,
                                       Family::kFair,   Family::kReservations, Family::kFailures,
                                       Family::kMixed,  Family::kShares,       Family::kFeatures,
                                       Family::kSpares, Family::kTimes,        Family::kLarge};

/// The same seed gives the same case.
scenario::Case random_case(Family family, std::uint64_t seed);

}  // namespace artel::agree
