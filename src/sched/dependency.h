// What a job may wait for: other jobs (rules D) and the slots of its array (rules J).
//
// The core keeps a job until it ends and then forgets it, so what ended before a dependency on it
// was stated is told by the driver, which has the records.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "base/ids.h"

namespace artel::sched {

/// The array that a task belongs to: any number that the driver gives to one array only.
using ArrayId = StrongId<struct ArrayIdTag, std::uint64_t>;

/// D1.
enum class DependencyKind : std::uint8_t { kAfter, kAfterAny, kAfterOk, kAfterNotOk, kSingleton };

/// What the driver knows of an end; whether the job has ever started the core knows.
enum class Ended : std::uint8_t { kCompleted, kOtherwise };

/// How a job, or all tasks of an array together (D5), ended.
enum class Outcome : std::uint8_t {
  kCompleted,
  kFailed,        // has started once and is over in any other state
  kNeverStarted,  // over before its first start; of an array: one of its tasks was
};

/// One of the things a job waits for. kSingleton names nobody: `on` is not looked at.
struct Dependency {
  DependencyKind kind = DependencyKind::kAfter;
  std::variant<JobId, ArrayId> on;
  /// Set if what is named was over before the submit: the core has forgotten it.
  std::optional<Outcome> was;

  bool operator==(const Dependency&) const = default;
};

/// D2: all of the list must be met, or any of it. Empty: nothing to wait for.
struct Dependencies {
  std::vector<Dependency> list;
  bool any_is_enough = false;
};

/// J2. An array that was never told of has no throttle.
struct ArrayFacts {
  ArrayId id;
  /// So many tasks may hold something at once; 0 pauses the array; nullopt: any number.
  std::optional<std::uint32_t> throttle;
  /// The worst end of those tasks that were over before the core was told of the others, after a
  /// restart of the driver (D5).
  std::optional<Outcome> was;
};

}  // namespace artel::sched
