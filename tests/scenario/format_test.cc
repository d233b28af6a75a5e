// What the format refuses, and how it says so.
#include <catch2/catch.hpp>

#include "sim/scenario/core_engine.h"
#include "sim/scenario/features.h"
#include "sim/scenario/parse.h"
#include "sim/scenario/play.h"

using namespace artel;
using namespace artel::scenario;

namespace {

std::string with(const std::string& line) {
  return "id: T\ntitle: t\ncluster: {nodes: [{names: n01}]}\ntree: [{name: A, guarantee: 8}]\n"
         "timeline:\n" +
         line + "\nexpect: []\n";
}

std::string mistakes(const std::string& text) {
  const auto read = parse_case("x.yaml", text);
  return read ? "" : read.error().text;
}

}  // namespace

TEST_CASE("an unknown key is told with its line and the nearest word") {
  CHECK(mistakes(with("  - {t: 0, submit: {id: j, queue: A, duration: 5, nods: 1}}")) ==
        "x.yaml:6: submit: unknown key 'nods', did you mean 'nodes'?");
}

TEST_CASE("a wrong type is told with what is wanted") {
  CHECK(mistakes(with("  - {t: 0, submit: {id: j, queue: A, duration: \"5\"}}")) ==
        "x.yaml:6: submit: duration: want a whole number from 1 to 10000000");
}

TEST_CASE("unknown queues, jobs and nodes are told") {
  CHECK(mistakes(with("  - {t: 0, submit: {id: j, queue: B, duration: 5}}"))
            .find("x.yaml:6: submit: queue: unknown team or queue B") == 0);
  CHECK(mistakes(with("  - {t: 0, cancel: j}")) ==
        "x.yaml:6: timeline: cancel: no job 'j' was submitted before");
  CHECK(mistakes(with("  - {t: 0, node_down: n02}")) ==
        "x.yaml:6: timeline: node_down: unknown node n02, did you mean 'n01'?");
}

TEST_CASE("text that is no YAML is told with its line") {
  CHECK(mistakes("id: [").find("x.yaml:") == 0);
}

TEST_CASE("feature expressions bind ! before & before |") {
  CHECK(*satisfies("a|b&!c", {"a"}));
  CHECK_FALSE(*satisfies("(a|b)&!c", {"a", "c"}));
  CHECK_FALSE(satisfies("a&", {"a"}));
}

TEST_CASE("a difference names expected and got side by side") {
  const auto scenario = parse_case(
      "x.yaml",
      "id: T\ntitle: t\ncluster: {nodes: [{names: n01}]}\ntree: [{name: A, guarantee: 8}]\n"
      "timeline:\n  - {t: 0, submit: {id: j, queue: A, duration: 5}}\n"
      "expect:\n  - {t: 0, running: {}, pending: {j: Resources}}\n");
  REQUIRE(scenario);
  const auto engine = make_core_engine(*scenario);
  const auto report = play_case(*scenario, *engine);
  REQUIRE(report);
  REQUIRE(report->differences.size() == 2);
  CHECK(report->differences[0].what == "running j");
  CHECK(report->differences[0].expected == "-");
  CHECK(report->differences[1].expected == "Resources");
  CHECK(report->differences[1].line == 8);
}

TEST_CASE("a file that is not there is an error that names it") {
  const auto report = play_file("/nonexistent.yaml");
  REQUIRE_FALSE(report);
  CHECK(report.error().code == ErrorCode::kIo);
  CHECK(report.error().text.find("/nonexistent.yaml") == 0);
}
