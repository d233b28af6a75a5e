#include "sched/need.h"

#include <algorithm>

namespace artel::sched {
namespace {

/// Part of `whole` in the ratio num/den, at most all of it, rounded down. Steps that do not
/// overflow.
std::int64_t part_of(std::int64_t whole, std::int64_t num, std::int64_t den) {
  if (num >= den) return whole;
  return whole / den * num + whole % den * num / den;
}

}  // namespace

Need need_on(const Node& node, const Part& part) {
  const bool by_gpus = part.gpus > 0 && node.gpus > 0;
  Need need{.cores = part.cores, .memory = part.memory};
  if (need.cores == 0 && node.cores > 0) {
    need.cores = by_gpus ? std::max<std::int64_t>(1, part_of(node.cores, part.gpus, node.gpus))
                         : std::int64_t{part.ranks};
  }
  if (need.memory == 0 && node.memory > 0) {
    if (by_gpus) {
      need.memory = part_of(node.memory, part.gpus, node.gpus);
    } else if (node.cores > 0) {
      need.memory = part_of(node.memory, need.cores, node.cores);
    }
  }
  return need;
}

bool asks_for_share(const Request& request) {
  return std::ranges::any_of(request.parts, [](const Part& part) { return is_share(part.gpus); });
}

Sharer sharer_of(const State& state, const Job& job) {
  switch (state.policy.share_between) {
    case ShareBetween::kUser:
      return job.user.value;
    case ShareBetween::kTeam:
      return job.team.value;
    case ShareBetween::kAll:
      break;
  }
  return 0;
}

}  // namespace artel::sched
