#include "cli/when.h"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <utility>

#include "base/text.h"

namespace artel::cli {
namespace {

/// Exactly `digits` digits, or nullopt.
std::optional<unsigned> take_number(std::string_view& text, std::size_t digits) {
  if (text.size() < digits) return std::nullopt;
  unsigned value = 0;
  for (const char c : text.substr(0, digits)) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + static_cast<unsigned>(c - '0');
  }
  text.remove_prefix(digits);
  return value;
}

bool take(std::string_view& text, char c) {
  if (!text.starts_with(c)) return false;
  text.remove_prefix(1);
  return true;
}

std::optional<std::chrono::sys_days> take_date(std::string_view& text) {
  constexpr std::size_t kYearDigits = 4;
  const auto year = take_number(text, kYearDigits);
  if (!year || !take(text, '-')) return std::nullopt;
  const auto month = take_number(text, 2);
  if (!month || !take(text, '-')) return std::nullopt;
  const auto day = take_number(text, 2);
  if (!day) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(static_cast<int>(*year)),
                                         std::chrono::month(*month), std::chrono::day(*day)};
  if (!date.ok()) return std::nullopt;
  return std::chrono::sys_days(date);
}

/// "HH:MM" or "HH:MM:SS".
std::optional<Duration> take_clock(std::string_view& text) {
  constexpr std::array<unsigned, 3> kLimits = {24, 60, 60};
  std::array<unsigned, 3> fields{};
  std::size_t count = 0;
  do {
    if (count == fields.size()) return std::nullopt;
    const auto field = take_number(text, 2);
    if (!field || *field >= kLimits.at(count)) return std::nullopt;
    fields.at(count++) = *field;
  } while (take(text, ':'));
  if (count < 2) return std::nullopt;
  return std::chrono::hours(fields[0]) + std::chrono::minutes(fields[1]) +
         std::chrono::seconds(fields[2]);
}

std::optional<Time> calendar_form(std::string_view text) {
  const auto date = take_date(text);
  if (!date) return std::nullopt;
  Duration clock{0};
  if (take(text, 'T') || take(text, ' ')) {
    const auto given = take_clock(text);
    if (!given) return std::nullopt;
    clock = *given;
    (void)take(text, 'Z');
  }
  if (!text.empty()) return std::nullopt;
  return Time(*date) + clock;
}

}  // namespace

Result<Time> parse_when(std::string_view text, Time now) {
  const Time today = std::chrono::floor<std::chrono::days>(now);
  if (text == "now") return now;
  if (text == "today") return today;
  if (text == "yesterday") return today - std::chrono::days(1);
  if (const auto time = calendar_form(text)) return *time;
  if (const auto ago = parse_duration(text)) return now - *ago;
  return fail(ErrorCode::kInvalidArgument,
              fmt::format("'{}' is not a point of time; write 2026-11-30, 2026-11-30T08:00, "
                          "2026-11-30T08:00:30Z (all UTC), today, yesterday, now, or how long ago: "
                          "7d, 36h",
                          text));
}

Result<Time> parse_future(std::string_view text, Time now) {
  std::optional<Time> time;
  if (text.starts_with('+')) {
    if (const auto from_now = parse_duration(text.substr(1))) time = now + *from_now;
  } else {
    time = calendar_form(text);
  }
  if (!time) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("'{}' is not a time to come; write 2026-11-30T08:00, 2026-11-30 (both "
                            "UTC), or how long from now: +2h, +1d12h",
                            text));
  }
  if (*time < now) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{} is over; it is {} (UTC)", format_time(*time), format_time(now)));
  }
  return *time;
}

Result<Period> parse_period(const Parsed& parsed, Time now, Time from) {
  Period period{from, now};
  for (const auto& [name, time] : {std::pair("from", &period.from), std::pair("to", &period.to)}) {
    const auto given = parsed.options.find(name);
    if (given == parsed.options.end()) continue;
    const auto read = parse_when(given->second.values.front(), now);
    if (!read) {
      return fail(read.error().code, fmt::format("{}: {}", given->second.where, read.error().text));
    }
    *time = *read;
  }
  if (period.from >= period.to) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("nothing lies between --from ({}) and --to ({})",
                            format_time(period.from), format_time(period.to)));
  }
  return period;
}

}  // namespace artel::cli
