// Rule S10: the same input gives the same decisions, whatever has no meaning.
#include <algorithm>
#include <catch2/catch.hpp>

#include "property/rules/bed/findings.h"

using namespace artel::rules;

namespace {

constexpr std::uint64_t kSeeds = 40;

using Change = void (*)(artel::scenario::Case&);

void leave(artel::scenario::Case&) {}

/// Histories fade at every instant and may change an order at any time; without them only facts do.
void forget_histories(artel::scenario::Case& stream) {
  stream.policy.kappa = 0;
  for (auto& event : stream.timeline) {
    if (auto* submit = std::get_if<artel::scenario::Submit>(&event.fact)) submit->job.user = "u";
  }
}

void same_after(Change change, artel::scenario::Minute poll, Change prepare = leave) {
  Ledger ledger;
  for (const Tested& engine : engines()) {
    for (const Kind kind : kKinds) {
      for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
        CAPTURE(engine.name, kind_name(kind), seed);
        auto stream = random_stream(kind, seed);
        prepare(stream);
        auto other = stream;
        change(other);
        const std::string trace = play(kind, stream, engine, ledger);
        REQUIRE(trace.find(" start ") != std::string::npos);
        CHECK(play(kind, other, engine, ledger, poll) == trace);
      }
    }
  }
}

}  // namespace

TEST_CASE("S10: the same stream gives the same decisions twice") { same_after(leave, 0); }

TEST_CASE("S10: the order in which nodes are listed has no meaning") {
  same_after([](artel::scenario::Case& stream) { std::ranges::reverse(stream.nodes); }, 0);
}

TEST_CASE("S10: the order in which queues are listed has no meaning") {
  same_after(
      [](artel::scenario::Case& stream) {
        for (auto& quota : stream.tree) std::ranges::reverse(quota.children);
      },
      0);
}

TEST_CASE("S10: passes in between change nothing") { same_after(leave, 1, forget_histories); }
