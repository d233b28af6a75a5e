// Why a job waits, for people: the reason of rule Z1 with the numbers of the check that stopped it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "base/units.h"

namespace artel {

/// The order is stored: append only. Names follow the rules of scheduling, Z1.
enum class WaitCode : std::uint8_t {
  kNone,
  kNotConsidered,  // submitted since the last pass
  kHeld,
  kResources,  // not enough free nodes, GPUs, CPUs or memory
  kBackfill,   // could be placed but for a planned start of a job before it
  kNodesDown,  // enough nodes exist, but too few are up
  kRequeued,   // waits to be tried again until a time
  kDependency,
  kBeginTime,
  kFeatures,  // too few nodes exist that it could use
  kArrayThrottle,
  kStrictOrder,  // a job before it in its queue has not started
  kReservation,
  kBackoff,  // was evicted lately
  kQuotaLimit,
  kBorrowLimit,
  kGuaranteeOnly,  // it may not be evicted, so it may not borrow
  kUserLimit,
  kBudget,
  kLicence,
  kLendLimit,
  kProtected,  // those in its way have their minimum run time
  kDeadlineUnreachable,
  kTopology,    // room enough, but not close together
  kPreempting,  // others are leaving to make room for it
  kArrayOrder,  // earlier tasks of its array go first
};
inline constexpr WaitCode kLastWaitCode = WaitCode::kArrayOrder;

/// What was asked, of which so much is there or left, and the limit. In thousandths.
struct WaitNumbers {
  std::string unit;  // "h100 GPUs", "cores", "jobs", "GPU-hours"; empty: no numbers
  std::int64_t asked{};
  std::int64_t have{};
  std::int64_t bound{};

  bool operator==(const WaitNumbers&) const = default;
};

/// The present reason of a waiting job. Unused parts are empty or 0.
struct WaitReason {
  WaitCode code = WaitCode::kNone;
  std::uint32_t nodes_wanted{};
  std::uint32_t nodes_free{};  // that could take a part of it now
  JobId behind;                // for kBackfill: whose planned start is protected; and so on
  std::optional<Time> planned_start;
  std::optional<Time> until;  // for those that wait for a time
  std::string where;          // "team nlp": whose check failed
  WaitNumbers numbers;

  bool operator==(const WaitReason&) const = default;
};

std::string_view wait_code_name(WaitCode code);
/// The sentence for people: "needs 4 nodes, 2 are free; planned start 2026-11-30T02:10:00Z".
std::string describe(const WaitReason& reason);
/// A few words for a column, without times: "2 of 4 nodes free".
std::string brief(const WaitReason& reason);

}  // namespace artel
