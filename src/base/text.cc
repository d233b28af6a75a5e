// Durations, sizes, numbers and near words: the parsers are strict, the printers print what parses
// back.
#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

namespace artel {
namespace {

constexpr std::string_view kSpace = " \t\r\n\f\v";
constexpr std::int64_t kSecond = 1000;
constexpr std::int64_t kMinute = 60 * kSecond;
constexpr std::int64_t kHour = 60 * kMinute;
constexpr std::int64_t kDay = 24 * kHour;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Takes digits from the front; nullopt where there is none or the number is over 2^63 - 1.
std::optional<std::int64_t> take_digits(std::string_view& text) {
  std::size_t length = 0;
  while (length < text.size() && is_digit(text[length])) ++length;
  std::int64_t value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + length, value);
  if (parsed.ec != std::errc{}) return std::nullopt;
  text.remove_prefix(length);
  return value;
}

/// The value in milliseconds, capped just above the maximum: longer ones need no exact value.
class DurationSum {
 public:
  void add(std::int64_t count, std::int64_t unit) {
    constexpr std::int64_t kCap = kMaxDuration.count() + 1;
    sum_ = count > kCap / unit ? kCap : std::min(kCap, sum_ + count * unit);
  }
  [[nodiscard]] std::int64_t ms() const { return sum_; }

 private:
  std::int64_t sum_ = 0;
};

/// [D-]H[:M[:S]] with days, else M:S or H:M:S. Each field but the first is below its limit.
std::optional<std::int64_t> clock_form(std::string_view text) {
  DurationSum sum;
  bool has_days = false;
  if (const auto dash = text.find('-'); dash != std::string_view::npos) {
    const auto days = take_digits(text);
    if (!days || text.empty() || text.front() != '-') return std::nullopt;
    text.remove_prefix(1);
    sum.add(*days, kDay);
    has_days = true;
  }
  std::array<std::int64_t, 3> fields{};
  std::size_t count = 0;
  while (true) {
    const auto field = take_digits(text);
    if (!field || count == fields.size()) return std::nullopt;
    fields.at(count++) = *field;
    if (text.empty()) break;
    if (text.front() != ':') return std::nullopt;
    text.remove_prefix(1);
  }
  if (!has_days && count == 1) return std::nullopt;
  constexpr std::array kUnits = {kHour, kMinute, kSecond};
  const std::size_t first_unit = has_days ? 0 : kUnits.size() - count;
  constexpr std::int64_t kHoursOfDay = 24;
  constexpr std::int64_t kSixty = 60;
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t limit = i + first_unit == 0 ? kHoursOfDay : kSixty;
    if ((i > 0 || has_days) && fields.at(i) >= limit) return std::nullopt;
    sum.add(fields.at(i), kUnits.at(i + first_unit));
  }
  return sum.ms();
}

/// ".500" in thousandths; up to three digits.
std::optional<std::int64_t> take_fraction(std::string_view& text) {
  text.remove_prefix(1);
  const std::size_t before = text.size();
  auto value = take_digits(text);
  const std::size_t digits = before - text.size();
  constexpr std::size_t kDigits = 3;
  if (!value || digits > kDigits) return std::nullopt;
  for (std::size_t i = digits; i < kDigits; ++i) *value *= 10;
  return value;
}

struct TimeUnit {
  std::string_view name;
  std::int64_t ms;
};
constexpr std::array<TimeUnit, 6> kTimeUnits = {
    {{"w", 7 * kDay}, {"d", kDay}, {"h", kHour}, {"m", kMinute}, {"s", kSecond}, {"ms", 1}}};

/// 1w2d3h4m5.500s: units in falling order, each at most once; a fraction only of seconds.
std::optional<std::int64_t> unit_form(std::string_view text) {
  DurationSum sum;
  std::size_t next_unit = 0;
  while (!text.empty()) {
    const auto count = take_digits(text);
    if (!count) return std::nullopt;
    std::optional<std::int64_t> fraction;
    if (!text.empty() && text.front() == '.') {
      fraction = take_fraction(text);
      if (!fraction) return std::nullopt;
    }
    const auto* word_end = std::find_if(text.begin(), text.end(), is_digit);
    const std::string_view word(text.begin(), word_end);
    text.remove_prefix(word.size());
    const auto* unit =
        std::find_if(kTimeUnits.begin() + next_unit, kTimeUnits.end(),
                     [word](const TimeUnit& candidate) { return candidate.name == word; });
    if (unit == kTimeUnits.end() || (fraction && unit->ms != kSecond)) return std::nullopt;
    next_unit = static_cast<std::size_t>(unit - kTimeUnits.begin()) + 1;
    sum.add(*count, unit->ms);
    if (fraction) sum.add(*fraction, 1);
  }
  return sum.ms();
}

