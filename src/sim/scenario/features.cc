// Recursive descent over feature expressions.
#include "sim/scenario/features.h"

#include <algorithm>

namespace artel::scenario {

namespace {

constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz0123456789._-";
constexpr int kDeepest = 64;

class Reading {
 public:
  Reading(std::string_view text, const std::vector<std::string>& features)
      : text_(text), features_(features) {}

  bool whole() {
    const bool value = any();
    if (at_ < text_.size()) is_wrong_ = true;
    return value;
  }
  [[nodiscard]] bool is_wrong() const { return is_wrong_; }
  [[nodiscard]] std::size_t at() const { return at_; }
  [[nodiscard]] const std::vector<std::string>& words() const { return words_; }

 private:
  char next() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  bool any() {
    bool value = all();
    while (next() == '|') {
      ++at_;
      const bool right = all();
      value = value || right;
    }
    return value;
  }

  bool all() {
    bool value = one();
    while (next() == '&') {
      ++at_;
      const bool right = one();
      value = value && right;
    }
    return value;
  }

  bool one() {
    if (++depth_ > kDeepest) is_wrong_ = true;
    bool value = false;
    if (is_wrong_) return value;
    if (next() == '!') {
      ++at_;
      value = !one();
    } else if (next() == '(') {
      ++at_;
      value = any();
      if (next() != ')') is_wrong_ = true;
      if (!is_wrong_) ++at_;
    } else {
      value = word();
    }
    --depth_;
    return value;
  }

  bool word() {
    next();
    const std::size_t end = std::min(text_.find_first_not_of(kLetters, at_), text_.size());
    const std::string word(text_.substr(at_, end - at_));
    if (word.empty()) is_wrong_ = true;
    at_ = end;
    words_.push_back(word);
    return std::ranges::find(features_, word) != features_.end();
  }

  std::string_view text_;
  const std::vector<std::string>& features_;
  std::size_t at_ = 0;
  int depth_ = 0;
  bool is_wrong_ = false;
  std::vector<std::string> words_;
};

std::unexpected<Error> wrong(std::string_view expression, const Reading& reading) {
  return fail(ErrorCode::kInvalidArgument,
              "'" + std::string(expression) + "' is no expression, see its character " +
                  std::to_string(reading.at() + 1) + "; write it like 'ib&!(old|slow)'");
}

}  // namespace

Result<bool> satisfies(std::string_view expression, const std::vector<std::string>& features) {
  if (expression.empty()) return true;
  Reading reading(expression, features);
  const bool value = reading.whole();
  if (reading.is_wrong()) return wrong(expression, reading);
  return value;
}

Result<std::vector<std::string>> feature_words(std::string_view expression) {
  if (expression.empty()) return std::vector<std::string>{};
  const std::vector<std::string> none;
  Reading reading(expression, none);
  reading.whole();
  if (reading.is_wrong()) return wrong(expression, reading);
  return reading.words();
}

bool is_feature(std::string_view text) {
  return !text.empty() && text.find_first_not_of(kLetters) == std::string_view::npos;
}

}  // namespace artel::scenario
