// Reading one mapping of a YAML file strictly: right types, known keys, every mistake told with
// file, line and the way out.
#pragma once

#include <yaml-cpp/yaml.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/scenario/case.h"

namespace artel::scenario {

/// All mistakes of a file, in the order in which they were found.
class Mistakes {
 public:
  explicit Mistakes(std::string file) : file_(std::move(file)) {}
  void add(int line, std::string_view what);
  [[nodiscard]] bool none() const { return lines_.empty(); }
  [[nodiscard]] std::string text() const;

 private:
  std::string file_;
  std::vector<std::string> lines_;
};

/// Line of the value in its file, from 1.
int line_of(const YAML::Node& node);

inline constexpr std::int64_t kMostMinutes = 10'000'000;  // 19 years
inline constexpr std::int64_t kMostOfAll = 1'000'000'000;

/// One mapping. A getter makes its key a known one, and leaves `out` alone where the key is absent
/// or wrong.
class Fields {
 public:
  /// `what`: "submit", for the messages.
  Fields(Mistakes& mistakes, std::string what, const YAML::Node& map);

  bool text(std::string_view key, std::string& out);
  bool flag(std::string_view key, bool& out);
  bool number(std::string_view key, std::int64_t min, std::int64_t max, std::int64_t& out);
  bool number(std::string_view key, std::int64_t min, std::int64_t max,
              std::optional<std::int64_t>& out);
  /// A number with fraction, not below zero.
  bool fraction(std::string_view key, double& out);
  bool fraction(std::string_view key, std::optional<double>& out);
  bool texts(std::string_view key, std::vector<std::string>& out);
  /// Names by host list grammar, one text or a list of them.
  bool hosts(std::string_view key, std::vector<std::string>& out);
  /// A number (of flavor gpu) or a mapping of resources to numbers.
  bool amounts(std::string_view key, std::optional<Amounts>& out);
  /// One of these words; its index, or nullopt.
  std::optional<std::size_t> word(std::string_view key, const std::vector<std::string_view>& words);
  /// The value if it is a mapping (a sequence), else an undefined node.
  YAML::Node map(std::string_view key);
  YAML::Node list(std::string_view key);
  /// The value of any kind; undefined where it is absent.
  YAML::Node any(std::string_view key);

  void require(std::string_view key);
  /// Tells a mistake at the key's line, or at the mapping's where the key is absent.
  void mistake(std::string_view key, std::string_view what);
  [[nodiscard]] bool has(std::string_view key) const;
  [[nodiscard]] int line() const { return line_; }
  [[nodiscard]] Mistakes& mistakes() { return mistakes_; }
  /// Tells every key that no getter has asked for. Last.
  void end();

 private:
  struct Entry {
    std::string key;
    YAML::Node value;
    int line;
  };
  const Entry* find(std::string_view key) const;
  const Entry* know(std::string_view key);
  std::optional<std::string> scalar(std::string_view key, std::string_view wanted);

  Mistakes& mistakes_;
  std::string what_;
  int line_;
  std::vector<Entry> entries_;
  std::vector<std::string> known_;
};

/// Strict readings of one scalar; nullopt where it is none.
std::optional<std::int64_t> whole_number(const YAML::Node& node);
std::optional<double> fraction_number(const YAML::Node& node);

}  // namespace artel::scenario
