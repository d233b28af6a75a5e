// Plays cases.
#include "sim/scenario/play.h"

#include <algorithm>
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

/// The first key of a job that the core does not follow yet; null: it follows all.
const char* unknown_to_core(const Job& job) {
  if (job.spares > 0) return "spares";
  return nullptr;
}

bool is_known_to_core(const Fact& fact) { return !std::holds_alternative<NodeRefuses>(fact); }

}  // namespace

Result<Case> load_case(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf())) {
    return fail(ErrorCode::kIo, path + ": cannot be read; name a file with a case");
  }
  return parse_case(path, text.str());
}

Result<> check_core_follows(const std::string& path, const Case& scenario) {
  const auto refuse = [&](const std::string& what) {
    return fail(ErrorCode::kInvalidArgument,
                path + ": " + what + ": the scheduling core does not follow it yet; take it out");
  };
  for (const Event& event : scenario.timeline) {
    if (const auto* submit = std::get_if<Submit>(&event.fact)) {
      const char* key = unknown_to_core(submit->job);
      if (key != nullptr) return refuse("job '" + submit->job.id + "': " + key);
    }
    if (!is_known_to_core(event.fact)) {
      return refuse("the event at " + std::to_string(event.t));
    }
    const auto* reserve = std::get_if<Reserve>(&event.fact);
    if (reserve != nullptr && reserve->reservation.spare) {
      return refuse("reservation '" + reserve->reservation.name + "': SPARE");
    }
  }
  return {};
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
  if (auto follows = check_core_follows(path, *scenario); !follows) return fail(follows);
  const auto engine = make_core_engine(*scenario);
  return play_case(*scenario, *engine);
}

}  // namespace artel::scenario
