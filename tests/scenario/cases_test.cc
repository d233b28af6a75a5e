// Every case of the folder through both engines.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>

#include "reference/reference.h"
#include "sim/scenario/core_engine.h"
#include "sim/scenario/play.h"

using namespace artel;
using namespace artel::scenario;

namespace {

std::vector<std::string> case_files() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(ARTEL_CASES)) {
    if (entry.path().extension() == ".yaml") files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

/// The number of cases that passed; tells what did not.
std::size_t play_all(const EngineMaker& make) {
  std::size_t passed = 0;
  for (const std::string& file : case_files()) {
    const auto scenario = load_case(file);
    if (!scenario) {
      FAIL_CHECK(scenario.error().text);
      continue;
    }
    const auto engine = make(*scenario);
    const auto report = play_case(*scenario, *engine);
    if (!report) {
      FAIL_CHECK(report.error().text);
    } else if (!report->passed()) {
      FAIL_CHECK(report->text);
    } else {
      ++passed;
    }
  }
  return passed;
}

}  // namespace

TEST_CASE("every case passes through the plain interpreter of the rules", "[reference]") {
  CHECK(play_all(reference::make_reference) >= 115);
}

TEST_CASE("every case passes through the scheduling core", "[core]") {
  CHECK(play_all(make_core_engine) >= 115);
}
