#include "cli/table.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/assert.h"

namespace artel::cli {
namespace {

constexpr std::string_view kReset = "\x1b[0m";

std::string_view escape(Style style) {
  switch (style) {
    case Style::kGood:
      return "\x1b[32m";
    case Style::kBad:
      return "\x1b[31m";
    case Style::kDim:
      return "\x1b[2m";
    case Style::kPlain:
      break;
  }
  return "";
}

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

/// Bytes of the character that starts here, 0 where it is no valid UTF-8.
std::size_t character_bytes(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  std::size_t length = 0;
  if (first < 0x80U) return 1;
  if (first >= 0xC2U && first <= 0xDFU) length = 2;
  if (first >= 0xE0U && first <= 0xEFU) length = 3;
  if (first >= 0xF0U && first <= 0xF4U) length = 4;
  if (length == 0 || text.size() < length) return 0;
  const bool whole =
      std::all_of(text.begin() + 1, text.begin() + static_cast<long>(length), is_continuation);
  return whole ? length : 0;
}

bool is_control(std::string_view character) {
  const auto first = static_cast<unsigned char>(character.front());
  if (character.size() == 1) return first < 0x20U || first == 0x7FU;
  return first == 0xC2U && static_cast<unsigned char>(character[1]) < 0xA0U;
}

/// Takes from the widest columns first until the line fits or nothing can be taken.
void fit(const std::vector<Column>& columns, std::vector<std::size_t>& widths, std::size_t limit) {
  const std::size_t gaps = columns.size() - 1;
  while (std::accumulate(widths.begin(), widths.end(), gaps) > limit) {
    std::size_t best = columns.size();
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const bool can_shrink = columns[i].least > 0 && widths[i] > columns[i].least;
      if (can_shrink && (best == columns.size() || widths[i] >= widths[best])) best = i;
    }
    if (best == columns.size()) return;
    --widths[best];
  }
}

}  // namespace

void Table::add(std::vector<Cell> cells) {
  ARTEL_ASSERT(cells.size() == columns_.size());
  for (Cell& cell : cells) cell.text = printable(cell.text);
  rows_.push_back(std::move(cells));
}

std::string Table::text(const Terminal& terminal) const {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    std::size_t width = characters(columns_[i].title);
    for (const auto& row : rows_) width = std::max(width, characters(row[i].text));
    widths.push_back(width);
  }
  if (terminal.width > 0) fit(columns_, widths, terminal.width);

  std::string out;
  const auto put = [&](std::size_t i, const std::string& cell, Style style) {
    const std::string shown = shorten(cell, widths[i]);
    const std::string pad(widths[i] - characters(shown), ' ');
    if (i > 0) out += ' ';
    if (columns_[i].right) out += pad;
    const bool styled = terminal.color && style != Style::kPlain && !shown.empty();
    if (styled) out += escape(style);
    out += shown;
    if (styled) out += kReset;
    if (!columns_[i].right && i + 1 < columns_.size()) out += pad;
  };
  const auto end_line = [&out] {
    out.erase(out.find_last_not_of(' ') + 1);
    out += '\n';
  };
  for (std::size_t i = 0; i < columns_.size(); ++i) put(i, columns_[i].title, Style::kPlain);
  end_line();
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) put(i, row[i].text, row[i].style);
    end_line();
  }
  return out;
}

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = character_bytes(text);
    const std::string_view character = text.substr(0, std::max<std::size_t>(length, 1));
    if (length == 0 || is_control(character)) {
      out += '?';
    } else {
      out += character;
    }
    text.remove_prefix(character.size());
  }
  return out;
}

std::size_t characters(std::string_view text) {
  return text.size() - static_cast<std::size_t>(std::ranges::count_if(text, is_continuation));
}

std::string shorten(const std::string& text, std::size_t width) {
  if (characters(text) <= width) return text;
  if (width == 0) return "";
  std::size_t end = 0;
  for (std::size_t kept = 0; kept + 1 < width; ++kept) {
    end += std::max<std::size_t>(character_bytes(std::string_view(text).substr(end)), 1);
  }
  return text.substr(0, end) + "~";
}

}  // namespace artel::cli
