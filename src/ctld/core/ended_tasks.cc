#include "ctld/core/ended_tasks.h"

#include <algorithm>
#include <utility>

namespace artel::ctld {
namespace {

/// From so many on an entry is of several orders, and tells no longer of each.
constexpr std::size_t kMostOfOneOrder = 32;
/// Sets that do not go together are entries of their own even then.
constexpr std::size_t kMostEntries = 64;
/// As many as single orders make, and then a range that goes over what they have left.
constexpr std::size_t kMostRuns = 2 * kMaxTaskRuns;

}  // namespace

bool has_room(const std::vector<EndedTasks>& all, std::size_t runs) {
  for (const EndedTasks& one : all) runs += one.tasks.runs().size();
  return all.size() < kMostEntries && runs <= kMostRuns;
}

std::size_t add_ended(std::vector<EndedTasks>& all, EndedTasks more) {
  if (!all.empty() && all.back().state == more.state) {
    EndedTasks& last = all.back();
    const bool is_same = last.cause == more.cause && last.ended_at == more.ended_at;
    const std::size_t runs = last.tasks.runs().size() + more.tasks.runs().size();
    if (is_same || all.size() >= kMostOfOneOrder) {
      if (auto both = last.tasks.plus(more.tasks, runs)) {
        if (last.cause != more.cause) {
          // The code and the kind of actor are the same for all of them.
          if (last.cause.actor_name != more.cause.actor_name) last.cause.actor_name.clear();
          last.cause.text = "cancelled by one of several orders";
        }
        last.tasks = std::move(*both);
        last.ended_at = std::max(last.ended_at, more.ended_at);
        return all.size() - 1;
      }
    }
  }
  all.push_back(std::move(more));
  return all.size() - 1;
}

}  // namespace artel::ctld
