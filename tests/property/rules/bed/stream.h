// Random clusters, quota trees and streams of jobs, from one seed each.
#pragma once

#include <cstdint>

#include "sim/scenario/case.h"

namespace artel::rules {

/// What a stream may contain. The default: everything with one GPU type.
enum class Kind : std::uint8_t {
  kMixed,  // teams, queues, limits, part nodes, topology, priorities, failures, changed guarantees
  kPlain,  // whole nodes, guarantees within the capacity, nothing that spoils a shape: rule I3
  kSingles,   // the same with one-node jobs of equal priority: rules V4, O3
  kOneTeam,   // one team, one user, one priority, no failures, honest limits: rule B3
  kReserved,  // reservations and maintenance over ordinary work
  kFair,      // fair-share preemption between teams without guarantees
  kRich,      // begin times, deadlines, dependencies, arrays, features, cores, shares, spares
};

inline constexpr Kind kKinds[] = {Kind::kMixed,    Kind::kPlain, Kind::kSingles, Kind::kOneTeam,
                                  Kind::kReserved, Kind::kFair,  Kind::kRich};

/// Whole nodes, guarantees that the cluster can keep, no limits.
constexpr bool is_plain(Kind kind) { return kind == Kind::kPlain || kind == Kind::kSingles; }

/// The same seed gives the same stream.
scenario::Case random_stream(Kind kind, std::uint64_t seed);

/// When the last job has surely ended.
scenario::Minute horizon(const scenario::Case& stream);

}  // namespace artel::rules
