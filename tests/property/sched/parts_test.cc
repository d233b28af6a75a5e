// A pass in parts decides what a whole pass does, whatever is asked between the parts.
#include <catch2/catch.hpp>

#include "property/sched/small_world.h"

using namespace artel;
using namespace artel::sched;
using artel::sched::small::SmallWorld;

namespace {

constexpr std::uint64_t kWorlds = 40;
constexpr int kMinutes = 60;

void check_same(const SmallWorld& whole, const SmallWorld& parts) {
  REQUIRE(whole.last_starts() == parts.last_starts());
  for (const auto& [id, facts] : whole.jobs()) {
    CAPTURE(id.value);
    CHECK(whole.scheduler.stage(id) == parts.scheduler.stage(id));
    CHECK((whole.scheduler.wait(id) == parts.scheduler.wait(id)));
  }
}

}  // namespace

TEST_CASE("a pass in parts decides what a whole pass does") {
  int most_parts = 0;
  for (std::uint64_t seed = 1; seed <= kWorlds; ++seed) {
    CAPTURE(seed);
    SmallWorld whole(seed, {});
    SmallWorld parts(seed, {.in_parts = true});
    for (int i = 0; i < kMinutes; ++i) {
      whole.step(true);
      parts.step(true);
      check_same(whole, parts);
    }
    most_parts = std::max(most_parts, parts.most_parts());
  }
  CHECK(most_parts > 10);
}
