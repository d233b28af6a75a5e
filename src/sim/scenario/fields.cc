// Strict reading of YAML mappings.
#include "sim/scenario/fields.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/hostlist.h"
#include "base/text.h"

namespace artel::scenario {

namespace {

/// Quoted text is text, never a number or a flag.
bool is_plain(const YAML::Node& node) { return node.IsScalar() && node.Tag() != "!"; }

std::string quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

std::string range_text(std::int64_t min, std::int64_t max) {
  return "a whole number from " + std::to_string(min) + " to " + std::to_string(max);
}

}  // namespace

void Mistakes::add(int line, std::string_view what) {
  lines_.push_back(file_ + ":" + std::to_string(line) + ": " + std::string(what));
}

std::string Mistakes::text() const {
  std::string text;
  for (const std::string& line : lines_) {
    if (!text.empty()) text += "\n";
    text += line;
  }
  return text;
}

int line_of(const YAML::Node& node) { return node.Mark().line + 1; }

std::optional<std::int64_t> whole_number(const YAML::Node& node) {
  if (!is_plain(node)) return std::nullopt;
  const std::string& text = node.Scalar();
  std::int64_t value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<double> fraction_number(const YAML::Node& node) {
  if (!is_plain(node)) return std::nullopt;
  const std::string& text = node.Scalar();
  double value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  if (!std::isfinite(value)) return std::nullopt;
  return value;
}

Fields::Fields(Mistakes& mistakes, std::string what, const YAML::Node& map)
    : mistakes_(mistakes), what_(std::move(what)), line_(line_of(map)) {
  if (!map.IsMap()) {
    mistakes_.add(line_, what_ + ": want a mapping {key: value, ...}");
    return;
  }
  for (const auto& pair : map) {
    if (!pair.first.IsScalar()) {
      mistakes_.add(line_of(pair.first), what_ + ": a key must be one word");
      continue;
    }
    const std::string key = pair.first.Scalar();
    if (find(key) != nullptr) {
      mistakes_.add(line_of(pair.first), what_ + ": " + quoted(key) + " is there twice, drop one");
      continue;
    }
    entries_.push_back({key, pair.second, line_of(pair.first)});
  }
}

const Fields::Entry* Fields::find(std::string_view key) const {
  const auto entry = std::ranges::find(entries_, key, &Entry::key);
  return entry == entries_.end() ? nullptr : &*entry;
}

const Fields::Entry* Fields::know(std::string_view key) {
  known_.emplace_back(key);
  return find(key);
}

bool Fields::has(std::string_view key) const { return find(key) != nullptr; }

void Fields::mistake(std::string_view key, std::string_view what) {
  const Entry* entry = find(key);
  mistakes_.add(entry == nullptr ? line_ : entry->line,
                what_ + ": " + std::string(key) + ": " + std::string(what));
}

std::optional<std::string> Fields::scalar(std::string_view key, std::string_view wanted) {
  const Entry* entry = know(key);
  if (entry == nullptr) return std::nullopt;
  if (entry->value.IsScalar()) return entry->value.Scalar();
  mistake(key, "want " + std::string(wanted));
  return std::nullopt;
}

bool Fields::text(std::string_view key, std::string& out) {
  const auto value = scalar(key, "a text");
  if (!value) return false;
  if (value->empty()) {
    mistake(key, "want a text, this one is empty");
    return false;
  }
  out = *value;
  return true;
}

bool Fields::flag(std::string_view key, bool& out) {
  const Entry* entry = know(key);
  if (entry == nullptr) return false;
  const bool yes = is_plain(entry->value) && entry->value.Scalar() == "true";
  const bool no = is_plain(entry->value) && entry->value.Scalar() == "false";
  if (!yes && !no) {
    mistake(key, "want true or false");
    return false;
  }
  out = yes;
  return true;
}

bool Fields::number(std::string_view key, std::int64_t min, std::int64_t max, std::int64_t& out) {
  const Entry* entry = know(key);
  if (entry == nullptr) return false;
  const auto value = whole_number(entry->value);
  if (!value || *value < min || *value > max) {
    mistake(key, "want " + range_text(min, max));
    return false;
  }
  out = *value;
  return true;
}

bool Fields::number(std::string_view key, std::int64_t min, std::int64_t max,
                    std::optional<std::int64_t>& out) {
  std::int64_t value{};
  if (!number(key, min, max, value)) return false;
  out = value;
  return true;
}

bool Fields::fraction(std::string_view key, double& out) {
  const Entry* entry = know(key);
  if (entry == nullptr) return false;
  const auto value = fraction_number(entry->value);
  if (!value || *value < 0 || *value > static_cast<double>(kMostOfAll)) {
    mistake(key, "want a number, 0 or more");
    return false;
  }
  out = *value;
  return true;
}

bool Fields::fraction(std::string_view key, std::optional<double>& out) {
  double value{};
  if (!fraction(key, value)) return false;
  out = value;
  return true;
}

bool Fields::texts(std::string_view key, std::vector<std::string>& out) {
  const YAML::Node items = list(key);
  if (!items) return false;
  std::vector<std::string> found;
  for (const YAML::Node& item : items) {
    if (!item.IsScalar() || item.Scalar().empty()) {
      mistake(key, "want a list of texts, [a, b]");
      return false;
    }
    found.push_back(item.Scalar());
  }
  out = found;
  return true;
}

bool Fields::hosts(std::string_view key, std::vector<std::string>& out) {
  const Entry* entry = know(key);
  if (entry == nullptr) return false;
  std::vector<std::string> lists;
  if (entry->value.IsScalar()) {
    lists.push_back(entry->value.Scalar());
  } else if (!texts(key, lists)) {
    return false;
  }
  std::vector<std::string> found;
  for (const std::string& text : lists) {
    const auto names = unfold_hosts(text);
    if (!names) {
      mistake(key, names.error().text);
      return false;
    }
    found.insert(found.end(), names->begin(), names->end());
  }
  out = found;
  return true;
}

bool Fields::amounts(std::string_view key, std::optional<Amounts>& out) {
  const Entry* entry = know(key);
  if (entry == nullptr) return false;
  if (entry->value.IsMap()) {
    Fields parts(mistakes_, what_ + ": " + std::string(key), entry->value);
    Amounts found;
    for (const auto& pair : entry->value) {
      if (!pair.first.IsScalar()) continue;
      parts.number(pair.first.Scalar(), 0, kMostOfAll, found[pair.first.Scalar()]);
    }
    out = found;
    return true;
  }
  const auto value = whole_number(entry->value);
  if (!value || *value < 0 || *value > kMostOfAll) {
    mistake(key, "want a number of GPUs, 0 or more, or {h100: 8, cpu: 64}");
    return false;
  }
  out = Amounts{{kDefaultFlavor, *value}};
  return true;
}

std::optional<std::size_t> Fields::word(std::string_view key,
                                        const std::vector<std::string_view>& words) {
  std::string all;
  for (const std::string_view word : words) all += (all.empty() ? "" : ", ") + std::string(word);
  const auto value = scalar(key, "one of " + all);
  if (!value) return std::nullopt;
  const auto found = std::ranges::find(words, *value);
  if (found != words.end()) return static_cast<std::size_t>(found - words.begin());
  mistake(key, "'" + *value + "' is not known, want one of " + all);
  return std::nullopt;
}

YAML::Node Fields::map(std::string_view key) {
  const Entry* entry = know(key);
  if (entry == nullptr) return YAML::Node(YAML::NodeType::Undefined);
  if (entry->value.IsMap()) return entry->value;
  mistake(key, "want a mapping {key: value, ...}");
  return YAML::Node(YAML::NodeType::Undefined);
}

YAML::Node Fields::list(std::string_view key) {
  const Entry* entry = know(key);
  if (entry == nullptr) return YAML::Node(YAML::NodeType::Undefined);
  if (entry->value.IsSequence()) return entry->value;
  mistake(key, "want a list");
  return YAML::Node(YAML::NodeType::Undefined);
}

YAML::Node Fields::any(std::string_view key) {
  const Entry* entry = know(key);
  return entry == nullptr ? YAML::Node(YAML::NodeType::Undefined) : entry->value;
}

void Fields::require(std::string_view key) {
  if (!has(key)) mistakes_.add(line_, what_ + ": " + quoted(key) + " is missing");
}

void Fields::end() {
  const std::vector<std::string_view> known(known_.begin(), known_.end());
  for (const Entry& entry : entries_) {
    if (std::ranges::find(known_, entry.key) != known_.end()) continue;
    mistakes_.add(entry.line,
                  what_ + ": unknown key " + quoted(entry.key) + did_you_mean(entry.key, known));
  }
}

}  // namespace artel::scenario
