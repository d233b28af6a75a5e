// The core's reasons in the words of the model.
#include <algorithm>
#include <array>

#include "ctld/core/layout.h"

namespace artel::ctld {
namespace {

using sched::Counted;
using sched::Reason;

constexpr std::int64_t kThousand = 1000;

WaitCode code_of(Reason reason) {
  switch (reason) {
    case Reason::kNone:
      return WaitCode::kNotConsidered;
    case Reason::kHeld:
      return WaitCode::kHeld;
    case Reason::kDependency:
      return WaitCode::kDependency;
    case Reason::kBeginTime:
      return WaitCode::kBeginTime;
    case Reason::kFeatures:
      return WaitCode::kFeatures;
    case Reason::kNodesDown:
      return WaitCode::kNodesDown;
    case Reason::kRequeued:
      return WaitCode::kRequeued;
    case Reason::kArrayThrottle:
      return WaitCode::kArrayThrottle;
    case Reason::kStrictOrder:
      return WaitCode::kStrictOrder;
    case Reason::kReservation:
      return WaitCode::kReservation;
    case Reason::kBackoff:
      return WaitCode::kBackoff;
    case Reason::kQuotaLimit:
      return WaitCode::kQuotaLimit;
    case Reason::kBorrowLimit:
      return WaitCode::kBorrowLimit;
    case Reason::kGuaranteeOnly:
      return WaitCode::kGuaranteeOnly;
    case Reason::kUserLimit:
      return WaitCode::kUserLimit;
    case Reason::kBudget:
      return WaitCode::kBudget;
    case Reason::kLicence:
      return WaitCode::kLicence;
    case Reason::kLendLimit:
      return WaitCode::kLendLimit;
    case Reason::kProtected:
      return WaitCode::kProtected;
    case Reason::kDeadlineUnreachable:
      return WaitCode::kDeadlineUnreachable;
    case Reason::kBackfill:
      return WaitCode::kBackfill;
    case Reason::kTopology:
      return WaitCode::kTopology;
    case Reason::kResources:
      return WaitCode::kResources;
    case Reason::kPreempting:
      return WaitCode::kPreempting;
  }
  return WaitCode::kNotConsidered;
}

std::uint32_t node_count(std::int64_t count) {
  return static_cast<std::uint32_t>(std::max<std::int64_t>(count, 0));
}

}  // namespace

WaitNumbers Layout::numbers(const sched::Shortage& shortage) const {
  // GPUs and their hours come in thousandths, the others as they are.
  const auto all = [&](std::string unit, std::int64_t times) {
    return WaitNumbers{.unit = std::move(unit),
                       .asked = shortage.asked * times,
                       .have = shortage.have * times,
                       .bound = shortage.bound * times};
  };
  switch (shortage.counted) {
    case Counted::kGpus:
      return all(setup_.flavors.at(shortage.flavor.value) + " GPUs", 1);
    case Counted::kGpuHours:
      return all("GPU-hours", 1);
    case Counted::kCores:
      return all("cores", kThousand);
    case Counted::kJobs:
      return all("jobs", kThousand);
    case Counted::kLicences:
      return all("licences", kThousand);
    case Counted::kNothing:
    case Counted::kNodes:
      break;
  }
  return {};
}

WaitReason Layout::reason(const sched::Wait& wait, std::uint32_t nodes) const {
  WaitReason out{.code = code_of(wait.reason),
                 .nodes_wanted = nodes,
                 .behind = wait.behind,
                 .planned_start = wait.planned_start,
                 .until = wait.until,
                 .where = {},
                 .numbers = numbers(wait.shortage)};
  if (wait.shortage.counted == Counted::kNodes) {
    out.nodes_wanted = node_count(wait.shortage.enough);
    out.nodes_free =
        node_count(wait.reason == Reason::kFeatures ? wait.shortage.bound : wait.shortage.have);
  }
  if (wait.quota.value != 0) out.where = label(wait.quota);
  return out;
}

}  // namespace artel::ctld
