#include "cli/app.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/context.h"

namespace artel::cli {
namespace {

constexpr std::array kCommands = {
    Command{submit_syntax, submit_command},
    Command{run_syntax, run_command},
    Command{queue_syntax, queue_command},
    Command{show_syntax, show_command},
    Command{why_syntax, why_command},
    Command{logs_syntax, logs_command},
    Command{cancel_syntax, cancel_command},
    Command{hold_syntax, hold_command},
    Command{release_syntax, release_command},
    Command{requeue_syntax, requeue_command},
    Command{update_syntax, update_command},
    Command{nodes_syntax, nodes_command},
    Command{drain_syntax, drain_command},
    Command{resume_syntax, resume_command},
    Command{history_syntax, history_command},
    Command{report_usage_syntax, report_usage_command},
    Command{whatif_syntax, whatif_command},
    Command{simulate_syntax, simulate_command},
    Command{lost_and_found_syntax, lost_and_found_command},
};

std::string overview() {
  std::string text =
      "Usage: artel COMMAND [options]\n\nArtel schedules jobs on a shared GPU "
      "cluster.\n\nCommands:\n";
  for (const Command& command : kCommands) {
    const Syntax syntax = command.syntax();
    text += fmt::format("  {:<22}{}\n", syntax.command, syntax.summary);
  }
  text +=
      "\n'artel COMMAND --help' tells the options of a command and gives an example.\n"
      "'artel --version' prints the version.\n"
      "\nExample:\n  artel submit -N 4 --tasks-per-node 8 -t 2h -- ./train --epochs 10\n"
      "\nManual: man artel\n";
  return text;
}

int unknown_command(const std::string& word) {
  std::vector<std::string> names;
  for (const Command& command : kCommands) names.push_back(command.syntax().command);
  const std::vector<std::string_view> valid(names.begin(), names.end());
  std::string hint = did_you_mean(word, valid);
  if (hint.empty()) hint = "; see 'artel --help'";
  return report({ErrorCode::kInvalidArgument, fmt::format("unknown command '{}'{}", word, hint)});
}

int run_words(const Command& command, const Syntax& syntax, const std::vector<std::string>& words) {
  const auto parsed = parse(syntax, words);
  if (!parsed) return report(parsed.error());
  if (parsed->has("help")) return finish(help_text(syntax));
  Context context;
  context.config_folder = parsed->value("config");
  context.json = parsed->has("json");
  context.terminal = Terminal::probe();
  return command.run(context, *parsed);
}

/// How many of the words name this command: 0 where they name another one.
std::size_t words_used(const std::string& name, const std::vector<std::string>& words) {
  const auto blank = name.find(' ');
  if (words.front() != name.substr(0, blank)) return 0;
  if (blank == std::string::npos) return 1;
  if (words.size() > 1 && words[1] == name.substr(blank + 1)) return 2;
  const bool asks_for_help = words.size() > 1 && (words[1] == "--help" || words[1] == "-h");
  return asks_for_help ? 1 : 0;
}

int unknown_words(const std::vector<std::string>& words) {
  const std::string& first = words.front();
  if (first.starts_with('-')) {
    return report({ErrorCode::kInvalidArgument,
                   fmt::format("'{}' stands before the command; options stand behind it: "
                               "artel COMMAND {}",
                               first, first)});
  }
  for (const Command& command : kCommands) {
    const std::string name = command.syntax().command;
    if (!name.starts_with(first + " ")) continue;
    if (words.size() > 1 && !words[1].starts_with('-'))
      return unknown_command(first + " " + words[1]);
    return report({ErrorCode::kInvalidArgument,
                   fmt::format("'{}' is not all of a command; there is '{}'", first, name)});
  }
  return unknown_command(first);
}

}  // namespace

std::span<const Command> commands() { return kCommands; }

Result<std::vector<std::uint64_t>> job_ids(const std::vector<std::string>& words) {
  std::vector<std::uint64_t> ids;
  for (const std::string& word : words) {
    const auto id = parse_number("job", word, 1, std::numeric_limits<std::int64_t>::max());
    if (!id) return fail(id);
    ids.push_back(*id);
  }
  return ids;
}

Result<std::uint64_t> one_job_id(const std::vector<std::string>& words) {
  const auto ids = job_ids(words);
  if (!ids) return fail(ids);
  if (ids->size() != 1) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("name one job; {} are named", ids->empty() ? "none" : "several"));
  }
  return ids->front();
}

int run_cli(std::vector<std::string> words) {
  if (words.empty()) {
    complain("no command; see 'artel --help'");
    return error_exit_code(ErrorCode::kInvalidArgument);
  }
  if (words.front() == "--version") return finish(fmt::format("artel {}\n", version()));
  if (words.front() == "help" && words.size() > 1) {
    words.erase(words.begin());
    words.emplace_back("--help");
  }
  const std::string& first = words.front();
  if (first == "-h" || first == "--help" || first == "help") return finish(overview());
  for (const Command& command : kCommands) {
    const Syntax syntax = command.syntax();
    const std::size_t used = words_used(syntax.command, words);
    if (used == 0) continue;
    words.erase(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(used));
    return run_words(command, syntax, words);
  }
  return unknown_words(words);
}

}  // namespace artel::cli
