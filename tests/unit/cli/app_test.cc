#include "cli/app.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace artel::cli {
namespace {

using Words = std::vector<std::string>;

TEST_CASE("words that name no command end with the code of a wrong argument") {
  for (const Words& words :
       {Words{}, Words{"quue"}, Words{"--json", "queue"}, Words{"report"},
        Words{"report", "--json"}, Words{"report", "usges"}, Words{"help", "quue"}}) {
    CHECK(run_cli(words) == 2);
  }
}

TEST_CASE("mistakes are found before anything is read or connected") {
  for (const Words& words :
       {Words{"queue", "--nods"}, Words{"queue", "-u", "a", "--mine"}, Words{"show"},
        Words{"show", "1", "2"}, Words{"show", "x"}, Words{"cancel"}, Words{"cancel", "0"},
        Words{"logs", "-1"}, Words{"nodes", "n1"}, Words{"history", "--limit", "0"},
        Words{"history", "--from", "soon"}, Words{"report", "usage", "--by", "moon"},
        Words{"report", "usage", "--format", "xml"}}) {
    CAPTURE(words);
    CHECK(run_cli(words) == 2);
  }
}

TEST_CASE("a folder without configuration is an error of the configuration") {
  CHECK(run_cli({"queue", "--config", "/nowhere"}) == 2);
}

TEST_CASE("help and version need no configuration") {
  for (const Words& words :
       {Words{"--help"}, Words{"help"}, Words{"--version"}, Words{"submit", "--help"},
        Words{"help", "run"}, Words{"report", "--help"}, Words{"report", "usage", "-h"}}) {
    CHECK(run_cli(words) == 0);
  }
}

}  // namespace
}  // namespace artel::cli
