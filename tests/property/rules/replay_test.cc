// Plays one stream again and tells all of it:
//   ARTEL_REPLAY="reference mixed 82" build/dev/bin/property_rules "[replay]"
#include <catch2/catch.hpp>
#include <cstdlib>
#include <iostream>
#include <sstream>

#include "property/rules/bed/findings.h"
#include "sim/scenario/print.h"

using namespace artel::rules;

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
      std::cout << artel::scenario::print_case(stream);
      std::cout << play(each, stream, one, ledger);
      for (const auto& [rule, tested] : ledger.all()) {
        if (!ledger.broken(rule).empty()) std::cout << rule << ' ' << ledger.broken(rule) << '\n';
      }
    }
  }
}
