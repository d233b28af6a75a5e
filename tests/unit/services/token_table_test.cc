// Tokens: whose they are, where they count, how long.
#include "ctld/services/token_table.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

namespace artel::ctld {
namespace {

const Caller kAlice{.owner = {.uid = 1001, .gid = 1001, .user = "alice"}, .is_operator = false};
const std::string kPeer = "ipv4:127.0.0.1:40000";
constexpr Time kNow{std::chrono::hours{1'000'000}};

TEST_CASE("a token gives back the caller who logged in") {
  TokenTable table({});
  const std::string token = table.issue(kPeer, kAlice, kNow);
  const auto found = table.find(token, kPeer, kNow);
  REQUIRE(found);
  CHECK((*found)->owner == kAlice.owner);
}

TEST_CASE("a token counts on the connection of its login only") {
  TokenTable table({});
  const std::string token = table.issue(kPeer, kAlice, kNow);
  const auto found = table.find(token, "ipv4:127.0.0.1:40001", kNow);
  REQUIRE_FALSE(found);
  CHECK(found.error().code == ErrorCode::kUnauthenticated);
}

TEST_CASE("tokens differ and travel as printable text") {
  TokenTable table({});
  const std::string one = table.issue(kPeer, kAlice, kNow);
  const std::string other = table.issue(kPeer, kAlice, kNow);
  CHECK(one != other);
  CHECK(one.size() == 32);
  CHECK(
      std::ranges::all_of(one, [](char c) { return std::string("0123456789abcdef").contains(c); }));
  CHECK(table.find(one, kPeer, kNow));
}

TEST_CASE("a token expires") {
  TokenTable table({.lifetime = Duration{1000}, .capacity = 10});
  const std::string token = table.issue(kPeer, kAlice, kNow);
  CHECK(table.find(token, kPeer, kNow + Duration{999}));
  CHECK_FALSE(table.find(token, kPeer, kNow + Duration{1000}));
  CHECK_FALSE(table.find(token, kPeer, kNow));
}

TEST_CASE("a full table forgets the token that was unused for longest") {
  TokenTable table({.lifetime = std::chrono::hours{12}, .capacity = 2});
  const std::string first = table.issue(kPeer, kAlice, kNow);
  const std::string second = table.issue(kPeer, kAlice, kNow);
  REQUIRE(table.find(first, kPeer, kNow));
  const std::string third = table.issue(kPeer, kAlice, kNow);
  CHECK(table.find(first, kPeer, kNow));
  CHECK_FALSE(table.find(second, kPeer, kNow));
  CHECK(table.find(third, kPeer, kNow));
}

TEST_CASE("an unknown or empty token is nobody's") {
  TokenTable table({});
  CHECK_FALSE(table.find("", kPeer, kNow));
  CHECK_FALSE(table.find("00000000000000000000000000000000", kPeer, kNow));
}

}  // namespace
}  // namespace artel::ctld
