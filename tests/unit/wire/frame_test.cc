#include "wire/step/frame.h"

#include <catch2/catch.hpp>
#include <string>

using artel::ErrorCode;
using artel::wire::frame;
using artel::wire::FrameReader;
using artel::wire::kMaxFrame;

TEST_CASE("a frame is its length in four bytes, big endian, and its payload", "[wire]") {
  const std::string bytes = frame(std::string(0x0102, 'x'));
  REQUIRE(bytes.substr(0, 4) == std::string("\0\0\x01\x02", 4));
  REQUIRE(bytes.size() == 4 + 0x0102);
}

TEST_CASE("frames come out whole and in order however the bytes are cut", "[wire]") {
  const std::string stream = frame("first") + frame("") + frame(std::string(1000, 'y'));
  for (std::size_t piece = 1; piece <= stream.size(); piece += 7) {
    FrameReader reader;
    std::vector<std::string> got;
    for (std::size_t at = 0; at < stream.size(); at += piece) {
      reader.append(stream.substr(at, piece));
      while (true) {
        const auto next = reader.next();
        REQUIRE(next);
        if (!next->has_value()) break;
        got.push_back(**next);
      }
    }
    REQUIRE(got == std::vector<std::string>{"first", "", std::string(1000, 'y')});
  }
}

TEST_CASE("a length over the limit is refused before its payload comes", "[wire]") {
  FrameReader reader;
  reader.append(std::string("\x04\x00\x00\x01", 4));
  const auto next = reader.next();
  REQUIRE_FALSE(next);
  REQUIRE(next.error().code == ErrorCode::kProtocol);
  REQUIRE(next.error().text.find(std::to_string(kMaxFrame)) != std::string::npos);
}

TEST_CASE("the longest allowed length is not refused", "[wire]") {
  FrameReader reader;
  reader.append(std::string("\x04\x00\x00\x00", 4));
  const auto next = reader.next();
  REQUIRE(next);
  REQUIRE_FALSE(next->has_value());
}

TEST_CASE("a part of a header is not a frame", "[wire]") {
  FrameReader reader;
  reader.append(std::string("\0\0\0", 3));
  REQUIRE_FALSE(reader.next()->has_value());
  reader.append(std::string("\0", 1));
  REQUIRE(reader.next()->value().empty());
}

TEST_CASE("a reader that carried many frames gives each of them", "[wire]") {
  FrameReader reader;
  for (int i = 0; i < 5000; ++i) {
    reader.append(frame(std::string(40, 'z')) + frame("part").substr(0, 5));
    REQUIRE(reader.next()->value() == std::string(40, 'z'));
    REQUIRE_FALSE(reader.next()->has_value());
    reader.append("art");
    REQUIRE(reader.next()->value() == "part");
  }
}
