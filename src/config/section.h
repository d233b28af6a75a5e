// Reading the keys of one table: right kinds, known names, and every mistake told with file, line
// and key.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "config/document.h"

namespace artel::config {

/// All mistakes of a folder, in the order in which they were found.
class Mistakes {
 public:
  void add(const std::string& file, std::uint32_t line, std::string_view key,
           std::string_view what);
  void add(std::string whole) { lines_.push_back(std::move(whole)); }
  [[nodiscard]] bool none() const { return lines_.empty(); }
  [[nodiscard]] std::string text() const;

 private:
  std::vector<std::string> lines_;
};

/// Where the tables of one file are read.
struct Source {
  std::string file;
  Mistakes& mistakes;
};

/// One table. Every getter makes its key a known one and leaves `out` alone where the key is absent
/// or wrong.
class Section {
 public:
  /// `path`: "ctld" for [ctld], empty for the file's top.
  Section(const Source& source, std::string path, const Value& table);

  bool text(std::string_view key, std::string& out);
  bool flag(std::string_view key, bool& out);
  bool number(std::string_view key, std::uint64_t min, std::uint64_t max, std::uint64_t& out);
  /// With or without a fraction.
  bool real(std::string_view key, double min, double max, double& out);
  bool duration(std::string_view key, Duration& out);
  bool duration(std::string_view key, std::optional<Duration>& out);
  /// A duration that may be "0s".
  bool span(std::string_view key, Duration& out);
  bool bytes(std::string_view key, Bytes& out);
  bool texts(std::string_view key, std::vector<std::string>& out);
  /// The table of [key], or null.
  const Value* table(std::string_view key);
  /// The tables of [[key]].
  std::vector<const Value*> tables(std::string_view key);
  /// The value of any kind, or null.
  const Value* any(std::string_view key);

  /// A key of the grammar that this version does not act on: an error, not silence.
  void not_yet(std::string_view key);
  /// A key of earlier versions: an error that tells what is there instead.
  void gone(std::string_view key, std::string_view instead);
  /// A key that must be there.
  void require(std::string_view key);
  /// Tells a mistake at the key's line, or at the table's where the key is absent.
  void mistake(std::string_view key, std::string_view what);
  /// Tells every key that no getter has asked for. Last.
  void end();

 private:
  const Entry* find(std::string_view key);
  /// The value if it has the kind `Kind`; else null, and where it is there with another kind the
  /// mistake is told.
  template <typename Kind>
  const Kind* get(std::string_view key, std::string_view wanted);
  [[nodiscard]] std::string full(std::string_view key) const;

  const Source& source_;
  std::string path_;
  const Value& table_;
  std::vector<std::string_view> known_;
  std::vector<std::string_view> gone_;
};

}  // namespace artel::config
