// Z2 and Z3 in random states: the reason is the first of the explanation, and it is to blame.
#include <algorithm>
#include <catch2/catch.hpp>

#include "property/sched/small_world.h"

using namespace artel;
using namespace artel::sched;
using artel::sched::small::SmallWorld;

namespace {

constexpr std::uint64_t kWorlds = 40;
constexpr int kMinutes = 60;

/// Others that wait would take the room at once.
void end_all_others(Scheduler& scheduler, const SmallWorld& world, JobId job) {
  for (const auto& [id, facts] : world.jobs()) {
    if (id != job && scheduler.stage(id)) scheduler.end(world.now(), id, {});
  }
}

Bounds with(Bounds bounds, std::int64_t gpus) {
  bounds.resize(2);
  bounds[0] = gpus;
  return bounds;
}

/// Takes away what the reason names; the time to look again, or nullopt where no call can do it.
std::optional<Time> take_away(Scheduler& scheduler, const SmallWorld& world, JobId job,
                              const Wait& wait) {
  const Time now = world.now();
  const QuotaFacts& quota = world.setup().tree[wait.quota.value];
  const std::int64_t enough = wait.shortage.enough;
  switch (wait.reason) {
    case Reason::kQuotaLimit:
      scheduler.change(now, wait.quota, {.limit = with(quota.limit, enough)});
      return now;
    case Reason::kBorrowLimit:
      scheduler.change(now, wait.quota,
                       {.borrow = with(quota.borrow, enough - quota.guarantee->front())});
      return now;
    case Reason::kGuaranteeOnly:
      scheduler.change(now, wait.quota, {.guarantee = Amounts{enough, 0}});
      return now;
    case Reason::kLendLimit:
      scheduler.change(now, wait.quota, {.lend = Bounds{quota.guarantee->front(), 0}});
      return now;
    case Reason::kBackoff:
    case Reason::kProtected:
      return *wait.until;
    case Reason::kStrictOrder:
    case Reason::kBackfill:
    case Reason::kPreempting:
      scheduler.end(now, wait.behind, {});
      return now;
    case Reason::kUserLimit:
    case Reason::kLicence:
    case Reason::kTopology:
    case Reason::kResources:
      end_all_others(scheduler, world, job);
      return now;
    default:
      return std::nullopt;
  }
}

struct Tally {
  std::map<Reason, std::size_t> blamed;
  std::size_t more_than_one = 0;
};

void check_state(const SmallWorld& world, Tally& tally) {
  for (const auto& [id, facts] : world.jobs()) {
    const auto stage = world.scheduler.stage(id);
    if (stage != Stage::kPending && stage != Stage::kClaiming) continue;
    const Wait wait = world.scheduler.wait(id);
    const std::vector<Wait> all = world.scheduler.explain(id);
    CAPTURE(id.value, reason_name(wait.reason), world.now().time_since_epoch().count());
    REQUIRE(!all.empty());
    CHECK(reason_name(all.front().reason) == reason_name(wait.reason));
    CHECK((all.front() == wait));
    tally.more_than_one += all.size() > 1 ? 1 : 0;

    Scheduler after = world.scheduler;
    const auto when = take_away(after, world, id, wait);
    if (!when) continue;
    ++tally.blamed[wait.reason];
    bed::rest(after, *when);
    CHECK((after.stage(id) != stage || !(after.wait(id) == wait)));
  }
}

}  // namespace

TEST_CASE("the reason comes first in the explanation, and without what it names it is another",
          "[explain]") {
  Tally tally;
  for (std::uint64_t seed = 1; seed <= kWorlds; ++seed) {
    CAPTURE(seed);
    SmallWorld world(seed, {});
    for (int i = 0; i < kMinutes; ++i) {
      world.step(true);
      if (i % 3 == 0) check_state(world, tally);
    }
  }
  for (const Reason reason :
       {Reason::kQuotaLimit, Reason::kBorrowLimit, Reason::kGuaranteeOnly, Reason::kLendLimit,
        Reason::kBackoff, Reason::kProtected, Reason::kStrictOrder, Reason::kBackfill,
        Reason::kUserLimit, Reason::kLicence, Reason::kTopology, Reason::kResources,
        Reason::kPreempting}) {
    INFO(reason_name(reason));
    CHECK(tally.blamed[reason] > 10);
  }
  CHECK(tally.more_than_one > 100);
}
