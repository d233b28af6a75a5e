#include "ctld/services/slowed_clock.h"

#include <catch2/catch.hpp>

namespace artel::ctld {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

const Time kBegin = time_from_ms(1'000'000'000'000);

TEST_CASE("a clock that is not ahead goes as time goes") {
  const SlowedClock clock(kBegin, Duration::zero());
  CHECK(clock.after(minutes{3}) == kBegin + minutes{3});
  CHECK(clock.until(kBegin + minutes{3}) == minutes{3});
}

TEST_CASE("a clock that is ahead goes at half speed until it is not any more") {
  const SlowedClock clock(kBegin, minutes{10});
  CHECK(clock.after(Duration::zero()) == kBegin);
  CHECK(clock.after(minutes{8}) == kBegin + minutes{4});
  CHECK(clock.after(minutes{20}) == kBegin + minutes{10});  // as the wall clock
  CHECK(clock.after(minutes{30}) == kBegin + minutes{20});
}

TEST_CASE("what is due at a time is due when the clock shows it") {
  const SlowedClock clock(kBegin, minutes{10});
  for (const Duration elapsed : {seconds{2}, seconds{700}, seconds{1200}, seconds{1800}}) {
    const Time shown = clock.after(elapsed);
    CHECK(clock.until(shown) == elapsed);
  }
}

}  // namespace
}  // namespace artel::ctld
