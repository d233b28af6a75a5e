#include "base/text.h"

#include <catch2/catch.hpp>
#include <random>

using namespace artel;
using namespace std::chrono_literals;

namespace {

Duration duration(const std::string& text) {
  const auto parsed = parse_duration(text);
  INFO(text);
  REQUIRE(parsed);
  return *parsed;
}

std::string refusal(const std::string& text) {
  const auto parsed = parse_duration(text);
  INFO(text);
  REQUIRE_FALSE(parsed);
  CHECK(parsed.error().code == ErrorCode::kInvalidArgument);
  return parsed.error().text;
}

std::uint64_t bytes(const std::string& text) {
  const auto parsed = parse_bytes(text);
  INFO(text);
  REQUIRE(parsed);
  return parsed->value;
}

}  // namespace

TEST_CASE("every form of a duration is understood") {
  CHECK(duration("90") == 90min);
  CHECK(duration("1:30") == 90s);
  CHECK(duration("90:00") == 90min);
  CHECK(duration("1:30:00") == 90min);
  CHECK(duration("36:00:00") == 36h);
  CHECK(duration("2-12:00:00") == 60h);
  CHECK(duration("2-12:30") == 60h + 30min);
  CHECK(duration("2-12") == 60h);
  CHECK(duration("90s") == 90s);
  CHECK(duration("1h") == 1h);
  CHECK(duration("1d2h") == 26h);
  CHECK(duration("1w") == 168h);
  CHECK(duration("1.500s") == 1500ms);
  CHECK(duration("1.5s") == 1500ms);
  CHECK(duration("250ms") == 250ms);
  CHECK(duration("3650d") == kMaxDuration);
}

TEST_CASE("text that is no duration is refused with an example of each form") {
  for (const char* text : {"",           "-5",        "-1h",  "+5",      " 5",    "5 ",
                           "1:60:00",    "1:00:60",   "1:60", "1:2:3:4", "1:",    ":30",
                           "2-24:00:00", "2-",        "-12",  "1h1d",    "1h1h",  "1.5h",
                           "1.s",        "1.2345s",   "1.5",  "h",       "5x",    "1H",
                           "1000 years", "1000years", "0x10", "1e3",     "1-2-3", "unlimited"}) {
    const std::string error = refusal(text);
    CHECK(error.find("'" + std::string(text) + "'") != std::string::npos);
    for (const char* example : {"90 (minutes)", "1:30", "1:30:00", "2-12:00:00", "90s", "1d2h"})
      CHECK(error.find(example) != std::string::npos);
  }
}

TEST_CASE("no time at all is refused in every form") {
  for (const char* text : {"0", "0:00", "0-0", "0s", "0.000s", "0ms", "0h0m"})
    CHECK(refusal(text).find("must be positive") != std::string::npos);
}

TEST_CASE("a duration over the maximum is refused with the maximum") {
  for (const char* text : {"365000d", "3650d1s", "99999999999999", "999999999999999w",
                           "10000000000000000000000", "99999999-0"})
    CHECK(refusal(text).find("maximum of 3650d") != std::string::npos);
  CHECK(refusal("1000 years").find("at most 3650d") != std::string::npos);
}

TEST_CASE("a limit may be unlimited") {
  REQUIRE(parse_limit("unlimited"));
  CHECK_FALSE(parse_limit("unlimited")->has_value());
  REQUIRE(parse_limit("none"));
  CHECK_FALSE(parse_limit("none")->has_value());
  REQUIRE(parse_limit("1h"));
  CHECK(*parse_limit("1h") == 1h);
  REQUIRE_FALSE(parse_limit("Unlimited"));
  CHECK(parse_limit("forever").error().text.find("'unlimited'") != std::string::npos);
}

TEST_CASE("durations print in their short form") {
  CHECK(format_duration(26h) == "1d2h");
  CHECK(format_duration(90s) == "90s");
  CHECK(format_duration(1500ms) == "1.500s");
  CHECK(format_duration(1ms) == "0.001s");
  CHECK(format_duration(90min) == "1h30m");
  CHECK(format_duration(1h) == "1h");
  CHECK(format_duration(3min + 250ms) == "3m0.250s");
  CHECK(format_duration(0ms) == "0s");
  CHECK(format_duration(-90s) == "-90s");
}

TEST_CASE("a printed duration parses back to itself") {
  std::mt19937_64 random(1);
  for (int bits = 1; bits < 39; ++bits)
    for (int i = 0; i < 200; ++i) {
      const auto limit = std::min<std::uint64_t>(1ULL << bits, kMaxDuration.count());
      Duration value{1 + static_cast<std::int64_t>(random() % limit)};
      if (i % 2 == 0) value = std::chrono::ceil<std::chrono::seconds>(value);
      CHECK(duration(format_duration(value)) == value);
    }
}

