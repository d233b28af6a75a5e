#include "cli/job_options.h"

#include <catch2/catch.hpp>
#include <optional>
#include <string>
#include <vector>

namespace artel::cli {
namespace {

using Words = std::vector<std::string>;

JobDefaults defaults() { return {"train", "artel-%j.out", "/home/alice"}; }

std::optional<std::string> environment(const std::string& name) {
  if (name == "HOME") return "/home/alice";
  if (name == "EMPTY") return "";
  return std::nullopt;
}

Result<JobSpec> spec(const Words& words) {
  Syntax syntax;
  syntax.command = "submit";
  syntax.options = job_options(JobOptions::kSubmit);
  const auto parsed = parse(syntax, words);
  REQUIRE(parsed);
  return job_spec(parsed->options, defaults(), environment);
}

std::string refusal(const Words& words) {
  const auto made = spec(words);
  REQUIRE_FALSE(made);
  CHECK(made.error().code == ErrorCode::kInvalidArgument);
  return made.error().text;
}

TEST_CASE("without options a job is one rank on one whole node without a limit") {
  const auto made = spec({});
  REQUIRE(made);
  CHECK(made->name == "train");
  CHECK(made->component() == ComponentSpec{});
  CHECK_FALSE(made->time_limit);
  CHECK(made->output == "artel-%j.out");
  CHECK(made->working_directory == "/home/alice");
  CHECK(made->environment.empty());
}

TEST_CASE("options fill the fields that they name") {
  const auto made = spec({"-N",        "4",     "--tasks-per-node",
                          "8",         "-t",    "1d2h",
                          "-J",        "gpt",   "-A",
                          "nlp",       "-p",    "long",
                          "--project", "p1",    "-o",
                          "out/%x-%j", "-e",    "err",
                          "--launch",  "plain", "--grace",
                          "2m",        "-w",    "hgx[01-02]",
                          "-x",        "hgx07"});
  REQUIRE(made);
  CHECK(made->component().nodes == 4);
  CHECK(made->component().ranks_per_node == 8);
  CHECK(made->component().launch == LaunchKind::kPlain);
  CHECK(made->component().per_node.whole_node);
  CHECK(made->time_limit == Duration{std::chrono::hours{26}});
  CHECK(made->grace == Duration{std::chrono::minutes{2}});
  CHECK((made->name == "gpt" && made->team == "nlp" && made->queue == "long" &&
         made->project == "p1"));
  CHECK((made->output == "out/%x-%j" && made->error == "err"));
  CHECK(made->nodes_wanted == Words{"hgx01", "hgx02"});
  CHECK(made->nodes_avoided == Words{"hgx07"});
}

TEST_CASE("ranks are spread evenly over the nodes") {
  CHECK(spec({"-N", "4", "-n", "32"})->component().ranks_per_node == 8);
  CHECK(spec({"-n", "3"})->component().ranks_per_node == 3);
  CHECK(spec({"-N", "2", "-n", "8", "--tasks-per-node", "4"})->component().ranks_per_node == 4);
  CHECK_THAT(refusal({"-N", "4", "-n", "6"}),
             Catch::Contains("--ranks: 6") && Catch::Contains("multiple of 4"));
  CHECK_THAT(refusal({"-N", "2", "-n", "8", "--tasks-per-node", "3"}),
             Catch::Contains("--tasks-per-node says 3"));
  CHECK_THAT(refusal({"-n", "5000"}), Catch::Contains("at most 4096"));
}

TEST_CASE("amounts make a job share nodes unless it wants them whole") {
  CHECK_FALSE(spec({"--gpus-per-node", "1"})->component().per_node.whole_node);
  CHECK_FALSE(spec({"--cpus-per-node", "1"})->component().per_node.whole_node);
  CHECK_FALSE(spec({"--mem", "1G"})->component().per_node.whole_node);
  CHECK(spec({"--mem", "1G", "--exclusive"})->component().per_node.whole_node);
}

TEST_CASE("GPUs are counted in thousandths, with a type where one is named") {
  const auto typed = spec({"--gpus-per-node", "h100:4"});
  REQUIRE(typed);
  CHECK(typed->component().per_node.gpus.value == 4000);
  CHECK(typed->component().per_node.gpu_type == "h100");
  CHECK(spec({"--gpus-per-node", "0"})->component().per_node.gpus.value == 0);
  CHECK_THAT(refusal({"--gpus-per-node", ":4"}), Catch::Contains("no type"));
  CHECK_THAT(refusal({"--gpus-per-node", "h100:"}), Catch::Contains("--gpus-per-node"));
  CHECK_THAT(refusal({"--gpus-per-node", "0.5"}), Catch::Contains("'0.5' is not a whole number"));
}

TEST_CASE("every mistake names its option") {
  for (const auto& [option, value] :
       std::vector<std::pair<std::string, std::string>>{{"--nodes", "0"},
                                                        {"--nodes", "two"},
                                                        {"--nodes", "-1"},
                                                        {"--time", "soon"},
                                                        {"--time", "0"},
                                                        {"--mem", "lots"},
                                                        {"--mem", "0"},
                                                        {"--nodelist", "hgx[1-"},
                                                        {"--exclude", ","},
                                                        {"--launch", "mpi"},
                                                        {"--launch", "script"},
                                                        {"--env", "1A=2"},
                                                        {"--env", "=x"},
                                                        {"--output", "dir/"},
                                                        {"--output", "%q"},
                                                        {"--name", "a\nb"},
                                                        {"--grace", "never"},
                                                        {"--cpus-per-node", "1e3"}}) {
    CAPTURE(option, value);
    CHECK_THAT(refusal({option + "=" + value}), Catch::StartsWith(option + ": "));
  }
}

TEST_CASE("only variables that are asked for are passed, with the last value") {
  const auto made =
      spec({"--env", "HOME", "--env", "A=1", "--env", "B=x=y z", "--env", "A=2", "--env", "EMPTY"});
  REQUIRE(made);
  CHECK(made->environment ==
        Environment{{"HOME", "/home/alice"}, {"A", "2"}, {"B", "x=y z"}, {"EMPTY", ""}});
  CHECK_THAT(refusal({"--env", "MISSING"}), Catch::Contains("MISSING is not set here"));
}

TEST_CASE("a relative directory counts from the present one") {
  CHECK(spec({"-D", "runs"})->working_directory == "/home/alice/runs");
  CHECK(spec({"-D", "/scratch"})->working_directory == "/scratch");
}

TEST_CASE("an attached job has no output files") {
  for (const Option& option : job_options(JobOptions::kAttached)) {
    CHECK(long_name(option) != "output");
    CHECK(long_name(option) != "error");
  }
}

TEST_CASE("the command line wins over the script, and variables add up") {
  const GivenOptions script = {{"nodes", {{"1"}, "job.sh:2: --nodes"}},
                               {"env", {{"A=1", "B=1"}, "job.sh:3: --env"}}};
  const GivenOptions line = {{"nodes", {{"4"}, "--nodes"}}, {"env", {{"B=2"}, "--env"}}};
  const GivenOptions both = merge(script, line);
  CHECK(both.at("nodes").values == Words{"4"});
  CHECK(both.at("nodes").where == "--nodes");
  const auto made = job_spec(both, defaults(), environment);
  REQUIRE(made);
  CHECK(made->environment == Environment{{"A", "1"}, {"B", "2"}});
}

}  // namespace
}  // namespace artel::cli
