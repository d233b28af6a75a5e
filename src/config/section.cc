#include "config/section.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace artel::config {
namespace {

const std::vector<Entry>& entries(const Value& table) {
  return std::get<std::vector<Entry>>(table.content);
}

}  // namespace

void Mistakes::add(const std::string& file, std::uint32_t line, std::string_view key,
                   std::string_view what) {
  lines_.push_back(fmt::format("{}:{}: {}: {}", file, line, key, what));
}

std::string Mistakes::text() const {
  std::string text;
  for (const std::string& line : lines_) {
    if (!text.empty()) text += '\n';
    text += line;
  }
  return text;
}

Section::Section(const Source& source, std::string path, const Value& table)
    : source_(source), path_(std::move(path)), table_(table) {}

std::string Section::full(std::string_view key) const {
  return path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
}

const Entry* Section::find(std::string_view key) {
  if (std::find(known_.begin(), known_.end(), key) == known_.end()) known_.push_back(key);
  const auto& all = entries(table_);
  const auto entry =
      std::find_if(all.begin(), all.end(), [key](const Entry& one) { return one.key == key; });
  return entry == all.end() ? nullptr : &*entry;
}

template <typename Kind>
const Kind* Section::get(std::string_view key, std::string_view wanted) {
  const Entry* entry = find(key);
  if (entry == nullptr) return nullptr;
  if (const Kind* value = std::get_if<Kind>(&entry->value.content)) return value;
  mistake(key, fmt::format("must be {}, but is {}", wanted, kind_name(entry->value)));
  return nullptr;
}

bool Section::text(std::string_view key, std::string& out) {
  const auto* value = get<std::string>(key, "a text in quotes");
  if (value == nullptr) return false;
  if (value->find('\0') != std::string::npos) {
    mistake(key, "must not have a NUL in it");
    return false;
  }
  out = *value;
  return true;
}

bool Section::flag(std::string_view key, bool& out) {
  const auto* value = get<bool>(key, "true or false");
  if (value != nullptr) out = *value;
  return value != nullptr;
}

bool Section::number(std::string_view key, std::uint64_t min, std::uint64_t max,
                     std::uint64_t& out) {
  const auto* value = get<std::int64_t>(key, "a whole number");
  if (value == nullptr) return false;
  if (*value < 0 || static_cast<std::uint64_t>(*value) < min ||
      static_cast<std::uint64_t>(*value) > max) {
    mistake(key, fmt::format("{} is out of range; accepted are {} to {}", *value, min, max));
    return false;
  }
  out = static_cast<std::uint64_t>(*value);
  return true;
}

bool Section::real(std::string_view key, double min, double max, double& out) {
  const Entry* entry = find(key);
  if (entry == nullptr) return false;
  double value = 0;
  if (const auto* whole = std::get_if<std::int64_t>(&entry->value.content)) {
    value = static_cast<double>(*whole);
  } else if (const auto* fraction = std::get_if<double>(&entry->value.content)) {
    value = *fraction;
  } else {
    mistake(key, fmt::format("must be a number, but is {}", kind_name(entry->value)));
    return false;
  }
  if (!(value >= min && value <= max)) {
    mistake(key, fmt::format("{} is out of range; accepted are {} to {}", value, min, max));
    return false;
  }
  out = value;
  return true;
}

bool Section::duration(std::string_view key, std::optional<Duration>& out) {
  Duration value{};
  if (!duration(key, value)) return false;
  out = value;
  return true;
}

bool Section::span(std::string_view key, Duration& out) {
  const Entry* entry = find(key);
  const auto* text = entry == nullptr ? nullptr : std::get_if<std::string>(&entry->value.content);
  if (text == nullptr || (*text != "0" && *text != "0s")) return duration(key, out);
  out = Duration::zero();
  return true;
}

bool Section::duration(std::string_view key, Duration& out) {
  const auto* value = get<std::string>(key, "a duration in quotes, such as \"60s\"");
  if (value == nullptr) return false;
  const auto parsed = parse_duration(*value);
  if (!parsed) {
    mistake(key, parsed.error().text);
    return false;
  }
  out = *parsed;
  return true;
}

bool Section::bytes(std::string_view key, Bytes& out) {
  const auto* value = get<std::string>(key, "a size in quotes, such as \"2TiB\"");
  if (value == nullptr) return false;
  const auto parsed = parse_bytes(*value);
  if (!parsed) {
    mistake(key, parsed.error().text);
    return false;
  }
  out = *parsed;
  return true;
}

bool Section::texts(std::string_view key, std::vector<std::string>& out) {
  const auto* values = get<std::vector<Value>>(key, "a list of texts, such as [\"root\"]");
  if (values == nullptr) return false;
  std::vector<std::string> texts;
  for (const Value& value : *values) {
    const auto* text = std::get_if<std::string>(&value.content);
    if (text == nullptr || text->empty()) {
      source_.mistakes.add(
          source_.file, value.line, full(key),
          text == nullptr ? fmt::format("must be a list of texts, but one is {}", kind_name(value))
                          : std::string("an empty text is of no use"));
      return false;
    }
    texts.push_back(*text);
  }
  out = std::move(texts);
  return true;
}

const Value* Section::table(std::string_view key) {
  const auto* found = get<std::vector<Entry>>(key, fmt::format("a table, written [{}]", full(key)));
  return found == nullptr ? nullptr : &find(key)->value;
}

std::vector<const Value*> Section::tables(std::string_view key) {
  std::vector<const Value*> tables;
  const std::string wanted = fmt::format("written [[{}]]", full(key));
  const auto* values = get<std::vector<Value>>(key, wanted);
  if (values == nullptr) return tables;
  for (const Value& value : *values) {
    if (std::holds_alternative<std::vector<Entry>>(value.content)) {
      tables.push_back(&value);
    } else {
      source_.mistakes.add(source_.file, value.line, full(key),
                           fmt::format("must be {}, but is {}", wanted, kind_name(value)));
    }
  }
  return tables;
}

const Value* Section::any(std::string_view key) {
  const Entry* entry = find(key);
  return entry == nullptr ? nullptr : &entry->value;
}

void Section::not_yet(std::string_view key) {
  if (find(key) != nullptr)
    mistake(
        key,
        "this version of Artel does not act on it yet; take it out, so that nobody relies on it");
}

void Section::gone(std::string_view key, std::string_view instead) {
  if (find(key) != nullptr) mistake(key, fmt::format("is not a key any more: {}", instead));
  std::erase(known_, key);
  gone_.push_back(key);
}

void Section::require(std::string_view key) {
  if (find(key) == nullptr) mistake(key, "is missing");
}

void Section::mistake(std::string_view key, std::string_view what) {
  const Entry* entry = find(key);
  source_.mistakes.add(source_.file, entry == nullptr ? table_.line : entry->line, full(key), what);
}

void Section::end() {
  for (const Entry& entry : entries(table_)) {
    if (std::find(known_.begin(), known_.end(), entry.key) != known_.end()) continue;
    if (std::find(gone_.begin(), gone_.end(), entry.key) != gone_.end()) continue;
    std::string hint = did_you_mean(entry.key, known_);
    if (hint.empty()) {
      hint = "; known here:";
      for (const std::string_view key : known_) hint += fmt::format(" {}", key);
    }
    source_.mistakes.add(source_.file, entry.line, full(entry.key), "unknown key" + hint);
  }
}

}  // namespace artel::config
