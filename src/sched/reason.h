// Why a job waits: the first check of Z1 that stopped it, with the numbers of that check (Z2).
//
// Small, because each pending job has one.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "sched/facts.h"

namespace artel::sched {

/// Z1, in its order. kNone: looked at by no pass yet, or not waiting.
enum class Reason : std::uint8_t {
  kNone,
  kHeld,
  kDependency,
  kBeginTime,
  kFeatures,
  kNodesDown,
  kRequeued,
  kArrayThrottle,
  kStrictOrder,
  kReservation,
  kBackoff,
  kQuotaLimit,
  kBorrowLimit,
  kGuaranteeOnly,
  kUserLimit,
  kBudget,
  kLicence,
  kLendLimit,
  kProtected,
  kDeadlineUnreachable,
  kBackfill,
  kTopology,
  kResources,
  kPreempting,
};
std::string_view reason_name(Reason reason);

/// What the numbers of a reason count.
enum class Counted : std::uint8_t {
  kNothing,
  kNodes,     // different nodes that take a part of the job
  kGpus,      // thousandths of devices; Shortage::flavor
  kCores,     // of nodes
  kJobs,      // of the user
  kGpuHours,  // thousandths of GPU-hours
  kLicences,  // Shortage::licence
};

/// Of what there is too little. For a limit: `bound` is the limit and `have` what is left of it
/// (negative where it was lowered since); `enough` is the limit with which the check would pass.
/// For nodes: `have` of them could take the job now, `bound` if nothing ran there; `enough` is how
/// many it takes.
struct Shortage {
  Counted counted = Counted::kNothing;
  FlavorId flavor;
  LicenceId licence;
  std::int64_t asked{};
  std::int64_t have{};
  std::int64_t bound{};
  std::int64_t enough{};

  bool operator==(const Shortage&) const = default;
};

/// Why a job waits. What a reason does not speak of is left as it is here.
struct Wait {
  Reason reason = Reason::kNone;
  /// The node of the tree whose check failed, else 0. LendLimit: whose idle guarantee is the
  /// largest that nobody else may use.
  QuotaId quota;
  /// Reservation: which; 0: none.
  ReservationId reservation;
  /// StrictOrder: the job before it. Backfill: whose planned start is kept. Protected: whose
  /// minimum run time ends last. Preempting: who has to leave and may take longest. 0: nobody.
  JobId behind;
  Shortage shortage;
  /// Protected, Backoff, Reservation, Preempting, BeginTime, Requeued: until when at the latest.
  /// DeadlineUnreachable: before that it cannot start as far as the limits say, which is after its
  /// latest start.
  std::optional<Time> until;
  std::optional<Time> planned_start;  // B2

  bool operator==(const Wait&) const = default;
};

}  // namespace artel::sched
