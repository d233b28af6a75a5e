#include "cli/when.h"

#include <catch2/catch.hpp>
#include <string>

#include "base/text.h"

namespace artel::cli {
namespace {

const Time kNow = time_from_ms(1'764'550'923'000);  // 2025-12-01T01:02:03Z

std::string when(const std::string& text) {
  const auto time = parse_when(text, kNow);
  return time ? format_time(*time) : "refused";
}

TEST_CASE("points of time are dates, times, words, or how long ago") {
  CHECK(when("2026-11-30") == "2026-11-30T00:00:00Z");
  CHECK(when("2026-11-30T08:00") == "2026-11-30T08:00:00Z");
  CHECK(when("2026-11-30 08:00:30") == "2026-11-30T08:00:30Z");
  CHECK(when("2026-11-30T08:00:30Z") == "2026-11-30T08:00:30Z");
  CHECK(when("now") == "2025-12-01T01:02:03Z");
  CHECK(when("today") == "2025-12-01T00:00:00Z");
  CHECK(when("yesterday") == "2025-11-30T00:00:00Z");
  CHECK(when("7d") == "2025-11-24T01:02:03Z");
  CHECK(when("2024-02-29") == "2024-02-29T00:00:00Z");
}

TEST_CASE("what is no point of time is refused") {
  for (const char* text : {"", "2026-13-01", "2026-02-30", "2026-1-1", "2026-11-30T",
                           "2026-11-30T24:00", "2026-11-30T08:60", "2026-11-30T08",
                           "2026-11-30T08:00:00:00", "2026-11-30x", "soon", "2026-11-30Z"}) {
    CAPTURE(text);
    CHECK(when(text) == "refused");
  }
  CHECK_THAT(parse_when("soon", kNow).error().text,
             Catch::Contains("'soon'") && Catch::Contains("2026-11-30"));
}

Parsed period_words(const std::string& from, const std::string& to) {
  Parsed parsed;
  if (!from.empty()) parsed.options["from"] = {{from}, "--from"};
  if (!to.empty()) parsed.options["to"] = {{to}, "--to"};
  return parsed;
}

TEST_CASE("a period has its own ends, or the usual ones") {
  const auto usual = parse_period({}, kNow, kNow - std::chrono::hours(1));
  REQUIRE(usual);
  CHECK((usual->from == kNow - std::chrono::hours(1) && usual->to == kNow));
  const auto given = parse_period(period_words("2025-11-01", "2025-12-01"), kNow, Time{});
  REQUIRE(given);
  CHECK(format_time(given->from) == "2025-11-01T00:00:00Z");
  CHECK(format_time(given->to) == "2025-12-01T00:00:00Z");
}

TEST_CASE("times to come are dates or counted from now") {
  CHECK(parse_future("+2h", kNow).value() == kNow + std::chrono::hours(2));
  CHECK(parse_future("2036-11-30T08:00", kNow).value() > kNow);
  CHECK_THAT(parse_future("2h", kNow).error().text, Catch::Contains("+2h"));
  CHECK_THAT(parse_future("+", kNow).error().text, Catch::Contains("not a time to come"));
  CHECK_THAT(parse_future("2001-01-01", kNow).error().text, Catch::Contains("is over"));
}

TEST_CASE("a period in which nothing lies is refused, and mistakes name their option") {
  const auto empty = parse_period(period_words("2025-12-01", "2025-11-01"), kNow, Time{});
  REQUIRE_FALSE(empty);
  CHECK_THAT(empty.error().text, Catch::Contains("--from (2025-12-01T00:00:00Z)"));
  const auto wrong = parse_period(period_words("", "soon"), kNow, Time{});
  REQUIRE_FALSE(wrong);
  CHECK_THAT(wrong.error().text, Catch::StartsWith("--to: 'soon'"));
}

}  // namespace
}  // namespace artel::cli
