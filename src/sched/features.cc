#include "sched/features.h"

#include <algorithm>

namespace artel::sched {
namespace {

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '_' || c == '-';
}

}  // namespace

/// Turns infix into postfix; what is open is kept on a stack, so that no text can exhaust the
/// caller's.
class FeatureParser {
 public:
  explicit FeatureParser(std::string_view text) : text_(text) {}

  Result<FeatureExpression> run() {
    if (text_.size() > kLongestExpression) {
      return fail(ErrorCode::kInvalidArgument,
                  "features: the expression has " + std::to_string(text_.size()) + " bytes, " +
                      std::to_string(kLongestExpression) + " are possible");
    }
    skip_blanks();
    if (at_ == text_.size()) return FeatureExpression{};
    while (at_ < text_.size()) {
      if (!(wants_operand_ ? operand() : behind_operand())) return wrong();
      skip_blanks();
    }
    if (wants_operand_) return wrong();
    while (!open_.empty()) {
      if (open_.back() == '(') return wrong();
      close_top();
    }
    return std::move(made_);
  }

 private:
  static int strength(char sign) {
    if (sign == '!') return 3;
    if (sign == '&') return 2;
    return sign == '|' ? 1 : 0;
  }

  void skip_blanks() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }

  bool operand() {
    const char c = text_[at_];
    if (c == '!' || c == '(') {
      open_.push_back(c);
      ++at_;
      return true;
    }
    const std::size_t from = at_;
    while (at_ < text_.size() && is_letter(text_[at_])) ++at_;
    if (at_ == from) return false;
    add_word(std::string(text_.substr(from, at_ - from)));
    wants_operand_ = false;
    return true;
  }

  bool behind_operand() {
    const char c = text_[at_];
    if (c == ')') {
      while (!open_.empty() && open_.back() != '(') close_top();
      if (open_.empty()) return false;
      open_.pop_back();
    } else if (c == '&' || c == '|') {
      while (!open_.empty() && strength(open_.back()) >= strength(c)) close_top();
      open_.push_back(c);
      wants_operand_ = true;
    } else {
      return false;
    }
    ++at_;
    return true;
  }

  void close_top() {
    const char sign = open_.back();
    open_.pop_back();
    made_.steps_.push_back(sign == '!'   ? FeatureExpression::kNot
                           : sign == '&' ? FeatureExpression::kAnd
                                         : FeatureExpression::kOr);
  }

  void add_word(std::string word) {
    const auto known = std::ranges::find(made_.words_, word);
    made_.steps_.push_back(static_cast<std::uint32_t>(known - made_.words_.begin()));
    if (known == made_.words_.end()) made_.words_.push_back(std::move(word));
  }

  [[nodiscard]] std::unexpected<Error> wrong() const {
    const bool ends = at_ >= text_.size();
    return fail(ErrorCode::kInvalidArgument,
                "features: '" + std::string(text_) + "' is no expression, " +
                    (ends ? "it ends too early"
                          : "'" + std::string(1, text_[at_]) + "' at character " +
                                std::to_string(at_ + 1) + " does not belong there") +
                    "; write it like 'ib&!(old|slow)'");
  }

  std::string_view text_;
  std::size_t at_ = 0;
  bool wants_operand_ = true;
  std::vector<char> open_;
  FeatureExpression made_;
};

bool is_feature(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, is_letter);
}

Result<FeatureExpression> FeatureExpression::parse(std::string_view text) {
  return FeatureParser(text).run();
}

bool FeatureExpression::holds(const std::vector<std::string>& features) const {
  if (steps_.empty()) return true;
  std::vector<bool> values;
  for (const std::uint32_t step : steps_) {
    if (step < kNot) {
      values.push_back(std::ranges::find(features, words_[step]) != features.end());
    } else if (step == kNot) {
      values.back() = !values.back();
    } else {
      const bool right = values.back();
      values.pop_back();
      values.back() = step == kAnd ? values.back() && right : values.back() || right;
    }
  }
  return values.back();
}

}  // namespace artel::sched
