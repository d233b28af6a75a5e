// Tables for people: aligned columns, shortened to the terminal's width, safe against control
// characters in names.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cli/context.h"

namespace artel::cli {

enum class Style : std::uint8_t { kPlain, kGood, kBad, kDim };

struct Column {
  std::string title;
  bool right = false;
  std::size_t least = 0;  // may be shortened to this many characters; 0: stays whole
};

struct Cell {
  Cell(std::string words) : text(std::move(words)) {}  // NOLINT: cells are written as texts
  Cell(const char* words) : text(words) {}             // NOLINT
  Cell(std::string words, Style look) : text(std::move(words)), style(look) {}

  std::string text;
  Style style = Style::kPlain;
};

class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  /// One cell for each column.
  void add(std::vector<Cell> cells);
  [[nodiscard]] std::string text(const Terminal& terminal) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

/// The text with control characters and broken UTF-8 replaced by '?': names of other people must
/// not steer a terminal.
std::string printable(std::string_view text);

/// Number of characters of a printable text.
std::size_t characters(std::string_view text);

/// At most `width` characters; '~' at the end says that something is missing.
std::string shorten(const std::string& text, std::size_t width);

}  // namespace artel::cli
