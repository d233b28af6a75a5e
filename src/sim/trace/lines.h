// The text of a file, unpacked where it is gzip, cut into lines; and whole fields of a line read
// strictly.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sim/trace/workload.h"

namespace artel::trace {

/// The whole file, plain or gzip. Error: kIo with the file and the cause; a cut off or damaged
/// archive is an error.
Result<std::string> read_text(const std::filesystem::path& file);

/// Walks over lines. A last line without a newline counts.
class Lines {
 public:
  explicit Lines(std::string_view text) : rest_(text) {}
  /// The next line without its end, or nullopt at the end of the text.
  std::optional<std::string_view> next();
  /// Of the line that was given last, from 1.
  [[nodiscard]] std::uint64_t number() const { return number_; }

 private:
  std::string_view rest_;
  std::uint64_t number_{};
};

/// "file:line: what", kInvalidArgument.
std::unexpected<Error> bad_line(const std::string& file, std::uint64_t line,
                                const std::string& what);

/// A whole number, a minus sign accepted. nullopt: it is none, or too large.
std::optional<std::int64_t> whole_number(std::string_view text);
/// A number with at most three decimals, not negative, in thousandths.
std::optional<Milli> milli_number(std::string_view text);

}  // namespace artel::trace
