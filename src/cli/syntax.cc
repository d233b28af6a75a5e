#include "cli/syntax.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>

#include "base/text.h"

namespace artel::cli {
namespace {

constexpr std::size_t kHelpWidth = 80;
constexpr std::size_t kHelpColumn = 30;

/// CLI11 takes the next word where nothing stands behind "=".
Result<> refuse_empty_values(const Syntax& syntax, const std::vector<std::string>& words,
                             const std::string& prefix) {
  for (const std::string& word : words) {
    if (word == "--" || (syntax.operands == Operands::kProgram && !word.starts_with('-'))) break;
    if (word.starts_with("--") && word.find('=') == word.size() - 1) {
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("{}{} has no value", prefix, word.substr(0, word.size() - 1)));
    }
  }
  return {};
}

std::unexpected<Error> unknown_option(const Syntax& syntax, const std::string& word,
                                      const std::string& prefix) {
  const std::string name = word.substr(0, word.find('='));
  std::vector<std::string> names;
  for (const Option& option : syntax.options) {
    std::size_t start = 0;
    while (start <= option.names.size()) {
      const std::size_t comma = std::min(option.names.find(',', start), option.names.size());
      names.push_back(option.names.substr(start, comma - start));
      start = comma + 1;
    }
  }
  const std::vector<std::string_view> valid(names.begin(), names.end());
  std::string hint = name.starts_with("--") ? did_you_mean(name, valid) : std::string{};
  if (hint.empty()) hint = fmt::format("; see 'artel {} --help'", syntax.command);
  return fail(ErrorCode::kInvalidArgument,
              fmt::format("{}unknown option '{}'{}", prefix, name, hint));
}

void add_option(CLI::App& app, const Option& option) {
  if (option.kind == Option::Kind::kFlag) {
    app.add_flag(option.names)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    return;
  }
  app.add_option(option.names)
      ->type_name(option.value)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

Result<> take_options(const CLI::App& app, const Syntax& syntax, const std::string& prefix,
                      Parsed& parsed) {
  for (const Option& option : syntax.options) {
    const std::string name = long_name(option);
    const CLI::Option* found = app.get_option("--" + name);
    if (found->count() == 0) continue;
    Given given{{}, prefix + "--" + name};
    if (option.kind != Option::Kind::kFlag) given.values = found->results();
    if (option.kind == Option::Kind::kValue && given.values.size() > 1) {
      return fail(ErrorCode::kInvalidArgument, given.where + " is given twice");
    }
    parsed.options.emplace(name, std::move(given));
  }
  return {};
}

Result<> take_operands(const CLI::App& app, const Syntax& syntax, const std::string& prefix,
                       Parsed& parsed) {
  std::vector<std::string> words = app.remaining();
  bool all_options_read = false;
  for (auto word = words.begin(); word != words.end();) {
    if (!all_options_read && *word == "--") {
      all_options_read = parsed.after_dashes = true;
      word = words.erase(word);
      continue;
    }
    if (!all_options_read && word->size() > 1 && word->starts_with('-')) {
      return unknown_option(syntax, *word, prefix);
    }
    if (syntax.operands == Operands::kProgram) break;
    ++word;
  }
  if (syntax.operands == Operands::kNone && !words.empty()) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{}'{}' is not expected; see 'artel {} --help'", prefix, words.front(),
                            syntax.command));
  }
  parsed.operands = std::move(words);
  return {};
}

std::string option_help(const Option& option) {
  std::string names = option.names;
  if (const auto comma = names.find(','); comma != std::string::npos) {
    names.insert(comma + 1, " ");
  } else {
    names.insert(0, "    ");
  }
  if (!option.value.empty()) names += " " + option.value;
  std::string line = "  " + names;
  line += line.size() + 2 > kHelpColumn ? "\n" + std::string(kHelpColumn, ' ')
                                        : std::string(kHelpColumn - line.size(), ' ');
  return line + wrap(option.help, kHelpWidth - kHelpColumn, kHelpColumn) + "\n";
}

}  // namespace

std::string Parsed::value(const std::string& name, const std::string& otherwise) const {
  const auto found = options.find(name);
  return found == options.end() ? otherwise : found->second.values.front();
}

Result<Parsed> parse(const Syntax& syntax, const std::vector<std::string>& words,
                     const std::string& prefix) {
  if (auto checked = refuse_empty_values(syntax, words, prefix); !checked) return fail(checked);
  CLI::App app;
  app.set_help_flag();
  app.allow_extras();
  app.prefix_command(syntax.operands == Operands::kProgram);
  for (const Option& option : syntax.options) add_option(app, option);
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::Error& error) {
    return fail(ErrorCode::kInvalidArgument, prefix + error.what());
  }
  Parsed parsed;
  if (auto taken = take_operands(app, syntax, prefix, parsed); !taken) return fail(taken);
  if (auto taken = take_options(app, syntax, prefix, parsed); !taken) return fail(taken);
  return parsed;
}

std::string long_name(const Option& option) {
  return option.names.substr(option.names.rfind("--") + 2);
}

std::string help_text(const Syntax& syntax) {
  std::string text = "Usage: ";
  std::size_t start = 0;
  while (start <= syntax.usage.size()) {
    const std::size_t end = std::min(syntax.usage.find('\n', start), syntax.usage.size());
    text += fmt::format("{}artel {} {}\n", start == 0 ? "" : "       ", syntax.command,
                        syntax.usage.substr(start, end - start));
    start = end + 1;
  }
  text += "\n" + wrap(syntax.summary, kHelpWidth, 0) + "\n\nOptions:\n";
  for (const Option& option : syntax.options) text += option_help(option);
  text += "\nExamples:\n" + syntax.examples;
  return text + fmt::format("\nManual: man artel-{}\n",
                            syntax.command.substr(0, syntax.command.find(' ')));
}

std::string wrap(std::string_view text, std::size_t width, std::size_t indent) {
  std::string out;
  std::size_t column = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    if (column > 0 && column + 1 + end > width) {
      out += "\n" + std::string(indent, ' ');
      column = 0;
    } else if (column > 0) {
      out += ' ';
      ++column;
    }
    out += text.substr(0, end);
    column += end;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

}  // namespace artel::cli
