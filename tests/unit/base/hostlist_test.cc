#include "base/hostlist.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

using namespace artel;

namespace {

using Names = std::vector<std::string>;

Names unfold(const std::string& text) {
  const auto names = unfold_hosts(text);
  INFO(text);
  REQUIRE(names);
  return *names;
}

std::string refusal(const std::string& text) {
  const auto names = unfold_hosts(text);
  INFO(text);
  REQUIRE_FALSE(names);
  CHECK(names.error().code == ErrorCode::kInvalidArgument);
  return names.error().text;
}

Names sorted(Names names) {
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

}  // namespace

TEST_CASE("host lists unfold in written order") {
  CHECK(unfold("n[1-3]") == Names{"n1", "n2", "n3"});
  CHECK(unfold("n[01-03,7]") == Names{"n01", "n02", "n03", "n7"});
  CHECK(unfold("n[09-11]") == Names{"n09", "n10", "n11"});
  CHECK(unfold("n[8-11]") == Names{"n8", "n9", "n10", "n11"});
  CHECK(unfold("n[001-2]") == Names{"n001", "n002"});
  CHECK(unfold("n0[1-2]") == Names{"n01", "n02"});
  CHECK(unfold("n[3,1,3]") == Names{"n3", "n1", "n3"});
  CHECK(unfold("login1") == Names{"login1"});
  CHECK(unfold("[1-2]") == Names{"1", "2"});
  CHECK(unfold("n[1-2].example.org,n3") == Names{"n1.example.org", "n2.example.org", "n3"});
  CHECK(unfold("").empty());
  CHECK(unfold(" \n").empty());
}

TEST_CASE("several groups give the product with the last group fastest") {
  CHECK(unfold("r[0-1]b[0-1]") == Names{"r0b0", "r0b1", "r1b0", "r1b1"});
  CHECK(unfold("r[0-1][0-1]") == Names{"r00", "r01", "r10", "r11"});
  CHECK(unfold("n[1-2]-ib") == Names{"n1-ib", "n2-ib"});
  CHECK(unfold("b1u01n1,b2u[05,02]n3") == Names{"b1u01n1", "b2u05n3", "b2u02n3"});
}

TEST_CASE("names are separated by commas, spaces and newlines") {
  CHECK(unfold("a, b,\n  c") == Names{"a", "b", "c"});
  CHECK(unfold("a b\nc") == Names{"a", "b", "c"});
  CHECK(unfold("  a ,b\r\n") == Names{"a", "b"});
  CHECK(unfold("n[1, 3-4]") == Names{"n1", "n3", "n4"});
}

TEST_CASE("broken host lists are refused with the place") {
  for (const auto& [text, place] : std::vector<std::pair<std::string, std::string>>{
           {"n[1-", "character 5: a number is missing"},
           {"n[1-3", "character 6: ',' or ']' expected"},
           {"n[]", "character 3: a number is missing"},
           {"n[1,]", "character 5: a number is missing"},
           {"n[a]", "character 3: a number is missing"},
           {"n[1;2]", "character 4: ',' or ']' expected"},
           {"n[[1]]", "character 3: a number is missing"},
           {"n]", "character 2: ']' cannot be part of a name"},
           {"n[3-1]", "range 3-1 runs backwards"},
           {"n[1-010]", "1-010 mixes two widths"},
           {"a,,b", "character 3: a name is missing"},
           {",a", "character 1: a name is missing"},
           {"a,", "character 3: a name is missing"},
           {"a;b", "character 2: ';' cannot be part of a name"},
           {"a/b", "'/' cannot be part of a name"},
           {"n[1-9999999999999999999]", "more than 18 digits"},
           {"..", "character 1: a name begins with a letter or digit"},
           {"ok,-rf", "character 4: a name begins with a letter or digit"},
           {std::string(300, 'a'), "at most 253 characters"}}) {
    INFO(refusal(text));
    CHECK(refusal(text).find(place) != std::string::npos);
  }
}

TEST_CASE("a host list stops at its limit before it unfolds") {
  CHECK(unfold("n[1-65536]").size() == kMaxHosts);
  CHECK(unfold("n[1-256]r[1-256]").size() == kMaxHosts);
  for (const char* text :
       {"n[0-65536]", "n[1-256]r[1-257]", "n[1-65535],a,b", "n[1-999999999999999999]",
        "n[1-9999]n[1-9999]n[1-9999]n[1-9999]", "n[1-65536,1]"})
    CHECK(refusal(text).find("more than 65536 names") != std::string::npos);
}

TEST_CASE("host lists fold to the short form") {
  CHECK(fold_hosts({"hgx02", "hgx01", "hgx04", "hgx03", "hgx07"}) == "hgx[01-04,07]");
  CHECK(fold_hosts({"n1"}) == "n1");
  CHECK(fold_hosts({"n1", "n1"}) == "n1");
  CHECK(fold_hosts({"n1", "n2"}) == "n[1-2]");
  CHECK(fold_hosts({"n1", "n3"}) == "n[1,3]");
  CHECK(fold_hosts({"n9", "n10", "n11"}) == "n[9-11]");
  CHECK(fold_hosts({"n09", "n10", "n9"}) == "n[9,09-10]");
  CHECK(fold_hosts({"r0b0", "r0b1", "r1b0", "r1b1"}) == "r[0-1]b[0-1]");
  CHECK(fold_hosts({"r0b0", "r0b1", "r1b0"}) == "r0b[0-1],r1b0");
  CHECK(fold_hosts({"n1-ib", "n2-ib", "n1"}) == "n1,n[1-2]-ib");
  CHECK(fold_hosts({"login", "admin"}) == "admin,login");
  CHECK(fold_hosts({}).empty());
  CHECK(fold_hosts({"n12345678901234567890", "n12345678901234567891"}) ==
        "n12345678901234567890,n12345678901234567891");
}

TEST_CASE("a folded list unfolds to the same set of names") {
  std::mt19937_64 random(3);
  for (int round = 0; round < 300; ++round) {
    Names names;
    const auto count = random() % 40;
    for (std::uint64_t i = 0; i < count; ++i) {
      std::string name;
      const auto groups = 1 + random() % 3;
      for (std::uint64_t g = 0; g < groups; ++g) {
        name += std::string(1, static_cast<char>('a' + random() % 2));
        std::string number = std::to_string(random() % 12);
        if (random() % 3 == 0) number.insert(0, random() % 3, '0');
        name += number;
      }
      if (random() % 4 == 0) name += "-ib";
      names.push_back(name);
    }
    const std::string folded = fold_hosts(names);
    INFO(folded);
    CHECK(sorted(unfold(folded)) == sorted(names));
    CHECK(unfold(folded).size() == sorted(names).size());
    CHECK(fold_hosts(unfold(folded)) == folded);
  }
}
