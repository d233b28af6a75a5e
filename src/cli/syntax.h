// What a command accepts, as data: parsed by CLI11, shown by --help, compared with the manual page
// by tests.
//
// Values stay texts with the place where they were written; the command converts them with the
// grammars of base/. So a directive in a script and an option on the command line meet the same
// rules and the same messages.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace artel::cli {

struct Option {
  enum class Kind { kFlag, kValue, kList };  // kList: may be repeated

  std::string names;  // "-N,--nodes"; the long name is the key
  Kind kind = Kind::kFlag;
  std::string value;  // what stands for the value in the help
  std::string help;
};

/// What may follow the options.
enum class Operands {
  kNone,
  kList,     // any number, options may stand between them
  kProgram,  // a program and its arguments; the first one ends the options
};

struct Syntax {
  std::string command;  // "submit"
  std::string summary;  // one line
  std::string usage;    // after "artel submit"; several lines are several forms
  Operands operands = Operands::kNone;
  std::vector<Option> options;
  std::string examples;
};

/// An option as it was given.
struct Given {
  std::vector<std::string> values;  // empty for flags
  std::string where;                // "--time" or "job.sh:4: --time": first words of an error
};

struct Parsed {
  std::map<std::string, Given> options;  // by long name without dashes
  std::vector<std::string> operands;
  bool after_dashes = false;  // the operands stood behind "--"

  [[nodiscard]] bool has(const std::string& name) const { return options.contains(name); }
  /// The value, or `otherwise` where the option was not given.
  [[nodiscard]] std::string value(const std::string& name, const std::string& otherwise = {}) const;
};

/// Checks words against a syntax. `prefix` is put before option names in errors ("job.sh:4: ").
/// Error: kInvalidArgument naming the word and the nearest valid one.
Result<Parsed> parse(const Syntax& syntax, const std::vector<std::string>& words,
                     const std::string& prefix = {});

/// The long name of an option: "nodes" of "-N,--nodes".
std::string long_name(const Option& option);

/// The text of --help, 80 columns wide.
std::string help_text(const Syntax& syntax);

/// Text broken at blanks to lines of at most `width`, each but the first indented by `indent`.
std::string wrap(std::string_view text, std::size_t width, std::size_t indent);

}  // namespace artel::cli
