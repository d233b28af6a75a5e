// The one grammar for durations, sizes and times in text, used by options, directives and
// configuration.
//
// Durations:  90 (minutes), 1:30 (minutes:seconds), 1:30:00, 2-12:00:00 (days-...), 90s, 1h, 1d2h,
// 1w; "unlimited" only
//             where the caller allows it. Zero, negative and unknown text are errors; nothing
//             rounds to zero.
// Sizes:      4096, 64K, 2G, 1.5T, with an optional iB or B; powers of 1024.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace artel {

/// Longest duration that is accepted; longer ones are errors that say so.
inline constexpr Duration kMaxDuration = std::chrono::hours{24 * 365 * 10};

/// A positive duration. Error: kInvalidArgument with the text and an example of each form.
Result<Duration> parse_duration(std::string_view text);
/// As parse_duration, or nullopt for "unlimited" and "none".
Result<std::optional<Duration>> parse_limit(std::string_view text);
/// The shortest form that parses back to the same value: "1d2h", "90s", "1.500s".
std::string format_duration(Duration duration);
/// For tables: "1-02:00:00", "12:05:09", "5:09".
std::string format_elapsed(Duration duration);

/// A size in bytes. Error: kInvalidArgument.
Result<Bytes> parse_bytes(std::string_view text);
/// The shortest exact form in powers of 1024: "2TiB", "1536MiB", "17B".
std::string format_bytes(Bytes bytes);

/// A whole number in [min, max], decimal, nothing around it. `what` names the thing in the error.
Result<std::uint64_t> parse_number(std::string_view what, std::string_view text, std::uint64_t min,
                                   std::uint64_t max);

/// UTC: "2026-11-30T01:23:52Z".
std::string format_time(Time time);

/// The word of `valid` that is nearest to `word` (edit distance, at most 3), or nullopt.
std::optional<std::string_view> nearest_word(std::string_view word,
                                             const std::vector<std::string_view>& valid);

/// "unknown option '--nods', did you mean '--nodes'?" style hint: ", did you mean 'X'?" or "".
std::string did_you_mean(std::string_view word, const std::vector<std::string_view>& valid);

std::string_view trim(std::string_view text);

}  // namespace artel
