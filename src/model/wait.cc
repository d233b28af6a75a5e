#include "model/wait.h"

#include <fmt/format.h>

#include <array>
#include <cstddef>

#include "base/text.h"

namespace artel {
namespace {

constexpr std::array<std::string_view, 26> kNames = {"None",
                                                     "NotConsidered",
                                                     "Held",
                                                     "Resources",
                                                     "Backfill",
                                                     "NodesDown",
                                                     "Requeued",
                                                     "Dependency",
                                                     "BeginTime",
                                                     "Features",
                                                     "ArrayThrottle",
                                                     "StrictOrder",
                                                     "Reservation",
                                                     "Backoff",
                                                     "QuotaLimit",
                                                     "BorrowLimit",
                                                     "GuaranteeOnly",
                                                     "UserLimit",
                                                     "Budget",
                                                     "License",
                                                     "LendLimit",
                                                     "Protected",
                                                     "DeadlineUnreachable",
                                                     "Topology",
                                                     "Preempting",
                                                     "ArrayOrder"};
static_assert(kNames.size() == static_cast<std::size_t>(kLastWaitCode) + 1);

/// 2500 as "2.5".
std::string amount(std::int64_t thousandths) {
  constexpr double kThousand = 1000;
  return fmt::format("{:g}", static_cast<double>(thousandths) / kThousand);
}

/// "asks 16 h100 GPUs, 8 of 64 left"
std::string numbers(const WaitNumbers& of) {
  if (of.unit.empty()) return "";
  return fmt::format(": asks {} {}, {} of {} left", amount(of.asked), of.unit, amount(of.have),
                     amount(of.bound));
}

std::string plural(std::uint32_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string behind(const WaitReason& reason, std::string_view what) {
  return reason.behind.value == 0 ? std::string(what)
                                  : fmt::format("{} of job {}", what, reason.behind.value);
}

/// Reasons that a quota check gives, as "what of where".
std::string_view limit_words(WaitCode code) {
  switch (code) {
    case WaitCode::kQuotaLimit:
      return "the limit";
    case WaitCode::kBorrowLimit:
      return "what may be borrowed by";
    case WaitCode::kGuaranteeOnly:
      return "not preemptible, so only inside the guarantee";
    case WaitCode::kUserLimit:
      return "the limit per user";
    case WaitCode::kBudget:
      return "the budget";
    case WaitCode::kLicence:
      return "licences";
    case WaitCode::kLendLimit:
      return "what others do not lend";
    default:
      return {};
  }
}

std::string limit_sentence(const WaitReason& reason) {
  const std::string_view words = limit_words(reason.code);
  const bool is_by = words.ends_with(" by");
  const std::string where =
      reason.where.empty() ? "" : fmt::format("{}{}", is_by ? " " : " of ", reason.where);
  return fmt::format("{}{}{}", words, where, numbers(reason.numbers));
}

std::string sentence(const WaitReason& reason) {
  const std::uint32_t wanted = reason.nodes_wanted;
  switch (reason.code) {
    case WaitCode::kNone:
      return "";
    case WaitCode::kNotConsidered:
      return "waits for the next scheduling pass";
    case WaitCode::kHeld:
      return "held";
    case WaitCode::kResources:
      return fmt::format("needs {}, {} free", plural(wanted, "node"), reason.nodes_free);
    case WaitCode::kBackfill:
      return behind(reason, "would delay the planned start");
    case WaitCode::kNodesDown:
      return fmt::format("needs {}, too many are down or drained ({} up)", plural(wanted, "node"),
                         reason.nodes_free);
    case WaitCode::kRequeued:
      return "requeued, waits to be tried again";
    case WaitCode::kDependency:
      return "waits for other jobs";
    case WaitCode::kBeginTime:
      return "its begin time has not come";
    case WaitCode::kFeatures:
      return fmt::format("needs {} that it may use, the cluster has {}", plural(wanted, "node"),
                         reason.nodes_free);
    case WaitCode::kArrayThrottle:
      return "its array runs as many tasks as it may";
    case WaitCode::kStrictOrder:
      return behind(reason, "its queue keeps the order: waits for the start");
    case WaitCode::kReservation:
      return "the nodes are reserved";
    case WaitCode::kBackoff:
      return "was evicted lately and may not borrow yet";
    case WaitCode::kProtected:
      return behind(reason, "waits for the minimum run time");
    case WaitCode::kDeadlineUnreachable:
      return "as far as limits say it cannot start in time for its deadline";
    case WaitCode::kTopology:
      return fmt::format("needs {} close together", plural(wanted, "node"));
    case WaitCode::kPreempting:
      return behind(reason, "its nodes are being freed: waits for the end");
    case WaitCode::kArrayOrder:
      return behind(reason, "earlier tasks of its array go first: waits for the start");
    default:
      return limit_sentence(reason);
  }
}

}  // namespace

std::string_view wait_code_name(WaitCode code) { return kNames.at(static_cast<std::size_t>(code)); }

std::string describe(const WaitReason& reason) {
  std::string out = sentence(reason);
  if (reason.until) out += ", until " + format_time(*reason.until);
  if (reason.planned_start) out += "; planned start " + format_time(*reason.planned_start);
  return out;
}

std::string brief(const WaitReason& reason) {
  switch (reason.code) {
    case WaitCode::kNotConsidered:
      return "new";
    case WaitCode::kResources:
      return fmt::format("{} of {} nodes free", reason.nodes_free, reason.nodes_wanted);
    case WaitCode::kNodesDown:
      return fmt::format("nodes down, {}/{} up", reason.nodes_free, reason.nodes_wanted);
    case WaitCode::kBackfill:
      return reason.behind.value == 0 ? "behind others"
                                      : fmt::format("behind {}", reason.behind.value);
    case WaitCode::kRequeued:
      return "requeued";
    case WaitCode::kBackoff:
      return "evicted lately";
    case WaitCode::kTopology:
      return "not close enough";
    case WaitCode::kPreempting:
      return "being freed";
    case WaitCode::kArrayOrder:
      return "behind earlier tasks";
    case WaitCode::kArrayThrottle:
      return "array throttle";
    case WaitCode::kProtected:
      return "protected jobs";
    case WaitCode::kStrictOrder:
      return reason.behind.value == 0 ? "strict order"
                                      : fmt::format("strict, behind {}", reason.behind.value);
    case WaitCode::kQuotaLimit:
      return "at limit of " + reason.where;
    case WaitCode::kBorrowLimit:
      return "no more to borrow";
    case WaitCode::kGuaranteeOnly:
      return "guarantee in use";
    case WaitCode::kUserLimit:
      return "user limit";
    case WaitCode::kLendLimit:
      return "not lent";
    case WaitCode::kDeadlineUnreachable:
      return "deadline at risk";
    default:
      return sentence(reason);
  }
}

}  // namespace artel
