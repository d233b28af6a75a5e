// Ids as types: a job id cannot be passed where a node id is meant.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace artel {

/// A number that only compares with its own kind. `Tag` is never defined.
template <typename Tag, typename Rep>
struct StrongId {
  Rep value{};

  constexpr StrongId() = default;
  constexpr explicit StrongId(Rep number) : value(number) {}
  auto operator<=>(const StrongId&) const = default;
};

/// A job's number; unique for the life of the cluster, starts at 1.
using JobId = StrongId<struct JobIdTag, std::uint64_t>;
/// Index of a task inside its job (array); 0 for a job of one task.
using TaskIndex = StrongId<struct TaskIndexTag, std::uint32_t>;
/// Number of a run of a task; the first is 1.
using AttemptNo = StrongId<struct AttemptNoTag, std::uint32_t>;
/// Index of a node in the configuration's order; never reused while a controller runs.
using NodeId = StrongId<struct NodeIdTag, std::uint32_t>;
/// Ties an answer to the request that asked for it; local to one controller process.
using RequestId = StrongId<struct RequestIdTag, std::uint64_t>;
/// One connection of an agent; local to one controller process, never reused.
using SessionId = StrongId<struct SessionIdTag, std::uint64_t>;
/// Number of a start of the controller on its store; fences older ones.
using Incarnation = StrongId<struct IncarnationTag, std::uint64_t>;

}  // namespace artel

template <typename Tag, typename Rep>
struct std::hash<artel::StrongId<Tag, Rep>> {
  std::size_t operator()(artel::StrongId<Tag, Rep> id) const noexcept {
    return std::hash<Rep>{}(id.value);
  }
};
