#include "sched/features.h"

#include <catch2/catch.hpp>

using namespace artel;
using artel::sched::FeatureExpression;

namespace {

bool holds(std::string_view text, const std::vector<std::string>& features) {
  const auto parsed = FeatureExpression::parse(text);
  REQUIRE(parsed);
  return parsed->holds(features);
}

std::string refusal(std::string_view text) {
  const auto parsed = FeatureExpression::parse(text);
  return parsed ? "" : parsed.error().text;
}

}  // namespace

TEST_CASE("an empty expression holds for every node") {
  CHECK(holds("", {}));
  CHECK(holds("  ", {"ib"}));
  CHECK(FeatureExpression{}.holds({}));
}

TEST_CASE("not binds strongest, then and") {
  CHECK(holds("a|b&c", {"a"}));
  CHECK_FALSE(holds("(a|b)&c", {"a"}));
  CHECK(holds("!a&b", {"b"}));
  CHECK_FALSE(holds("!(a&b)", {"a", "b"}));
  CHECK(holds("!a|a", {"a"}));
  CHECK(holds("!!a", {"a"}));
  CHECK(holds("a & !(old | slow)", {"a"}));
  CHECK_FALSE(holds("a&!(old|slow)", {"a", "slow"}));
  CHECK(holds("a&b|c&d", {"c", "d"}));
}

TEST_CASE("the words of an expression are told once each") {
  const auto parsed = FeatureExpression::parse("b & (a | !b)");
  REQUIRE(parsed);
  CHECK(parsed->words() == std::vector<std::string>{"b", "a"});
}

TEST_CASE("what is no expression is refused with its place") {
  for (const char* text : {"a b", "a&", "&a", "a|", "()", "(a", "a)", "a!b", "!", "a&&b", "a,b",
                           "a&(b|)", "\"a\"", "a\n", "*"}) {
    INFO(text);
    CHECK_THAT(refusal(text), Catch::Contains("is no expression"));
  }
  CHECK_THAT(refusal("ib,old"), Catch::Contains("',' at character 3"));
  CHECK_THAT(refusal("(ib&old"), Catch::Contains("it ends too early"));
}

TEST_CASE("no length or depth of an expression exhausts anything") {
  const std::string deep = std::string(1000, '(') + "a" + std::string(1000, ')');
  CHECK_THAT(refusal(deep), Catch::Contains("2001 bytes"));
  CHECK(holds(std::string(500, '(') + "a" + std::string(500, ')'), {"a"}));
  CHECK(holds(std::string(1000, '!') + "a", {"a"}));
}

TEST_CASE("a feature is made of letters, digits and three signs") {
  CHECK(artel::sched::is_feature("H100-80gb_v1.2"));
  CHECK_FALSE(artel::sched::is_feature(""));
  CHECK_FALSE(artel::sched::is_feature("a b"));
  CHECK_FALSE(artel::sched::is_feature("a&b"));
}
