// Host lists: a small recursive-descent parser, and folding by one group of digits after the other.
#include "base/hostlist.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace artel {
namespace {

/// Numbers with more digits are kept as text.
constexpr std::size_t kMostDigits = 18;
/// Longest name of a host (RFC 1035).
constexpr std::size_t kMostLetters = 253;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool is_name(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_' ||
         c == '.';
}

class Unfolder {
 public:
  explicit Unfolder(std::string_view text) : text_(text) {}

  Result<std::vector<std::string>> all() {
    skip_space();
    bool wants_name = false;  // after a comma
    while (at_ < text_.size() || wants_name) {
      if (auto done = pattern(); !done) return fail(done);
      skip_space();
      wants_name = peek() == ',';
      if (wants_name) ++at_;
      skip_space();
    }
    return std::move(names_);
  }

 private:
  using Choices = std::vector<std::string>;

  [[nodiscard]] char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void skip_space() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
  }
  [[nodiscard]] std::unexpected<Error> error(std::string_view what) const {
    return fail(
        ErrorCode::kInvalidArgument,
        fmt::format("host list '{}', character {}: {}; write names such as n[01-04,7],login1",
                    text_, at_ + 1, what));
  }

  /// One name with its groups; appends the names that it stands for.
  Result<> pattern() {
    std::vector<Choices> pieces;
    std::size_t product = 1;
    const std::size_t begin = at_;
    while (at_ < text_.size() && text_[at_] != ',' && !is_space(text_[at_])) {
      if (text_[at_] == '[') {
        auto numbers = group(kMaxHosts / product);
        if (!numbers) return fail(numbers);
        product *= numbers->size();
        pieces.push_back(std::move(*numbers));
        continue;
      }
      if (!is_name(text_[at_]))
        return error(fmt::format("'{}' cannot be part of a name", text_[at_]));
      std::string literal;
      while (at_ < text_.size() && is_name(text_[at_])) literal += text_[at_++];
      pieces.push_back({std::move(literal)});
    }
    if (at_ == begin) return error("a name is missing");
    if (names_.size() + product > kMaxHosts) return too_many();
    return append(pieces, begin);
  }

  [[nodiscard]] std::unexpected<Error> too_many() const {
    return error(fmt::format("more than {} names", kMaxHosts));
  }

  /// "[1-3,07]"; at most `most` numbers.
  Result<Choices> group(std::size_t most) {
    ++at_;
    Choices numbers;
    while (true) {
      skip_space();
      if (auto done = range(numbers, most); !done) return fail(done);
      skip_space();
      if (peek() == ']') break;
      if (peek() != ',') return error("',' or ']' expected");
      ++at_;
    }
    ++at_;
    return numbers;
  }

  Result<std::string_view> number() {
    const std::size_t begin = at_;
    while (is_digit(peek())) ++at_;
    if (at_ == begin) return error("a number is missing");
    if (at_ - begin > kMostDigits)
      return error(fmt::format("a number has more than {} digits", kMostDigits));
    return text_.substr(begin, at_ - begin);
  }

  Result<> range(Choices& numbers, std::size_t most) {
    const auto low = number();
    if (!low) return fail(low);
    std::string_view high = *low;
    if (peek() == '-') {
      ++at_;
      const auto end = number();
      if (!end) return fail(end);
      high = *end;
    }
    const std::uint64_t first = std::stoull(std::string(*low));
    const std::uint64_t last = std::stoull(std::string(high));
    if (last < first) return error(fmt::format("range {}-{} runs backwards", *low, high));
    if (high.front() == '0' && high.size() > 1 && high.size() != low->size())
      return error(fmt::format("{}-{} mixes two widths", *low, high));
    if (last - first >= most || numbers.size() + (last - first) >= most) return too_many();
    const std::size_t width = low->front() == '0' ? low->size() : 1;
    for (std::uint64_t n = first; n <= last; ++n)
      numbers.push_back(fmt::format("{:0{}}", n, width));
    return {};
  }

