// Lists of indexes as text.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <span>
#include <system_error>
#include <utility>

#include "model/index_set.h"

namespace artel {
namespace {

using Run = IndexSet::Run;

std::unexpected<Error> refuse(std::string_view part, std::size_t at, std::string_view what) {
  constexpr std::size_t kShown = 40;
  return fail(ErrorCode::kInvalidArgument,
              fmt::format("'{}{}' at character {}: {}", part.substr(0, kShown),
                          part.size() > kShown ? "..." : "", at + 1, what));
}

/// The whole text as a number, or nullopt.
std::optional<std::uint64_t> number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// "7", "5-9" or "5-9:2", which stands at character `at`.
Result<Run> parse_run(std::string_view part, std::size_t at) {
  const std::size_t colon = part.find(':');
  const std::string_view range = part.substr(0, colon);
  const std::size_t dash = range.find('-');
  const auto first = number(range.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : number(range.substr(dash + 1));
  const auto step = colon == std::string_view::npos ? std::optional<std::uint64_t>(1)
                                                    : number(part.substr(colon + 1));
  const bool has_step = colon != std::string_view::npos;
  if (!first || !last || !step || (has_step && dash == std::string_view::npos))
    return refuse(part, at, "is no index; write 7, 5-9, or 5-9:2 for every second one");
  if (*first > kMaxTaskIndex || *last > kMaxTaskIndex)
    return refuse(part, at, fmt::format("the highest index is {}", kMaxTaskIndex));
  if (*last < *first)
    return refuse(part, at, fmt::format("counts down; write {}-{}", *last, *first));
  if (*step == 0 || *step > kMaxTaskIndex)
    return refuse(part, at, "the step behind the colon must be 1 or more");
  Run run{static_cast<std::uint32_t>(*first), static_cast<std::uint32_t>(*last),
          static_cast<std::uint32_t>(*step)};
  run.last = run.first + (run.size() - 1) * run.step;
  if (run.size() == 1) run.step = 1;
  return run;
}

Result<std::vector<Run>> parse_runs(std::string_view text) {
  std::vector<Run> out;
  for (std::size_t at = 0; at <= text.size();) {
    if (out.size() == kMaxIndexRuns)
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("the list names more than {} ranges; cut it in several", out.size()));
    const std::size_t end = std::min(text.find(',', at), text.size());
    const auto run = parse_run(text.substr(at, end - at), at);
    if (!run) return fail(run);
    out.push_back(*run);
    at = end + 1;
  }
  return out;
}

/// The numbers of runs that lie among one another.
std::vector<std::uint32_t> sorted(std::span<const Run> runs) {
  std::vector<std::uint32_t> out;
  for (const Run& run : runs)
    for (std::uint32_t i = 0; i < run.size(); ++i) out.push_back(run.first + i * run.step);
  std::ranges::sort(out);
  return out;
}

/// Runs that ascend by their first numbers, as one set.
Result<IndexSet> joined(const std::vector<Run>& runs) {
  IndexSet out;
  std::uint64_t mixed = 0;
  for (std::size_t i = 0; i < runs.size();) {
    std::size_t end = i + 1;
    std::uint64_t count = runs[i].size();
    for (std::uint32_t last = runs[i].last; end < runs.size() && runs[end].first <= last; ++end) {
      last = std::max(last, runs[end].last);
      count += runs[end].size();
    }
    const std::span<const Run> group(&runs[i], end - i);
    i = end;
    if (group.size() == 1) {
      out.push_back(group.front());
      continue;
    }
    mixed += count;
    if (mixed > kMaxInterleaved)
      return fail(
          ErrorCode::kInvalidArgument,
          fmt::format("the ranges from {} on lie among one another and name {} tasks, at most {} "
                      "can be sorted; use a list of its own for each of these ranges",
                      group.front().first, mixed, kMaxInterleaved));
    const std::vector<std::uint32_t> all = sorted(group);
    if (const auto twice = std::ranges::adjacent_find(all); twice != all.end())
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("index {} is named twice; name each once", *twice));
    for (const std::uint32_t index : all) out.push_back(index);
  }
  return out;
}

}  // namespace

Result<IndexSet> IndexSet::parse(std::string_view text, std::uint32_t most) {
  auto runs = parse_runs(text);
  if (!runs) return fail(runs);
  std::uint64_t count = 0;
  for (const Run& run : *runs) count += run.size();
  if (count > most)
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{} tasks, at most {} are possible in one array; cut it in several",
                            count, most));
  std::ranges::sort(*runs, {}, &Run::first);
  return joined(*runs);
}

std::string IndexSet::text() const {
  std::string out;
  for (const Run& run : runs_) {
    if (!out.empty()) out += ',';
    if (run.size() == 1) {
      out += std::to_string(run.first);
    } else if (run.size() == 2 && run.step > 1) {
      out += fmt::format("{},{}", run.first, run.last);
    } else {
      out += fmt::format("{}-{}", run.first, run.last);
      if (run.step > 1) out += fmt::format(":{}", run.step);
    }
  }
  return out;
}

}  // namespace artel
