// Plays cases.
#include "sim/scenario/play.h"

#include <fstream>
#include <sstream>

#include "sim/scenario/core_engine.h"
#include "sim/scenario/parse.h"

namespace artel::scenario {

namespace {

std::string summary(const Case& scenario, const Report& report) {
  std::string text = report.id + "  " + report.title + "\n";
  if (report.passed()) {
    return report.id + "  passed, " + std::to_string(report.states) + " states  " + report.title +
           "\n";
  }
  if (!scenario.why.empty()) text += "  why: " + scenario.why + "\n";
  return text + render(report.differences);
}

}  // namespace

Result<Case> load_case(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf())) {
    return fail(ErrorCode::kIo, path + ": cannot be read; name a file with a case");
  }
  return parse_case(path, text.str());
}

Result<Report> play_case(const Case& scenario, Engine& engine) {
  Report report{.id = scenario.id, .title = scenario.title};
  Player player(scenario, engine);
  for (const Expectation& want : scenario.expect) {
    if (auto played = player.advance_to(want.t); !played) {
      return fail(played.error().code, scenario.id + ": " + played.error().text);
    }
    const auto differences = compare(scenario, want, player.state());
    report.differences.insert(report.differences.end(), differences.begin(), differences.end());
    ++report.states;
  }
  report.text = summary(scenario, report);
  return report;
}

Result<Report> play_file(const std::string& path) {
  const auto scenario = load_case(path);
  if (!scenario) return fail(scenario);
  const auto engine = make_core_engine(*scenario);
  return play_case(*scenario, *engine);
}

}  // namespace artel::scenario
