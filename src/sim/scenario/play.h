// Plays a case and tells what was not as expected: the whole of `artel simulate --scenario FILE`.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "sim/scenario/compare.h"
#include "sim/scenario/engine.h"

namespace artel::scenario {

struct Report {
  std::string id;
  std::string title;
  std::size_t states = 0;  // that were compared
  std::vector<Difference> differences;
  /// A line for a case that passed; else the rule, and the differences as a table.
  std::string text;
  [[nodiscard]] bool passed() const { return differences.empty(); }
};

/// Reads and checks a case. Error kIo or kConfig, with file and line.
Result<Case> load_case(const std::string& path);
/// Plays a case against an engine. Error kInvalidArgument: an impossible decision.
Result<Report> play_case(const Case& scenario, Engine& engine);
/// Plays the case of a file through the scheduling core.
Result<Report> play_file(const std::string& path);

}  // namespace artel::scenario
