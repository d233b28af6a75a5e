// Sets of task indexes: "0-999999", "1,3,5-9:2". A million of them cost as much as their text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace artel {

/// The highest index: scripts and programs read it as a signed number.
inline constexpr std::uint32_t kMaxTaskIndex = 2'147'483'647;
/// So many tasks an array may have at most, whatever the configuration says.
inline constexpr std::uint32_t kMostArrayTasks = 4'000'000;
/// So many ranges and single numbers a list may have to be read: far more than a set has that is
/// ever written down.
inline constexpr std::size_t kMaxIndexRuns = 1'000'000;
/// So many numbers are sorted where ranges of a list lie among one another.
inline constexpr std::uint32_t kMaxInterleaved = 2000;

/// Ascending numbers, kept as runs of equal distance. Cost is by runs, never by what they hold,
/// where not said otherwise.
class IndexSet {
 public:
  struct Run {
    std::uint32_t first{};
    std::uint32_t last{};    // belongs to it
    std::uint32_t step = 1;  // 1 for a single number

    bool operator==(const Run&) const = default;
    [[nodiscard]] std::uint32_t size() const { return (last - first) / step + 1; }
  };

  IndexSet() = default;
  static IndexSet of(std::uint32_t index);

  /// "7", "0-99", "1,3,5-9:2", in any order. Error: kInvalidArgument naming the place and the way
  /// out where it is no list, names an index twice, has more than `most` of them, or ranges that
  /// lie among one another with more than kMaxInterleaved.
  static Result<IndexSet> parse(std::string_view text, std::uint32_t most);
  /// What parse() reads; ascending.
  [[nodiscard]] std::string text() const;

  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::uint32_t size() const { return size_; }
  /// Of one that is not empty.
  [[nodiscard]] std::uint32_t front() const { return runs_.front().first; }
  [[nodiscard]] std::uint32_t back() const { return runs_.back().last; }
  [[nodiscard]] bool contains(std::uint32_t index) const;
  /// How many of the set are below this one of it; nullopt: it is none of it.
  [[nodiscard]] std::optional<std::uint32_t> rank(std::uint32_t index) const;
  /// The one that has `rank` below it; rank < size().
  [[nodiscard]] std::uint32_t at(std::uint32_t rank) const;
  /// The lowest `count` of them, or all.
  [[nodiscard]] std::vector<std::uint32_t> lowest(std::size_t count) const;
  [[nodiscard]] const std::vector<Run>& runs() const { return runs_; }

  /// Nothing happens where it is none of the set.
  void erase(std::uint32_t index);
  /// Above all that are there.
  void push_back(std::uint32_t index);
  void push_back(Run run);

  /// nullopt: it would have more than `most` runs. Cost by the runs of both and of what comes out.
  [[nodiscard]] std::optional<IndexSet> plus(const IndexSet& other, std::size_t most) const;
  [[nodiscard]] std::optional<IndexSet> minus(const IndexSet& other, std::size_t most) const;
  /// What is in both; it has no more runs than both together.
  [[nodiscard]] IndexSet within(const IndexSet& other) const;
  /// The lowest that is not in `all`; nullopt: each is.
  [[nodiscard]] std::optional<std::uint32_t> first_beyond(const IndexSet& all) const;

  /// Cost by numbers.
  template <typename Visit>
  void for_each(Visit visit) const {
    for (const Run& run : runs_)
      for (std::uint32_t i = 0; i < run.size(); ++i) visit(run.first + i * run.step);
  }

  /// The same numbers, however the runs are cut.
  bool operator==(const IndexSet& other) const;

 private:
  std::vector<Run> runs_;  // ascending, each ends before the next begins
  std::uint32_t size_ = 0;
};

}  // namespace artel
