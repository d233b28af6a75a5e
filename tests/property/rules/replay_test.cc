// Plays one stream again and tells all of it:
//   ARTEL_REPLAY="reference mixed 82" build/dev/bin/property_rules "[replay]"
#include <catch2/catch.hpp>
#include <cstdlib>
#include <iostream>
#include <sstream>

#include "property/rules/bed/findings.h"

using namespace artel::rules;

namespace {

void tell(const artel::scenario::Case& stream) {
  for (const auto& quota : stream.tree) {
    if (quota.path.empty()) continue;
    std::cout << quota.path;
    for (const auto& [name, amounts] :
         {std::pair("guarantee", quota.guarantee), std::pair("limit", quota.limit),
          std::pair("borrow", quota.borrow), std::pair("lend", quota.lend)}) {
      if (amounts) std::cout << ' ' << name << ' ' << amounts->begin()->second;
    }
    std::cout << (quota.strict_fifo ? " strict" : "") << '\n';
  }
  const auto& policy = stream.policy;
  std::cout << "grace " << policy.grace << " reclaim " << policy.protect_reclaim << " priority "
            << policy.protect_priority << " backoff " << policy.requeue_backoff << " plans "
            << policy.reservations_per_team << " starve " << policy.starve_after << '\n';
  for (const auto& event : stream.timeline) {
    std::cout << event.t << ' ';
    if (const auto* submit = std::get_if<artel::scenario::Submit>(&event.fact)) {
      const auto& job = submit->job;
      std::cout << job.id << ' ' << job.queue << ' ' << job.user << ' '
                << job.components.front().nodes << " x " << job.components.front().gpus << " runs "
                << *job.duration << " of " << *job.walltime << " priority " << job.priority
                << (job.preemptible ? "" : " fixed") << ' ' << job.reservation;
    } else if (const auto* reserve = std::get_if<artel::scenario::Reserve>(&event.fact)) {
      const auto& one = reserve->reservation;
      std::cout << one.name << ' ' << one.owner << ' ' << one.start << '-' << one.end << " count "
                << one.count.value_or(0) << (one.flex ? " flex" : "");
    } else if (const auto* down = std::get_if<artel::scenario::NodeDown>(&event.fact)) {
      std::cout << "down " << down->node;
    } else if (const auto* up = std::get_if<artel::scenario::NodeUp>(&event.fact)) {
      std::cout << "up " << up->node;
    } else if (const auto* set = std::get_if<artel::scenario::SetQuota>(&event.fact)) {
      std::cout << "set " << set->quota << ' ' << set->guarantee->begin()->second;
    } else {
      std::cout << "cancel " << std::get<artel::scenario::Cancel>(event.fact).job;
    }
    std::cout << '\n';
  }
}

}  // namespace

TEST_CASE("one stream is played again", "[.replay]") {
  const char* wanted = std::getenv("ARTEL_REPLAY");
  REQUIRE(wanted != nullptr);
  std::istringstream words(wanted);
  std::string engine;
  std::string kind;
  std::uint64_t seed = 0;
  words >> engine >> kind >> seed;
  for (const Tested& one : engines()) {
    for (const Kind each : kKinds) {
      if (one.name != engine || kind_name(each) != kind) continue;
      const auto stream = random_stream(each, seed);
      Ledger ledger;
      tell(stream);
      std::cout << play(each, stream, one, ledger);
      for (const auto& [rule, tested] : ledger.all()) {
        if (!ledger.broken(rule).empty()) std::cout << rule << ' ' << ledger.broken(rule) << '\n';
      }
    }
  }
}
