#include "property/rules/bed/findings.h"

#include <array>
#include <cstdlib>

#include "property/rules/bed/watch.h"
#include "sim/scenario/player.h"

namespace artel::rules {

namespace {

constexpr std::uint64_t kSeeds = 100;  // of each kind

Ledger play_all() {
  Ledger ledger;
  for (const Tested& engine : engines()) {
    for (const Kind kind : kKinds) {
      if (kind == Kind::kRich && !engine.knows_all) continue;
      for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
        ledger.open(engine.name + " " + kind_name(kind) + " seed " + std::to_string(seed));
        play(kind, random_stream(kind, seed), engine, ledger);
      }
    }
  }
  return ledger;
}

}  // namespace

std::string kind_name(Kind kind) {
  static constexpr std::array<const char*, 7> kNames = {"mixed",    "plain", "singles", "one-team",
                                                        "reserved", "fair",  "rich"};
  return kNames.at(static_cast<std::size_t>(kind));
}

std::string play(Kind kind, const scenario::Case& stream, const Tested& engine, Ledger& ledger,
                 scenario::Minute poll) {
  Watch watch(kind, stream, engine.make(stream), ledger);
  scenario::Player player(stream, watch, {.poll = poll});
  const auto played = player.advance_to(horizon(stream));
  ledger.expect("G1", played.has_value(), played ? "" : played.error().text);
  return watch.trace();
}

const Ledger& findings() {
  static const Ledger ledger = play_all();
  return ledger;
}

}  // namespace artel::rules
