// Expressions over the features of nodes (N1): words with `&`, `|`, `!` and parentheses; `!` binds
// strongest, then `&`.
//
// Parsed once, asked for many nodes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace artel::sched {

/// Longest expression that is accepted, in bytes.
inline constexpr std::size_t kLongestExpression = 1024;

/// Whether the text is a feature: letters, digits, '.', '_' and '-'.
[[nodiscard]] bool is_feature(std::string_view text);

class FeatureExpression {
 public:
  /// Holds for every node.
  FeatureExpression() = default;
  /// An empty text holds for every node. Error kInvalidArgument: it is no expression, it names the
  /// place.
  static Result<FeatureExpression> parse(std::string_view text);

  /// Whether a node with these words satisfies it.
  [[nodiscard]] bool holds(const std::vector<std::string>& features) const;
  /// Each once, in the order of their first mention.
  [[nodiscard]] const std::vector<std::string>& words() const { return words_; }

 private:
  friend class FeatureParser;
  /// Postfix: an operand is the index of its word, operators are behind their operands.
  enum Operator : std::uint32_t { kNot = 0xffff'fffd, kAnd, kOr };

  std::vector<std::string> words_;
  std::vector<std::uint32_t> steps_;
};

}  // namespace artel::sched
