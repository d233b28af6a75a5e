// What a job takes of one node: M2, M3, U1, and who it is on a shared device (U4).
//
// Private to src/sched.
#pragma once

#include "sched/state.h"

namespace artel::sched {

/// Cores and memory of a part on a node, with the defaults of M2 filled in.
struct Need {
  std::int64_t cores{};
  std::int64_t memory{};
};
[[nodiscard]] Need need_on(const Node& node, const Part& part);

/// Whether so many thousandths are a share of one device.
[[nodiscard]] inline bool is_share(std::int64_t gpus) { return gpus > 0 && gpus < kWholeDevice; }
/// U1: whole devices, or a share of one.
[[nodiscard]] inline bool is_gpu_amount(std::int64_t gpus) {
  return gpus >= 0 && (gpus % kWholeDevice == 0 || (is_share(gpus) && gpus >= kSmallestShare));
}
[[nodiscard]] bool asks_for_share(const Request& request);

/// Whom a device belongs to while the job has a share of it: a user, a team, or everybody.
using Sharer = std::uint64_t;
[[nodiscard]] Sharer sharer_of(const State& state, const Job& job);

}  // namespace artel::sched
