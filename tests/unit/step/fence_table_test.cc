#include "noded/step/fence_table.h"

#include <catch2/catch.hpp>

using namespace artel;
using namespace artel::step;

namespace {

FencePart part(const std::string& signature, std::uint64_t sequence, const std::string& blob,
               std::int32_t status = 0) {
  return {.signature = signature, .sequence = sequence, .status = status, .blob = blob};
}

}  // namespace

TEST_CASE("a fence is complete when all nodes gave their part, in any order", "[step]") {
  FenceTable table(3, 2);
  CHECK_FALSE(table.add(2, part("*", 0, "c"))->has_value());
  CHECK_FALSE(table.add(0, part("*", 0, "a"))->has_value());
  const auto complete = table.add(1, part("*", 0, "b"));
  REQUIRE(complete->has_value());
  CHECK((*complete)->result.blob == "abc");
  CHECK((*complete)->result.status == 0);
  CHECK((*complete)->nodes == std::vector<std::uint32_t>{0, 1, 2});
}

TEST_CASE("the next fence may begin on one node before the last one is complete", "[step]") {
  FenceTable table(2, 1);
  CHECK_FALSE(table.add(0, part("*", 0, "a"))->has_value());
  CHECK_FALSE(table.add(0, part("*", 1, "x"))->has_value());
  CHECK((*table.add(1, part("*", 0, "b")))->result.blob == "ab");
  CHECK((*table.add(1, part("*", 1, "y")))->result.blob == "xy");
}

TEST_CASE("a fence of some ranks waits only for their nodes", "[step]") {
  FenceTable table(4, 2);
  CHECK_FALSE(table.add(1, part("2,3,6", 0, "b"))->has_value());
  const auto complete = table.add(3, part("2,3,6", 0, "d"));
  REQUIRE(complete->has_value());
  CHECK((*complete)->nodes == std::vector<std::uint32_t>{1, 3});
  CHECK((*complete)->result.blob == "bd");
}

TEST_CASE("a failed part fails the fence", "[step]") {
  FenceTable table(2, 1);
  static_cast<void>(table.add(0, part("*", 0, "a", -24)));
  CHECK((*table.add(1, part("*", 0, "b")))->result.status == -24);
}

TEST_CASE("a node that takes no part or speaks twice is refused", "[step]") {
  FenceTable table(4, 2);
  CHECK(table.add(0, part("2,3", 0, "")).error().code == ErrorCode::kProtocol);
  static_cast<void>(table.add(0, part("*", 0, "")));
  CHECK(table.add(0, part("*", 0, "")).error().code == ErrorCode::kProtocol);
}

TEST_CASE("signatures that name no ranks of the gang are refused", "[step]") {
  for (const char* signature : {"", "x", "0,", ",0", "8", "0 1", "3,0", "0,8", "99999999999"}) {
    INFO(signature);
    CHECK_FALSE(fence_nodes(signature, 4, 2));
  }
  CHECK(*fence_nodes("0,7", 4, 2) == std::vector<std::uint32_t>{0, 3});
}
