#include "model/job.h"

#include <fmt/format.h>

#include <array>
#include <cstddef>

#include "base/text.h"

namespace artel {

std::string_view wait_code_name(WaitCode code) {
  static constexpr std::array<std::string_view, 7> kNames = {
      "None", "NotConsidered", "Held", "Resources", "Backfill", "NodesDown", "Requeued"};
  return kNames.at(static_cast<std::size_t>(code));
}

std::string describe(const WaitReason& reason) {
  std::string out;
  switch (reason.code) {
    case WaitCode::kNone:
      return "";
    case WaitCode::kNotConsidered:
      return "waits for the next scheduling pass";
    case WaitCode::kHeld:
      return "held";
    case WaitCode::kRequeued:
      out = "requeued, waits to be tried again";
      break;
    case WaitCode::kResources:
      out = fmt::format("needs {} node{}, {} free", reason.nodes_wanted,
                        reason.nodes_wanted == 1 ? "" : "s", reason.nodes_free);
      break;
    case WaitCode::kBackfill:
      out = fmt::format("would delay the planned start of job {}", reason.behind.value);
      break;
    case WaitCode::kNodesDown:
      out =
          fmt::format("needs {} node{}, too many are down or drained ({} free)",
                      reason.nodes_wanted, reason.nodes_wanted == 1 ? "" : "s", reason.nodes_free);
      break;
  }
  if (reason.planned_start) out += "; planned start " + format_time(*reason.planned_start);
  return out;
}

}  // namespace artel