std::optional<std::int64_t> any_form(std::string_view text) {
  if (text.find_first_of(":-") != std::string_view::npos) return clock_form(text);
  if (text.find_first_not_of("0123456789") == std::string_view::npos) {
    // Many digits are still a number, only a long one.
    DurationSum sum;
    const auto minutes = take_digits(text);
    sum.add(minutes.value_or(kMaxDuration.count()), kMinute);
    return sum.ms();
  }
  return unit_form(text);
}

struct SizeUnit {
  char letter;
  unsigned shift;
};
constexpr std::array<SizeUnit, 6> kSizeUnits = {
    {{'K', 10}, {'M', 20}, {'G', 30}, {'T', 40}, {'P', 50}, {'E', 60}}};

/// "", "B", "K", "KB", "KiB" in any case; the power of two of the unit.
std::optional<unsigned> size_shift(std::string_view unit) {
  const auto upper = [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; };
  if (unit.empty() || (unit.size() == 1 && upper(unit[0]) == 'B')) return 0U;
  const auto* row = std::find_if(kSizeUnits.begin(), kSizeUnits.end(), [&](const SizeUnit& size) {
    return size.letter == upper(unit[0]);
  });
  if (row == kSizeUnits.end()) return std::nullopt;
  std::string rest;
  for (const char c : unit.substr(1)) rest += upper(c);
  if (!rest.empty() && rest != "B" && rest != "IB") return std::nullopt;
  return row->shift;
}

Result<Bytes> bad_size(std::string_view text) {
  return fail(
      ErrorCode::kInvalidArgument,
      fmt::format("'{}' is not a size; write bytes or powers of 1024 such as 4096, 64K, 2GiB, 1.5T",
                  text));
}

/// Edit distance with swaps of neighbours; stops counting at `limit`.
std::size_t edit_distance(std::string_view a, std::string_view b, std::size_t limit) {
  const std::size_t gap = a.size() > b.size() ? a.size() - b.size() : b.size() - a.size();
  if (gap >= limit) return limit;
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> above(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) above[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = a[i - 1] == b[j - 1] ? 0 : 1;
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, above);
    std::swap(above, row);
  }
  return above[b.size()];
}

}  // namespace

Result<Duration> parse_duration(std::string_view text) {
  const std::string longest = format_duration(kMaxDuration);
  const auto ms = text.empty() ? std::nullopt : any_form(text);
  if (!ms)
    return fail(
        ErrorCode::kInvalidArgument,
        fmt::format("'{}' is not a duration; write 90 (minutes), 1:30 (minutes:seconds), 1:30:00, "
                    "2-12:00:00 (days-hours:minutes:seconds), 90s, 1h, 1d2h or 1w, at most {}",
                    text, longest));
  if (*ms == 0)
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("'{}' is no time at all; a duration must be positive, such as 90 "
                            "(minutes), 90s or 1h",
                            text));
  if (*ms > kMaxDuration.count())
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("'{}' is longer than the maximum of {} (10 years)", text, longest));
  return Duration{*ms};
}

Result<std::optional<Duration>> parse_limit(std::string_view text) {
  if (text == "unlimited" || text == "none") return std::optional<Duration>{};
  const auto duration = parse_duration(text);
  if (!duration)
    return fail(duration.error().code, duration.error().text + "; or 'unlimited' for no limit");
  return std::optional<Duration>{*duration};
}

std::string format_duration(Duration duration) {
  std::int64_t rest = duration.count();
  if (rest == 0) return "0s";
  std::string text = rest < 0 ? "-" : "";
  if (rest < 0) rest = -rest;
  const auto part = [&](std::int64_t unit, char name) {
    if (rest < unit) return;
    text += fmt::format("{}{}", rest / unit, name);
    rest %= unit;
  };
  if (rest >= 2 * kMinute) {  // "90s" reads better than "1m30s"
    part(kDay, 'd');
    part(kHour, 'h');
    part(kMinute, 'm');
  }
  if (rest % kSecond != 0) {
    text += fmt::format("{}.{:03}s", rest / kSecond, rest % kSecond);
  } else {
    part(kSecond, 's');
  }
  return text;
}

