// What was put to the test, and what was broken, by rule.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace artel::rules {

class Ledger {
 public:
  /// Where the next entries come from: engine, kind and seed of the stream.
  void open(std::string source) { source_ = std::move(source); }
  /// Counts a test of the rule; notes it where it failed.
  void expect(const std::string& rule, bool holds, const std::string& what) {
    ++tested_[rule];
    if (!holds) broken_[rule].push_back(source_ + ": " + what);
  }

  [[nodiscard]] std::size_t tested(const std::string& rule) const {
    const auto found = tested_.find(rule);
    return found == tested_.end() ? 0 : found->second;
  }
  /// At most the first few, one a line.
  [[nodiscard]] std::string broken(const std::string& rule) const {
    const auto found = broken_.find(rule);
    if (found == broken_.end()) return "";
    std::string text = std::to_string(found->second.size()) + " times";
    for (std::size_t i = 0; i < found->second.size() && i < 5; ++i) {
      text += "\n  " + found->second[i];
    }
    return text;
  }
  [[nodiscard]] const std::map<std::string, std::size_t>& all() const { return tested_; }

 private:
  std::string source_;
  std::map<std::string, std::size_t> tested_;
  std::map<std::string, std::vector<std::string>> broken_;
};

}  // namespace artel::rules
