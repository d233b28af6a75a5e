// One run of one task, and its parts on the nodes.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/units.h"
#include "model/ending.h"
#include "model/resources.h"

namespace artel {

/// Names an attempt everywhere: stores, messages, files, processes.
struct AttemptKey {
  JobId job;
  TaskIndex task;
  AttemptNo attempt;

  auto operator<=>(const AttemptKey&) const = default;
};

/// "17.0.1"
std::string format_key(const AttemptKey& key);
std::optional<AttemptKey> parse_key(std::string_view text);

/// State of an attempt on one node. The order is stored: append only.
enum class NodePhase : std::uint8_t {
  kPreparing,  // told to prepare, or about to be
  kReady,      // waits for the start
  kStarting,   // told to start, or about to be
  kRunning,
  kEnding,  // told to end, or about to be
  kEnded,   // nothing of it is left on the node
};

/// What a node reports when nothing of the attempt is left on it.
struct NodeEnd {
  Time started;            // first process; epoch where none was started
  Time ended;              // last process gone
  Cause cause;             // first cause of the gang's end as far as the node knows it
  bool is_origin{};        // the cause happened on this node
  std::uint64_t cpu_ms{};  // user + system time of all processes
  Bytes max_rss;
  bool leftovers{};  // processes that cannot be killed are still there: the node needs a reboot

  bool operator==(const NodeEnd&) const = default;
};

std::string_view node_phase_name(NodePhase phase);

}  // namespace artel

template <>
struct std::hash<artel::AttemptKey> {
  std::size_t operator()(const artel::AttemptKey& key) const noexcept {
    return std::hash<std::uint64_t>{}((key.job.value << 20U) ^
                                      (std::uint64_t{key.task.value} << 8U) ^ key.attempt.value);
  }
};
