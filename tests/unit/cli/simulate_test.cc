// artel simulate: which words go together, what is written where, exit codes.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "cli/app.h"
#include "cli/commands.h"
#include "cli/simulate_options.h"
#include "cli/simulate_table.h"

namespace artel::cli {
namespace {

namespace fs = std::filesystem;

Result<SimulateOptions> read(const std::vector<std::string>& words) {
  const auto parsed = parse(simulate_syntax(), words);
  REQUIRE(parsed);
  return read_simulate_options(*parsed);
}

std::string refused(const std::vector<std::string>& words) {
  const auto options = read(words);
  if (options) FAIL("accepted");
  CHECK(options.error().code == ErrorCode::kInvalidArgument);
  return options.error().text;
}

/// Files of one test.
class Files {
 public:
  Files() : folder_(fs::temp_directory_path() / fmt::format("artel-simulate-{}", ::getpid())) {
    fs::create_directories(folder_);
  }
  ~Files() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  Files(const Files&) = delete;
  Files& operator=(const Files&) = delete;

  [[nodiscard]] std::string at(const std::string& name) const { return (folder_ / name).string(); }
  [[nodiscard]] std::string text_of(const std::string& name) const {
    std::ifstream file(at(name));
    REQUIRE(file);
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  fs::path folder_;
};

TEST_CASE("a simulation has one source of jobs") {
  CHECK_THAT(refused({}), Catch::StartsWith("no workload"));
  CHECK_THAT(refused({"a.csv", "b.csv"}), Catch::StartsWith("one workload at a time"));
  CHECK_THAT(refused({"a.csv", "--generate", "lublin"}), Catch::StartsWith("give one of"));
  CHECK_THAT(refused({"--generate", "poisson"}), Catch::Contains("there is lublin"));
}

TEST_CASE("options that would have no effect are refused") {
  CHECK_THAT(refused({"a.csv", "--seed", "3"}), Catch::StartsWith("--seed belongs to --generate"));
  CHECK_THAT(refused({"--generate", "lublin", "--first", "3"}), Catch::StartsWith("--first"));
  CHECK_THAT(refused({"a.csv", "--cluster", "c.toml", "--capacity", "8"}),
             Catch::StartsWith("--capacity and --cluster"));
  CHECK_THAT(refused({"--scenario", "s.yaml", "--policy", "easy"}), Catch::StartsWith("--policy"));
}

TEST_CASE("no option of a replay is ignored beside a scenario") {
  for (const auto& [name, value] :
       std::vector<std::pair<std::string, std::string>>{{"--policy", "easy"},
                                                        {"--compare", "easy"},
                                                        {"--capacity", "8"},
                                                        {"--resource", "gpus"},
                                                        {"--cluster", "c"},
                                                        {"--teams", "t"},
                                                        {"--first", "3"},
                                                        {"--jobs", "3"},
                                                        {"--seed", "3"},
                                                        {"--load", "0.5"},
                                                        {"--limits", "exact"},
                                                        {"--node-size", "8"},
                                                        {"--grace", "2m"},
                                                        {"--checkpoint", "5m"},
                                                        {"--csv", "c"},
                                                        {"--html", "h"}}) {
    CHECK_THAT(refused({"--scenario", "s.yaml", name, value}),
               Catch::StartsWith(name + " has no meaning for a scenario"));
  }
}

TEST_CASE("values of a simulation that cannot be meant are refused") {
  CHECK_THAT(refused({"a.csv", "--policy", "esy"}), Catch::Contains("did you mean 'easy'"));
  CHECK_THAT(refused({"a.csv", "--policy", "easy", "--compare", "easy"}),
             Catch::Contains("compared with itself"));
  CHECK_THAT(refused({"a.csv", "--capacity", "0"}), Catch::Contains("--capacity"));
  CHECK_THAT(refused({"a.csv", "--resource", "gpu"}), Catch::Contains("did you mean 'gpus'"));
  CHECK_THAT(refused({"a.csv", "--checkpoint", "often"}), Catch::StartsWith("--checkpoint: "));
  CHECK_THAT(refused({"a.csv", "--grace", "0"}), Catch::StartsWith("--grace: "));
  for (const char* load : {"0", "-1", "nan", "inf", "0.8x", "101", ""}) {
    CAPTURE(load);
    CHECK_THAT(refused({"--generate", "lublin", "--load", load}), Catch::StartsWith("--load: "));
  }
  CHECK_THAT(refused({"--generate", "lublin", "--limits", "rond"}),
             Catch::Contains("did you mean 'round'"));
}

TEST_CASE("the real core is the policy that is simulated by default") {
  const auto options = read({"a.csv"});
  REQUIRE(options);
  CHECK(options->policies == std::vector<std::string>{"artel"});
}

TEST_CASE("jobs and the page go to their files") {
  const Files files;
  REQUIRE(
      run_cli({"simulate", "--generate", "lublin", "--jobs", "50", "--policy", "easy", "--compare",
               "fcfs", "--csv", files.at("jobs.csv"), "--html", files.at("page.html")}) == 0);
  const std::string csv = files.text_of("jobs.csv");
  CHECK(std::ranges::count(csv, '\n') == 1 + 2 * 50);
  CHECK_THAT(files.text_of("page.html"), Catch::StartsWith("<!DOCTYPE html>"));
}

TEST_CASE("a simulation tells by its exit code what failed") {
  const Files files;
  CHECK(run_cli({"simulate", files.at("none.csv")}) == 12);
  CHECK(run_cli({"simulate", "--generate", "lublin", "--jobs", "5", "--html",
                 files.at("no/such/folder.html")}) == 12);
  std::ofstream(files.at("bad.csv")) << "submit_s,job_id,runtime_s\n0,a,soon\n";
  CHECK(run_cli({"simulate", files.at("bad.csv")}) == 2);
  CHECK(run_cli({"simulate", "--scenario", files.at("none.yaml")}) == 12);
}

}  // namespace
}  // namespace artel::cli
