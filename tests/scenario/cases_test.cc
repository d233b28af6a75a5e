// Every case of the folder through the engines.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>

#include "reference/reference.h"
#include "sim/scenario/play.h"

using namespace artel;
using namespace artel::scenario;

namespace {

std::vector<std::string> case_files() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(ARTEL_CASES)) {
    const std::string name = entry.path().filename();
    if (name.starts_with('s')) files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

}  // namespace

TEST_CASE("every case passes through the plain interpreter of the rules", "[reference]") {
  std::size_t passed = 0;
  for (const std::string& file : case_files()) {
    const auto scenario = load_case(file);
    if (!scenario) {
      FAIL_CHECK(scenario.error().text);
      continue;
    }
    const auto engine = reference::make_reference(*scenario);
    const auto report = play_case(*scenario, *engine);
    if (!report) {
      FAIL_CHECK(report.error().text);
    } else if (!report->passed()) {
      FAIL_CHECK(report->text);
    } else {
      ++passed;
    }
  }
  CHECK(passed >= 60);
}
