// A clock that was put back between two starts.
#include "ctld/core/first_time.h"

#include <catch2/catch.hpp>

namespace artel::ctld {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

const Time kWall = time_from_ms(1'000'000'000'000);

StoredState seen(Time latest) {
  StoredState out;
  out.latest = latest;
  return out;
}

TEST_CASE("a start counts from the wall clock where that has gone on") {
  CHECK(first_time({}, kWall) == kWall);
  CHECK(first_time(seen(kWall - minutes{1}), kWall) == kWall);
}

TEST_CASE("where the clock was put back, time goes on from the last event") {
  CHECK(first_time(seen(kWall + minutes{59}), kWall) == kWall + minutes{59});
}

TEST_CASE("the end of a part of an attempt counts, too") {
  StoredState stored = seen(kWall - minutes{2});
  Attempt attempt;
  attempt.parts.resize(2);
  attempt.parts.back().end = NodeEnd{.ended = kWall + minutes{3}};
  stored.jobs.resize(2);
  stored.jobs.back().attempt = std::make_shared<const Attempt>(attempt);
  CHECK(first_time(stored, kWall) == kWall + minutes{3});
}

TEST_CASE("a clock that was far ahead once does not bind later starts") {
  CHECK(first_time(seen(kWall + hours{2}), kWall) == kWall);
}

}  // namespace
}  // namespace artel::ctld
