#include "cli/syntax.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "cli/commands.h"

namespace artel::cli {
namespace {

using Words = std::vector<std::string>;

Syntax example(Operands operands) {
  Syntax syntax;
  syntax.command = "example";
  syntax.usage = "[options]";
  syntax.summary = "an example";
  syntax.operands = operands;
  syntax.options = {{"-N,--nodes", Option::Kind::kValue, "COUNT", "nodes"},
                    {"--env", Option::Kind::kList, "NAME", "variables"},
                    {"-x,--exact", Option::Kind::kFlag, "", "flag"}};
  return syntax;
}

std::string error_of(const Syntax& syntax, const Words& words, const std::string& prefix = {}) {
  const auto parsed = parse(syntax, words, prefix);
  REQUIRE_FALSE(parsed);
  CHECK(parsed.error().code == ErrorCode::kInvalidArgument);
  return parsed.error().text;
}

TEST_CASE("short, long and joined forms of an option mean the same") {
  for (const Words& words :
       {Words{"-N", "4"}, Words{"-N4"}, Words{"--nodes", "4"}, Words{"--nodes=4"}}) {
    const auto parsed = parse(example(Operands::kNone), words);
    REQUIRE(parsed);
    CHECK(parsed->value("nodes") == "4");
    CHECK(parsed->options.at("nodes").where == "--nodes");
  }
}

TEST_CASE("a value may begin with a dash") {
  CHECK(parse(example(Operands::kNone), {"-N", "-5"})->value("nodes") == "-5");
  CHECK(parse(example(Operands::kNone), {"--nodes=-5"})->value("nodes") == "-5");
}

TEST_CASE("a list may be repeated and takes exactly one word each time") {
  const auto parsed = parse(example(Operands::kList), {"--env", "A=1", "17", "--env=B=[2,3]"});
  REQUIRE(parsed);
  CHECK(parsed->options.at("env").values == Words{"A=1", "B=[2,3]"});
  CHECK(parsed->operands == Words{"17"});
}

TEST_CASE("an unknown option is refused with the nearest valid one") {
  CHECK(error_of(example(Operands::kNone), {"--nods", "4"}) ==
        "unknown option '--nods', did you mean '--nodes'?");
  CHECK(error_of(example(Operands::kProgram), {"--nodez=4", "--", "true"}) ==
        "unknown option '--nodez', did you mean '--nodes'?");
  CHECK(error_of(example(Operands::kNone), {"-q"}) ==
        "unknown option '-q'; see 'artel example --help'");
}

TEST_CASE("a value that is given twice or not at all is refused") {
  CHECK(error_of(example(Operands::kNone), {"-N", "1", "--nodes=2"}) == "--nodes is given twice");
  CHECK(error_of(example(Operands::kNone), {"--nodes="}) == "--nodes has no value");
  CHECK_THAT(error_of(example(Operands::kNone), {"--nodes"}), Catch::Contains("--nodes"));
}

TEST_CASE("errors begin with the place that the caller names") {
  CHECK_THAT(error_of(example(Operands::kNone), {"--nods=1"}, "job.sh:4: "),
             Catch::StartsWith("job.sh:4: unknown option"));
  CHECK(error_of(example(Operands::kNone), {"-N1", "-N2"}, "job.sh:4: ") ==
        "job.sh:4: --nodes is given twice");
}

TEST_CASE("the program ends the options, whatever its arguments look like") {
  const auto script =
      parse(example(Operands::kProgram), {"-N", "2", "job.sh", "-x", "--nodes", "--", "y"});
  REQUIRE(script);
  CHECK(script->operands == Words{"job.sh", "-x", "--nodes", "--", "y"});
  CHECK_FALSE(script->after_dashes);
  CHECK_FALSE(script->has("exact"));
  const auto program = parse(example(Operands::kProgram), {"-x", "--", "--odd", "-N", "--"});
  REQUIRE(program);
  CHECK(program->operands == Words{"--odd", "-N", "--"});
  CHECK(program->after_dashes);
  CHECK(program->has("exact"));
}

TEST_CASE("names of commands are ordinary words behind the options") {
  const auto parsed = parse(example(Operands::kProgram), {"--", "queue", "submit"});
  REQUIRE(parsed);
  CHECK(parsed->operands == Words{"queue", "submit"});
}

TEST_CASE("words that nobody expects are refused") {
  CHECK_THAT(error_of(example(Operands::kNone), {"17"}), Catch::Contains("'17' is not expected"));
}

TEST_CASE("every command has an example, a summary, --json, --config and a help of 80 columns") {
  for (const Command& command : commands()) {
    const Syntax syntax = command.syntax();
    CAPTURE(syntax.command);
    const std::string help = help_text(syntax);
    CHECK_THAT(help, Catch::Contains("Examples:\n  artel " + syntax.command));
    CHECK_THAT(help, Catch::Contains("--json") && Catch::Contains("--config DIR") &&
                         Catch::Contains("-h, --help"));
    CHECK_FALSE(syntax.summary.empty());
    for (std::size_t start = 0; start < help.size();) {
      const std::size_t end = help.find('\n', start);
      CHECK(end - start <= 80);
      start = end + 1;
    }
  }
}

TEST_CASE("no command has two options of one name") {
  for (const Command& command : commands()) {
    const Syntax syntax = command.syntax();
    std::vector<std::string> names;
    for (const Option& option : syntax.options) {
      const auto comma = option.names.find(',');
      names.push_back(option.names.substr(0, comma));
      if (comma != std::string::npos) names.push_back(option.names.substr(comma + 1));
    }
    std::ranges::sort(names);
    CAPTURE(syntax.command);
    CHECK(std::ranges::adjacent_find(names) == names.end());
  }
}

}  // namespace
}  // namespace artel::cli
