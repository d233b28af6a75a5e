#include "rpc/retry.h"

#include <catch2/catch.hpp>
#include <set>
#include <vector>

namespace artel::rpc {
namespace {

using std::chrono::seconds;

TEST_CASE("pauses grow from short to long and never beyond the longest") {
  Retry retry(seconds{3600}, 1);
  for (int i = 0; i < 20; ++i) {
    const auto pause = retry.next_pause(Duration{0});
    REQUIRE(pause);
    CHECK(*pause >= Duration{25});
    CHECK(*pause <= Retry::kLongestPause);
    if (i == 0) {
      CHECK(*pause <= Retry::kFirstPause);
    }
    if (i > 8) {
      CHECK(*pause >= Retry::kLongestPause / 2);
    }
  }
}

TEST_CASE("the outage's limit ends the tries and cuts the last pause") {
  Retry retry(seconds{5}, 1);
  CHECK(*retry.next_pause(Duration{4999}) == Duration{1});
  CHECK_FALSE(retry.next_pause(seconds{5}));
}

TEST_CASE("many clients do not pause for the same time") {
  std::set<Duration> pauses;
  for (std::uint32_t seed = 1; seed <= 20; ++seed) {
    Retry retry(seconds{60}, seed * 7919);
    for (int i = 0; i < 6; ++i) (void)retry.next_pause(Duration{0});
    pauses.insert(*retry.next_pause(Duration{0}));
  }
  CHECK(pauses.size() > 15);
}

}  // namespace
}  // namespace artel::rpc
