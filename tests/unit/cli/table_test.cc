#include "cli/table.h"

#include <catch2/catch.hpp>
#include <string>

namespace artel::cli {
namespace {

Terminal terminal(std::size_t width, bool color = false) { return {true, color, width}; }

TEST_CASE("columns are as wide as their widest cell") {
  Table table({{"ID", true, 0}, {"NAME", false, 0}, {"STATE", false, 0}});
  table.add({"7", "a", "RUNNING"});
  table.add({"1234", "longer", "DONE"});
  CHECK(table.text(terminal(0)) ==
        "  ID NAME   STATE\n"
        "   7 a      RUNNING\n"
        "1234 longer DONE\n");
}

TEST_CASE("a table without rows still has its head") {
  CHECK(Table({{"ID", true, 0}, {"NAME", false, 4}}).text(terminal(80)) == "ID NAME\n");
}

TEST_CASE("too wide a table gives from its widest columns and says so") {
  Table table({{"ID", true, 0}, {"NAME", false, 4}, {"WHY", false, 6}});
  table.add({"1", "abcdefgh", "because of something"});
  CHECK(table.text(terminal(20)) ==
        "ID NAME     WHY\n"
        " 1 abcdefgh because~\n");
  CHECK(table.text(terminal(12)) ==
        "ID NAME WHY\n"
        " 1 abc~ becau~\n");
}

TEST_CASE("names of other people cannot steer the terminal") {
  CHECK(printable("a\x1b[31mb\tc\x7f") == "a?[31mb?c?");
  CHECK(printable("\xC2\x9B"
                  "1m") == "?1m");
  CHECK(printable("gr\xC3\xBC\xC3\x9F \xE2\x82\xAC \xF0\x9F\x9A\x80") ==
        "gr\xC3\xBC\xC3\x9F \xE2\x82\xAC \xF0\x9F\x9A\x80");
  CHECK(printable("\xC3(\xFF\x80") == "?(??");
  CHECK(printable("cut\xE2\x82") == "cut??");
}

TEST_CASE("characters are counted and cut whole") {
  CHECK(characters("gr\xC3\xBC\xC3\x9F") == 4);
  CHECK(shorten("gr\xC3\xBC\xC3\x9F"
                "e",
                4) == "gr\xC3\xBC~");
  CHECK(shorten("abc", 3) == "abc");
  CHECK(shorten("abc", 1) == "~");
  CHECK(shorten("abc", 0).empty());
}

TEST_CASE("colours come only where they are wanted and do not count as width") {
  Table table({{"STATE", false, 0}, {"X", false, 0}});
  table.add({Cell("FAILED", Style::kBad), "y"});
  CHECK(table.text(terminal(80)) == "STATE  X\nFAILED y\n");
  CHECK(table.text(terminal(80, true)) == "STATE  X\n\x1b[31mFAILED\x1b[0m y\n");
}

}  // namespace
}  // namespace artel::cli
