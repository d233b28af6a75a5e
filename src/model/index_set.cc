#include "model/index_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <system_error>
#include <utility>

namespace artel {
namespace {

using Run = IndexSet::Run;

/// Walks the numbers of a set in ascending order.
class Cursor {
 public:
  explicit Cursor(const std::vector<Run>& runs) : runs_(runs) {}

  /// Above all numbers where there are no more.
  [[nodiscard]] std::uint64_t value() const {
    if (run_ == runs_.size()) return std::numeric_limits<std::uint64_t>::max();
    return std::uint64_t{runs_[run_].first} + std::uint64_t{step_} * runs_[run_].step;
  }
  void next() {
    if (++step_ < runs_[run_].size()) return;
    ++run_;
    step_ = 0;
  }

 private:
  const std::vector<Run>& runs_;
  std::size_t run_ = 0;
  std::uint32_t step_ = 0;
};

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

/// Runs that interleave, as one set. At most as many numbers as were counted before.
Result<IndexSet> sorted(const std::vector<Run>& runs, std::uint64_t count) {
  std::vector<std::uint32_t> all;
  all.reserve(count);
  for (const Run& run : runs)
    for (std::uint32_t i = 0; i < run.size(); ++i) all.push_back(run.first + i * run.step);
  std::ranges::sort(all);
  if (const auto twice = std::ranges::adjacent_find(all); twice != all.end())
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("index {} is named twice; name each once", *twice));
  IndexSet out;
  for (const std::uint32_t index : all) out.push_back(index);
  return out;
}

}  // namespace

IndexSet IndexSet::of(std::uint32_t index) {
  IndexSet out;
  out.push_back(index);
  return out;
}

Result<IndexSet> IndexSet::parse(std::string_view text, std::uint32_t most) {
  if (text.size() > kMaxIndexText)
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("the list has {} bytes, at most {} are possible; use ranges",
                            text.size(), kMaxIndexText));
  std::vector<Run> runs;
  std::uint64_t count = 0;
  bool ascends = true;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const auto run = parse_run(text.substr(at, end - at), at);
    if (!run) return fail(run);
    count += run->size();
    ascends = ascends && (runs.empty() || runs.back().last < run->first);
    runs.push_back(*run);
    at = end + 1;
  }
  if (count > most)
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{} tasks, at most {} are possible in one array; cut it in several",
                            count, most));
  if (!ascends) return sorted(runs, count);
  IndexSet out;
  out.runs_ = std::move(runs);
  out.size_ = static_cast<std::uint32_t>(count);
  return out;
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

std::optional<std::uint32_t> IndexSet::rank(std::uint32_t index) const {
  std::uint32_t before = 0;
  for (const Run& run : runs_) {
    if (index < run.first) return std::nullopt;
    if (index <= run.last) {
      if ((index - run.first) % run.step != 0) return std::nullopt;
      return before + (index - run.first) / run.step;
    }
    before += run.size();
  }
  return std::nullopt;
}

std::uint32_t IndexSet::at(std::uint32_t rank) const {
  for (const Run& run : runs_) {
    if (rank < run.size()) return run.first + rank * run.step;
    rank -= run.size();
  }
  return back();
}

std::vector<std::uint32_t> IndexSet::lowest(std::size_t count) const {
  std::vector<std::uint32_t> out;
  for (Cursor next(runs_); out.size() < std::min<std::size_t>(count, size_); next.next())
    out.push_back(static_cast<std::uint32_t>(next.value()));
  return out;
}

void IndexSet::erase(std::uint32_t index) {
  const auto run = std::ranges::lower_bound(runs_, index, {}, &Run::last);
  if (run == runs_.end() || index < run->first || (index - run->first) % run->step != 0) return;
  --size_;
  if (run->size() == 1) {
    runs_.erase(run);
    return;
  }
  if (index == run->first) {
    run->first += run->step;
  } else if (index == run->last) {
    run->last -= run->step;
  } else {
    Run above{index + run->step, run->last, run->step};
    if (above.size() == 1) above.step = 1;
    run->last = index - run->step;
    if (run->size() == 1) run->step = 1;
    runs_.insert(run + 1, above);
    return;
  }
  if (run->size() == 1) run->step = 1;
}

void IndexSet::push_back(std::uint32_t index) {
  ++size_;
  if (!runs_.empty()) {
    Run& run = runs_.back();
    const std::uint32_t distance = index - run.last;
    if (run.size() == 1 || distance == run.step) {
      run.step = distance;
      run.last = index;
      return;
    }
    // Two numbers that lie far apart are better runs of their own.
    if (run.size() == 2 && run.step > 1) {
      const std::uint32_t last = run.last;
      run = {run.first, run.first, 1};
      runs_.push_back({last, index, index - last});
      return;
    }
  }
  runs_.push_back({index, index, 1});
}

template <typename Keep>
IndexSet IndexSet::merged(const IndexSet& other, Keep keep) const {
  IndexSet out;
  Cursor mine(runs_);
  Cursor theirs(other.runs_);
  constexpr auto kEnd = std::numeric_limits<std::uint64_t>::max();
  for (;;) {
    const std::uint64_t next = std::min(mine.value(), theirs.value());
    if (next == kEnd) return out;
    const bool in_mine = mine.value() == next;
    const bool in_theirs = theirs.value() == next;
    if (keep(in_mine, in_theirs)) out.push_back(static_cast<std::uint32_t>(next));
    if (in_mine) mine.next();
    if (in_theirs) theirs.next();
  }
}

IndexSet IndexSet::plus(const IndexSet& other) const {
  if (empty()) return other;
  if (other.empty()) return *this;
  return merged(other, [](bool mine, bool theirs) { return mine || theirs; });
}

IndexSet IndexSet::minus(const IndexSet& other) const {
  if (empty() || other.empty()) return *this;
  return merged(other, [](bool mine, bool theirs) { return mine && !theirs; });
}

IndexSet IndexSet::within(const IndexSet& other) const {
  if (runs_ == other.runs_) return *this;
  return merged(other, [](bool mine, bool theirs) { return mine && theirs; });
}

bool IndexSet::operator==(const IndexSet& other) const {
  if (runs_ == other.runs_) return true;
  if (size_ != other.size_) return false;
  Cursor mine(runs_);
  Cursor theirs(other.runs_);
  for (std::uint32_t i = 0; i < size_; ++i, mine.next(), theirs.next())
    if (mine.value() != theirs.value()) return false;
  return true;
}

}  // namespace artel
