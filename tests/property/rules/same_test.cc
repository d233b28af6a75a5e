// Rule S10: the same input gives the same decisions, whatever has no meaning.
#include <algorithm>
#include <catch2/catch.hpp>
#include <sstream>

#include "property/rules/bed/findings.h"

using namespace artel::rules;

namespace {

constexpr std::uint64_t kSeeds = 10;

using Change = void (*)(artel::scenario::Case&);

void leave(artel::scenario::Case&) {}

/// Histories fade at every instant and may change an order at any time; without them only facts do.
void forget_histories(artel::scenario::Case& stream) {
  stream.policy.kappa = 0;
  for (auto& event : stream.timeline) {
    if (auto* submit = std::get_if<artel::scenario::Submit>(&event.fact)) submit->job.user = "u";
  }
}

/// The lines that do not name such a job.
std::string without(const std::string& trace, const std::string& name) {
  std::istringstream lines(trace);
  std::string kept;
  for (std::string line; std::getline(lines, line);) {
    if (line.find(name) == std::string::npos) kept += line + "\n";
  }
  return kept;
}

void same_after(Change change, artel::scenario::Minute poll, Change prepare = leave,
                bool needs_all = false) {
  Ledger ledger;
  for (const Tested& engine : engines()) {
    for (const Kind kind : kKinds) {
      if ((needs_all || kind == Kind::kRich) && !engine.knows_all) continue;
      for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
        CAPTURE(engine.name, kind_name(kind), seed);
        auto stream = random_stream(kind, seed);
        prepare(stream);
        auto other = stream;
        change(other);
        const std::string trace = play(kind, stream, engine, ledger);
        REQUIRE(trace.find(" start ") != std::string::npos);
        CHECK(without(play(kind, other, engine, ledger, poll), " x_") == trace);
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

TEST_CASE("W1: who may not start yet changes nothing for the others") {
  // One is held for good, one begins after everything, one waits for the first.
  const Change add = [](artel::scenario::Case& stream) {
    artel::scenario::Job never;
    never.queue = std::get<artel::scenario::Submit>(
                      std::ranges::find_if(stream.timeline,
                                           [](const auto& event) {
                                             return std::holds_alternative<artel::scenario::Submit>(
                                                 event.fact);
                                           })
                          ->fact)
                      .job.queue;
    never.user = "never";
    never.priority = 1;
    never.duration = never.walltime = 10;
    std::vector<artel::scenario::Event> first;
    for (const char* id : {"x_held", "x_later", "x_after"}) {
      never.id = id;
      never.held = never.id == "x_held";
      never.begin.reset();
      never.after.clear();
      if (never.id == "x_later") never.begin = horizon(stream) + 1000;
      if (never.id == "x_after") never.after = {{artel::scenario::Depends::kAfter, "x_held"}};
      first.push_back({0, artel::scenario::Submit{never}});
    }
    stream.timeline.insert(stream.timeline.begin(), first.begin(), first.end());
  };
  same_after(add, 0, leave, true);
}
