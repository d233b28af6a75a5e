#include "config/document.h"

#define TOML_EXCEPTIONS 0
#include <fmt/format.h>
#include <toml++/toml.h>

#include <cerrno>
#include <fstream>
#include <sstream>
#include <system_error>
#include <utility>

namespace artel::config {
namespace {

Value value_of(const toml::node& node);

Value table_of(const toml::table& table) {
  std::vector<Entry> entries;
  for (const auto& [key, node] : table)
    entries.push_back({std::string(key.str()), value_of(node),
                       static_cast<std::uint32_t>(key.source().begin.line)});
  return {std::move(entries), static_cast<std::uint32_t>(table.source().begin.line)};
}

Value value_of(const toml::node& node) {
  if (const auto* table = node.as_table()) return table_of(*table);
  const auto line = static_cast<std::uint32_t>(node.source().begin.line);
  if (const auto* array = node.as_array()) {
    std::vector<Value> values;
    for (const toml::node& element : *array) values.push_back(value_of(element));
    return {std::move(values), line};
  }
  if (const auto* text = node.as_string()) return {text->get(), line};
  if (const auto* number = node.as_integer()) return {number->get(), line};
  if (const auto* flag = node.as_boolean()) return {flag->get(), line};
  if (const auto* fraction = node.as_floating_point()) return {fraction->get(), line};
  return {OtherKind{"a date or time"}, line};
}

std::unexpected<Error> unreadable(const std::filesystem::path& file, int error) {
  return fail(ErrorCode::kConfig, fmt::format("{}: cannot be read: {}", file.string(),
                                              std::generic_category().message(error)));
}

}  // namespace

std::string_view kind_name(const Value& value) {
  struct Name {
    std::string_view operator()(const std::string&) const { return "a text"; }
    std::string_view operator()(std::int64_t) const { return "a number"; }
    std::string_view operator()(double) const { return "a number with a fraction"; }
    std::string_view operator()(bool) const { return "true or false"; }
    std::string_view operator()(const OtherKind& other) const { return other.name; }
    std::string_view operator()(const std::vector<Value>&) const { return "a list"; }
    std::string_view operator()(const std::vector<Entry>&) const { return "a table"; }
  };
  return std::visit(Name{}, value.content);
}

Result<Value> read_document(const std::filesystem::path& file) {
  std::error_code error;
  if (std::filesystem::is_directory(file, error)) return unreadable(file, EISDIR);
  errno = 0;
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  if (!in) return unreadable(file, errno);
  if (in.peek() != std::ifstream::traits_type::eof()) text << in.rdbuf();
  if (in.bad() || text.fail()) return unreadable(file, EIO);
  const toml::parse_result parsed = toml::parse(text.view(), file.string());
  if (parsed) return table_of(parsed.table());
  return fail(ErrorCode::kConfig,
              fmt::format("{}:{}: {}", file.string(), parsed.error().source().begin.line,
                          parsed.error().description()));
}

}  // namespace artel::config
