// What a forecast says is what happens if runs end at their limits and nothing arrives.
#include "sched/forecast.h"

#include <catch2/catch.hpp>

#include "property/sched/small_world.h"

using namespace artel;
using namespace artel::sched;
using artel::sched::small::SmallWorld;
using artel::sched::small::Traits;

namespace {

constexpr int kFill = 25;
constexpr int kLast = 600;

ForecastOptions all_waiting(const SmallWorld& world) {
  ForecastOptions options;
  for (const auto& [id, facts] : world.jobs()) {
    const auto stage = world.scheduler.stage(id);
    if (stage == Stage::kPending || stage == Stage::kClaiming) options.jobs.push_back(id);
  }
  return options;
}

/// How many forecasts were kept to the minute.
std::size_t check_world(std::uint64_t seed, Traits traits) {
  CAPTURE(seed);
  SmallWorld world(seed, traits);
  for (int i = 0; i < kFill; ++i) world.step(true);
  const Time begin = world.now();
  const ForecastOptions options = all_waiting(world);
  const Forecast told = forecast(world.scheduler, begin, options);
  CHECK(told.starts.size() == options.jobs.size());
  CHECK(told.is_whole);
  std::map<JobId, std::optional<Time>> planned;
  for (const JobId job : options.jobs) planned[job] = world.scheduler.wait(job).planned_start;

  std::map<JobId, Time> then;
  for (int i = 0; i < kLast; ++i) {
    world.step(false);
    for (const auto& [job, time] : world.last_starts()) then.try_emplace(job, time);
  }
  std::size_t kept = 0;
  for (const Expected& one : told.starts) {
    CAPTURE(one.job.value);
    CHECK(one.start.has_value() == then.contains(one.job));
    if (!one.start || !then.contains(one.job)) continue;
    CHECK(*one.start >= begin);
    CHECK(to_ms(*one.start) == to_ms(then.at(one.job)));
    if (traits.one_team && planned[one.job] && one.job == told.starts.front().job) {
      CHECK(*one.start <= *planned[one.job]);
    }
    ++kept;
  }
  return kept;
}

}  // namespace

TEST_CASE("with one team and exact limits the forecast is what then happens", "[forecast]") {
  std::size_t kept = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    kept += check_world(seed, {.one_team = true, .exact_limits = true});
  }
  CHECK(kept > 150);
}

TEST_CASE("with teams, limits and evictions it is so too while no history counts", "[forecast]") {
  std::size_t kept = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    kept += check_world(seed, {.exact_limits = true, .no_history = true});
  }
  CHECK(kept > 150);
}

TEST_CASE("a forecast leaves the scheduler as it was", "[forecast]") {
  SmallWorld world(3, {});
  for (int i = 0; i < kFill; ++i) world.step(true);
  std::map<JobId, Wait> waits;
  for (const auto& [id, facts] : world.jobs()) waits[id] = world.scheduler.wait(id);
  const Forecast first = forecast(world.scheduler, world.now());
  const Forecast second = forecast(world.scheduler, world.now());
  CHECK(first.starts == second.starts);
  CHECK(!first.starts.empty());
  for (const auto& [id, wait] : waits) CHECK((world.scheduler.wait(id) == wait));
}

TEST_CASE("a forecast stops after so many instants and says so", "[forecast]") {
  SmallWorld world(3, {.exact_limits = true});
  for (int i = 0; i < kFill; ++i) world.step(true);
  ForecastOptions options = all_waiting(world);
  options.most_instants = 1;
  const Forecast told = forecast(world.scheduler, world.now(), options);
  CHECK(!told.is_whole);
  CHECK(told.played_until > world.now());
}
