#include "cli/directives.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "base/text.h"

namespace artel::cli {
namespace {

constexpr std::string_view kMark = "#ARTEL";
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::string_view kWide = "\xFF\xFE";
constexpr std::string_view kWideSwapped = "\xFE\xFF";

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  [[nodiscard]] int get() const { return number_; }

 private:
  int number_;
};

std::unexpected<Error> unreadable(const std::string& path, int error) {
  const ErrorCode code = error == ENOENT ? ErrorCode::kNotFound : ErrorCode::kInvalidArgument;
  return fail(code, fmt::format("cannot read the script '{}': {}", path, std::strerror(error)));
}

std::size_t line_of(std::string_view text, std::size_t position) {
  return 1 + static_cast<std::size_t>(std::ranges::count(text.substr(0, position), '\n'));
}

/// The word that begins a line like "#artel ..." or "#SBATCH ...".
std::string_view first_word(std::string_view line) {
  return line.substr(0, line.find_first_of(" \t"));
}

bool same_ignoring_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) {
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
    return lower(x) == lower(y);
  });
}

/// Reads one head after the other line of a script.
class DirectiveReader {
 public:
  explicit DirectiveReader(std::string path) : path_(std::move(path)) {
    syntax_.command = "submit";
    syntax_.options = job_options(JobOptions::kSubmit);
  }

  Result<> line(std::string_view text) {
    ++number_;
    text = trim(text);
    if (text.empty()) return {};
    const std::string_view word = first_word(text);
    if (text.front() != '#') {
      in_head_ = false;
    } else if (word == kMark && !in_head_) {
      warn("this #ARTEL line is ignored, since it stands after the first command");
    } else if (word == kMark) {
      return directive(text.substr(kMark.size()));
    } else if (in_head_) {
      return other_comment(word);
    }
    return {};
  }

  Directives take() { return std::move(directives_); }

 private:
  [[nodiscard]] std::string place() const { return fmt::format("{}:{}: ", path_, number_); }

  void warn(std::string_view text) { directives_.warnings.push_back(place() + std::string(text)); }

  Result<> other_comment(std::string_view word) {
    if (same_ignoring_case(word.substr(0, kMark.size()), kMark)) {
      return fail(
          ErrorCode::kInvalidArgument,
          fmt::format("{}'{}' is no directive; write '#ARTEL', in capitals and with a blank "
                      "after it, or '##' for a comment",
                      place(), printable_word(word)));
    }
    if (word == "#SBATCH" || word == "#PBS" || word == "#BSUB") {
      if (!std::exchange(warned_of_others_, true)) {
        warn(fmt::format("{} lines are not read; write #ARTEL lines instead", word));
      }
    }
    return {};
  }

  static std::string printable_word(std::string_view word) {
    constexpr std::size_t kMost = 40;
    return std::string(word.substr(0, kMost));
  }

  Result<> directive(std::string_view text) {
    const auto words = split_words(text);
    if (!words) return fail(ErrorCode::kInvalidArgument, place() + words.error().text);
    if (words->empty()) {
      return fail(ErrorCode::kInvalidArgument, place() + "the #ARTEL line has no option");
    }
    auto parsed = parse(syntax_, *words, place());
    if (!parsed) return fail(parsed);
    for (auto& [name, given] : parsed->options) {
      const auto [old, is_new] = directives_.options.emplace(name, given);
      if (is_new) continue;
      if (name != "env") {
        return fail(ErrorCode::kInvalidArgument,
                    fmt::format("{} is given twice, first as {}", given.where, old->second.where));
      }
      old->second.values.insert(old->second.values.end(), given.values.begin(), given.values.end());
      old->second.where = given.where;
    }
    return {};
  }

  std::string path_;
  Syntax syntax_;
  Directives directives_;
  std::size_t number_ = 0;
  bool in_head_ = true;
  bool warned_of_others_ = false;
};

}  // namespace

Result<std::string> read_script(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (file.get() < 0) return unreadable(path, errno);
  struct stat status{};
  if (::fstat(file.get(), &status) != 0) return unreadable(path, errno);
  if (S_ISDIR(status.st_mode)) return unreadable(path, EISDIR);
  if (!S_ISREG(status.st_mode)) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("the script '{}' is not a regular file", path));
  }
  std::string text(kMaxScriptBytes + 1, '\0');
  std::size_t size = 0;
  while (size < text.size()) {
    const ssize_t got = ::read(file.get(), text.data() + size, text.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return unreadable(path, errno);
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  if (size > kMaxScriptBytes) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("the script '{}' is larger than {}; keep data in files of their own",
                            path, format_bytes(Bytes{kMaxScriptBytes})));
  }
  text.resize(size);
  return text;
}

Result<> check_script(const std::string& path, std::string_view text) {
  const auto refuse = [&](const std::string& reason) {
    return fail(ErrorCode::kInvalidArgument, fmt::format("{}: {}", path, reason));
  };
  if (text.empty()) return refuse("the script is empty");
  if (text.starts_with(kByteOrderMark) || text.starts_with(kWide) ||
      text.starts_with(kWideSwapped)) {
    return refuse("the script begins with a byte order mark; save it as UTF-8 without one");
  }
  if (const auto nul = text.find('\0'); nul != std::string_view::npos) {
    return refuse(
        fmt::format("a NUL byte stands in line {}; this is no script (to run a program: "
                    "artel submit -- {})",
                    line_of(text, nul), path));
  }
  if (const auto end = text.find('\r'); end != std::string_view::npos) {
    return refuse(
        fmt::format("line {} has a carriage return, as Windows ends lines; convert the file "
                    "with: sed -i 's/\\r$//' {}",
                    line_of(text, end), path));
  }
  if (!text.starts_with("#!")) {
    return refuse("the first line names no interpreter; begin with, for example, #!/bin/bash");
  }
  const std::string_view interpreter = trim(text.substr(2, text.find('\n') - 2));
  if (!interpreter.starts_with('/')) {
    return refuse(
        fmt::format("the interpreter '{}' in the first line is not an absolute path", interpreter));
  }
  return {};
}

Result<Directives> read_directives(const std::string& path, std::string_view text) {
  DirectiveReader reader(path);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (auto read = reader.line(text.substr(0, end)); !read) return fail(read);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return reader.take();
}

Result<std::vector<std::string>> split_words(std::string_view line) {
  std::vector<std::string> words;
  std::optional<std::string> word;
  char quote = '\0';
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    const bool is_blank = c == ' ' || c == '\t';
    if (quote == '\0' && is_blank) {
      if (word) words.push_back(*std::exchange(word, std::nullopt));
    } else if (quote == '\0' && c == '#' && !word) {
      break;
    } else if (c == '\\' && quote != '\'') {
      if (++i == line.size()) {
        return fail(ErrorCode::kInvalidArgument,
                    "the line ends with a backslash; lines are not joined");
      }
      word = word.value_or("") + line[i];
    } else if (c == quote) {
      quote = '\0';
    } else if (quote == '\0' && (c == '\'' || c == '"')) {
      quote = c;
      word = word.value_or("");
    } else {
      word = word.value_or("") + c;
    }
  }
  if (quote != '\0') {
    return fail(ErrorCode::kInvalidArgument, fmt::format("the quote {} is not closed", quote));
  }
  if (word) words.push_back(*word);
  return words;
}

}  // namespace artel::cli