TEST_CASE("elapsed times print as tables want them") {
  CHECK(format_elapsed(26h) == "1-02:00:00");
  CHECK(format_elapsed(12h + 5min + 9s) == "12:05:09");
  CHECK(format_elapsed(5min + 9s + 999ms) == "5:09");
  CHECK(format_elapsed(0ms) == "0:00");
  CHECK(format_elapsed(-5s) == "0:00");
}

TEST_CASE("sizes are powers of 1024") {
  CHECK(bytes("4096") == 4096);
  CHECK(bytes("0") == 0);
  CHECK(bytes("17B") == 17);
  CHECK(bytes("64K") == 65536);
  CHECK(bytes("2G") == 2ULL << 30U);
  CHECK(bytes("2GB") == 2ULL << 30U);
  CHECK(bytes("2GiB") == 2ULL << 30U);
  CHECK(bytes("2gib") == 2ULL << 30U);
  CHECK(bytes("1.5T") == 3ULL << 39U);
  CHECK(bytes("0.1K") == 102);
  CHECK(bytes("1.999999999E") > bytes("1.9E"));
  CHECK(bytes("7.999999999E") < (1ULL << 63U));
}

TEST_CASE("text that is no size is refused") {
  for (const char* text : {"", "G", "-1", "1.5", "1.5B", "1..5G", "1.G", ".5G", "2 G", "2Gi", "2X",
                           "2iB", "2GiBs", "1.1234567890G", "99999999999999999999"}) {
    const auto parsed = parse_bytes(text);
    INFO(text);
    REQUIRE_FALSE(parsed);
    CHECK(parsed.error().text.find("is not a size") != std::string::npos);
  }
  CHECK(parse_bytes("8E").error().text.find("maximum") != std::string::npos);
  CHECK(parse_bytes("0.0001K").error().text.find("less than one byte") != std::string::npos);
}

TEST_CASE("a printed size parses back to itself") {
  CHECK(format_bytes(Bytes{2ULL << 40U}) == "2TiB");
  CHECK(format_bytes(Bytes{1536ULL << 20U}) == "1536MiB");
  CHECK(format_bytes(Bytes{17}) == "17B");
  CHECK(format_bytes(Bytes{0}) == "0B");
  CHECK(bytes("9223372036854775807B") == INT64_MAX);
  std::mt19937_64 random(2);
  for (unsigned shift = 1; shift < 63; ++shift)
    for (int i = 0; i < 50; ++i) {
      const std::uint64_t value = (random() >> (64U - shift)) << (random() % (64U - shift) / 2);
      CHECK(bytes(format_bytes(Bytes{value})) == value);
    }
}

TEST_CASE("a number is whole, alone and in its range") {
  CHECK(*parse_number("nodes", "4", 1, 8) == 4);
  CHECK(*parse_number("nodes", "18446744073709551615", 0, UINT64_MAX) == UINT64_MAX);
  for (const char* text : {"", "x", "4x", " 4", "4 ", "+4", "-4", "4.0", "0x4"}) {
    INFO(text);
    REQUIRE_FALSE(parse_number("nodes", text, 1, 8));
    CHECK(parse_number("nodes", text, 1, 8).error().text ==
          "nodes: '" + std::string(text) + "' is not a whole number; accepted are 1 to 8");
  }
  for (const char* text : {"0", "9", "99999999999999999999999"})
    CHECK(parse_number("nodes", text, 1, 8).error().text ==
          "nodes: " + std::string(text) + " is out of range; accepted are 1 to 8");
}

TEST_CASE("times print in UTC") {
  CHECK(format_time(time_from_ms(0)) == "1970-01-01T00:00:00Z");
  CHECK(format_time(time_from_ms(1'795'915'432'999)) == "2026-11-29T01:23:52Z");
  CHECK(format_time(time_from_ms(951'782'400'000)) == "2000-02-29T00:00:00Z");
  CHECK(format_time(time_from_ms(-1)) == "1969-12-31T23:59:59Z");
}

TEST_CASE("the nearest word is suggested when it is near") {
  const std::vector<std::string_view> words = {"--nodes", "--name", "--time", "-N"};
  CHECK(nearest_word("--nods", words) == "--nodes");
  CHECK(nearest_word("--ndoes", words) == "--nodes");
  CHECK(nearest_word("--tmie", words) == "--time");
  CHECK(nearest_word("--partition", words) == std::nullopt);
  CHECK(nearest_word("ab", {"cd"}) == std::nullopt);
  CHECK(nearest_word("", {"a"}) == std::nullopt);
  CHECK(nearest_word("queue", {}) == std::nullopt);
  CHECK(did_you_mean("--nods", words) == ", did you mean '--nodes'?");
  CHECK(did_you_mean("--partition", words).empty());
}

TEST_CASE("the first of equally near words is suggested") {
  CHECK(nearest_word("cat", {"cart", "coat"}) == "cart");
  CHECK(nearest_word("cat", {"coat", "cat"}) == "cat");
}

TEST_CASE("trim takes white space from both ends only") {
  CHECK(trim(" \t a b\r\n") == "a b");
  CHECK(trim("   ").empty());
  CHECK(trim("").empty());
  CHECK(trim("a") == "a");
}