  /// The Cartesian product of the pieces, the last one fastest.
  Result<> append(const std::vector<Choices>& pieces, std::size_t begin) {
    std::vector<std::size_t> index(pieces.size(), 0);
    while (true) {
      std::string name;
      for (std::size_t i = 0; i < pieces.size(); ++i) name += pieces[i][index[i]];
      // Names become parts of paths and arguments of programs.
      if (name.front() == '.' || name.front() == '-' || name.size() > kMostLetters) {
        at_ = begin;
        return error(fmt::format(
            "a name begins with a letter or digit and has at most {} characters", kMostLetters));
      }
      names_.push_back(std::move(name));
      std::size_t piece = pieces.size();
      while (piece > 0 && ++index[piece - 1] == pieces[piece - 1].size()) index[--piece] = 0;
      if (piece == 0) return {};
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::vector<std::string> names_;
};

/// Text and digits in turns: "b1u01" is {"b", "1", "u", "01", ""}. Odd pieces are numbers, later
/// lists of numbers.
using Pieces = std::vector<std::string>;

Pieces split(const std::string& name) {
  Pieces pieces(1);
  for (std::size_t i = 0; i < name.size();) {
    std::size_t end = i;
    while (end < name.size() && is_digit(name[end])) ++end;
    if (end == i || end - i > kMostDigits) {
      end = std::max(end, i + 1);
      pieces.back().append(name, i, end - i);
    } else {
      pieces.push_back(name.substr(i, end - i));
      pieces.emplace_back();
    }
    i = end;
  }
  return pieces;
}

/// By text, then by the number's value, then by its width.
bool natural_less(const Pieces& a, const Pieces& b) {
  const std::size_t common = std::min(a.size(), b.size());
  for (std::size_t i = 0; i < common; ++i) {
    if (a[i] == b[i]) continue;
    if (i % 2 == 0) return a[i] < b[i];
    const auto left = std::stoull(a[i]);
    const auto right = std::stoull(b[i]);
    return left != right ? left < right : a[i].size() < b[i].size();
  }
  return a.size() < b.size();
}

/// "1-3,7" of sorted numbers that differ.
std::string fold_numbers(const std::vector<std::string>& numbers) {
  std::string list;
  for (std::size_t i = 0; i < numbers.size();) {
    const std::size_t width = numbers[i].front() == '0' ? numbers[i].size() : 1;
    const std::uint64_t first = std::stoull(numbers[i]);
    std::size_t end = i + 1;
    while (end < numbers.size() && numbers[end] == fmt::format("{:0{}}", first + (end - i), width))
      ++end;
    if (!list.empty()) list += ',';
    list += numbers[i];
    if (end - i > 1) list += '-' + numbers[end - 1];
    i = end;
  }
  return list;
}

/// Joins the patterns that differ in the `group`-th number only. Order: by the first name of each
/// pattern.
std::vector<Pieces> fold_group(const std::vector<Pieces>& patterns, std::size_t group) {
  struct Joined {
    std::size_t place;  // in the result
    std::vector<std::string> numbers;
  };
  const std::size_t piece = 2 * group + 1;
  std::vector<Pieces> result;
  std::map<Pieces, Joined> joined;
  for (const Pieces& pattern : patterns) {
    if (piece >= pattern.size()) {
      result.push_back(pattern);
      continue;
    }
    Pieces key = pattern;
    key[piece].clear();
    const auto [found, is_new] = joined.try_emplace(std::move(key), Joined{result.size(), {}});
    if (is_new) result.push_back(pattern);
    found->second.numbers.push_back(pattern[piece]);
  }
  for (const auto& [key, join] : joined) result[join.place][piece] = fold_numbers(join.numbers);
  return result;
}

}  // namespace

Result<std::vector<std::string>> unfold_hosts(std::string_view text) {
  return Unfolder(text).all();
}

std::string fold_hosts(const std::vector<std::string>& names) {
  std::vector<Pieces> patterns;
  patterns.reserve(names.size());
  std::size_t groups = 0;
  for (const std::string& name : names) {
    patterns.push_back(split(name));
    groups = std::max(groups, patterns.back().size() / 2);
  }
  std::sort(patterns.begin(), patterns.end(), natural_less);
  patterns.erase(std::unique(patterns.begin(), patterns.end()), patterns.end());
  for (std::size_t group = groups; group > 0; --group) patterns = fold_group(patterns, group - 1);

  std::string list;
  for (const Pieces& pattern : patterns) {
    if (!list.empty()) list += ',';
    for (std::size_t i = 0; i < pattern.size(); ++i) {
      const bool is_list = i % 2 == 1 && pattern[i].find_first_of(",-") != std::string::npos;
      list += is_list ? '[' + pattern[i] + ']' : pattern[i];
    }
  }
  return list;
}

}  // namespace artel