std::string format_elapsed(Duration duration) {
  const std::int64_t ms = std::max<std::int64_t>(0, duration.count());
  const std::int64_t days = ms / kDay;
  const std::int64_t hours = ms % kDay / kHour;
  const std::int64_t minutes = ms % kHour / kMinute;
  const std::int64_t seconds = ms % kMinute / kSecond;
  if (days > 0) return fmt::format("{}-{:02}:{:02}:{:02}", days, hours, minutes, seconds);
  if (hours > 0) return fmt::format("{}:{:02}:{:02}", hours, minutes, seconds);
  return fmt::format("{}:{:02}", minutes, seconds);
}

Result<Bytes> parse_bytes(std::string_view text) {
  std::string_view rest = text;
  const auto whole = take_digits(rest);
  if (!whole) return bad_size(text);
  std::int64_t fraction = 0;
  std::int64_t scale = 1;
  if (!rest.empty() && rest.front() == '.') {
    rest.remove_prefix(1);
    const std::size_t before = rest.size();
    const auto digits = take_digits(rest);
    constexpr std::size_t kMostDigits = 9;
    if (!digits || before - rest.size() > kMostDigits) return bad_size(text);
    fraction = *digits;
    for (std::size_t i = rest.size(); i < before; ++i) scale *= 10;
  }
  const auto shift = size_shift(rest);
  if (!shift || (scale > 1 && *shift == 0)) return bad_size(text);
  const auto count = static_cast<std::uint64_t>(*whole);
  // Stores keep sizes as signed 64-bit numbers.
  if (count > (std::uint64_t{std::numeric_limits<std::int64_t>::max()} >> *shift))
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("'{}' is larger than the maximum of 8EiB - 1", text));
  // Long division, since fraction << shift may not fit into 64 bits: below one unit, rounded down.
  std::uint64_t part = 0;
  auto remainder = static_cast<std::uint64_t>(fraction);
  for (unsigned i = 0; i < *shift; ++i) {
    remainder <<= 1U;
    part = (part << 1U) | (remainder >= static_cast<std::uint64_t>(scale) ? 1U : 0U);
    if (remainder >= static_cast<std::uint64_t>(scale))
      remainder -= static_cast<std::uint64_t>(scale);
  }
  const std::uint64_t bytes = (count << *shift) + part;
  if (bytes == 0 && fraction != 0)
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("'{}' is less than one byte; the least is 1", text));
  return Bytes{bytes};
}

std::string format_bytes(Bytes bytes) {
  for (auto unit = kSizeUnits.rbegin(); unit != kSizeUnits.rend(); ++unit) {
    const std::uint64_t size = std::uint64_t{1} << unit->shift;
    if (bytes.value >= size && bytes.value % size == 0)
      return fmt::format("{}{}iB", bytes.value / size, unit->letter);
  }
  return fmt::format("{}B", bytes.value);
}

Result<std::uint64_t> parse_number(std::string_view what, std::string_view text, std::uint64_t min,
                                   std::uint64_t max) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_number = !text.empty() && end == text.data() + text.size();
  if (!is_number || error == std::errc::invalid_argument)
    return fail(
        ErrorCode::kInvalidArgument,
        fmt::format("{}: '{}' is not a whole number; accepted are {} to {}", what, text, min, max));
  if (error == std::errc::result_out_of_range || value < min || value > max)
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{}: {} is out of range; accepted are {} to {}", what, text, min, max));
  return value;
}

std::string format_time(Time time) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  const auto day = std::chrono::floor<std::chrono::days>(seconds);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss clock{seconds - day};
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count());
}

std::optional<std::string_view> nearest_word(std::string_view word,
                                             const std::vector<std::string_view>& valid) {
  constexpr std::size_t kFarthest = 3;
  std::optional<std::string_view> nearest;
  std::size_t best = kFarthest + 1;
  for (const std::string_view candidate : valid) {
    const std::size_t distance = edit_distance(word, candidate, best);
    // A word of which nothing is left is not near.
    if (distance >= best || distance >= std::max(word.size(), candidate.size())) continue;
    best = distance;
    nearest = candidate;
  }
  return nearest;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string_view>& valid) {
  const auto nearest = nearest_word(word, valid);
  return nearest ? fmt::format(", did you mean '{}'?", *nearest) : std::string{};
}

std::string_view trim(std::string_view text) {
  const auto first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

}  // namespace artel
