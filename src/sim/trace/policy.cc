#include "sim/trace/policy.h"

#include <fmt/format.h>

#include <array>

#include "base/assert.h"
#include "base/text.h"
#include "sim/trace/artel_policy.h"
#include "sim/trace/pool_policies.h"

namespace artel::trace {
namespace {

struct Entry {
  std::string_view name;
  std::string_view summary;
  std::unique_ptr<Policy> (*make)(const Problem& problem);  // null: the core
};

constexpr std::array kPolicies = {
    Entry{"fcfs", "first come, first served; the first job blocks the others",
          [](const Problem& problem) { return make_fcfs(problem); }},
    Entry{"sjf", "shortest limit first; the first job blocks the others",
          [](const Problem& problem) { return make_sjf(problem); }},
    Entry{"easy", "fcfs with backfilling that does not delay the first job",
          [](const Problem& problem) { return make_easy(problem, {}); }},
    Entry{"easy-sjbf", "easy, the shortest limit is tried first for backfilling",
          [](const Problem& problem) { return make_easy(problem, {.shortest_first = true}); }},
    Entry{"easy-perfect", "easy with run times known in advance",
          [](const Problem& problem) { return make_easy(problem, {.perfect = true}); }},
    Entry{
        "easy-events", "easy, one pass for each single event",
        [](const Problem& problem) { return make_easy(problem, {.order = EventOrder::kSingle}); }},
    Entry{"conservative", "backfilling that delays no job that came before",
          [](const Problem& problem) { return make_conservative(problem); }},
    Entry{"artel", "the scheduling core of Artel: guarantees, fair share, preemption, placement",
          nullptr},
};

}  // namespace

void Policy::requeue(Seconds /*now*/, TaskIndex /*task*/) {
  ARTEL_ASSERT(!"a policy that evicts takes back what it evicted");
}
std::optional<Seconds> Policy::next_wake(Seconds /*now*/) { return std::nullopt; }
Seconds Policy::grace(TaskIndex /*task*/) const { return 0; }

const std::vector<std::string_view>& policy_names() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> all;
    for (const Entry& entry : kPolicies) all.push_back(entry.name);
    return all;
  }();
  return names;
}

std::string_view policy_summary(std::string_view name) {
  for (const Entry& entry : kPolicies) {
    if (entry.name == name) return entry.summary;
  }
  return "";
}

Result<std::unique_ptr<Policy>> make_policy(std::string_view name, const Problem& problem,
                                            const Site& site) {
  for (const Entry& entry : kPolicies) {
    if (entry.name != name) continue;
    if (entry.make == nullptr) return make_artel(problem, site);
    return entry.make(problem);
  }
  return fail(ErrorCode::kInvalidArgument,
              fmt::format("there is no policy '{}'{}; there are {}", name,
                          did_you_mean(name, policy_names()), fmt::join(policy_names(), ", ")));
}

Result<std::unique_ptr<Policy>> make_policy(std::string_view name, const Problem& problem) {
  return make_policy(name, problem, Site{});
}

}  // namespace artel::trace
