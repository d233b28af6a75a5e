// A TOML file as plain values that know their lines: the rest of this folder does not see the
// parser.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"

namespace artel::config {

struct Entry;

/// A value of a kind that no key takes: a date, a time.
struct OtherKind {
  std::string_view name;
};

struct Value {
  std::variant<std::string, std::int64_t, double, bool, OtherKind, std::vector<Value>,
               std::vector<Entry>>
      content;
  std::uint32_t line{};
};

struct Entry {
  std::string key;
  Value value;
  std::uint32_t line{};  // of the key
};

/// "a text", "a table" and so on, for messages.
std::string_view kind_name(const Value& value);

/// The whole file as a table. Error: kConfig "file:line: what" for text that is no TOML, or why the
/// file cannot be read.
Result<Value> read_document(const std::filesystem::path& file);

}  // namespace artel::config
