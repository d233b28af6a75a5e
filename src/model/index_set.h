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
/// The longest text of a list, in bytes.
inline constexpr std::size_t kMaxIndexText = std::size_t{64} << 10U;

/// Ascending numbers, kept as runs of equal distance. Cost is by runs, where not said otherwise.
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
  /// out where it is no list, names an index twice or has more than `most` of them.
  static Result<IndexSet> parse(std::string_view text, std::uint32_t most);
  /// What parse() reads; ascending.
  [[nodiscard]] std::string text() const;

  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::uint32_t size() const { return size_; }
  /// Of one that is not empty.
  [[nodiscard]] std::uint32_t front() const { return runs_.front().first; }
  [[nodiscard]] std::uint32_t back() const { return runs_.back().last; }
  [[nodiscard]] bool contains(std::uint32_t index) const { return rank(index).has_value(); }
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

  // Cost by elements.

  [[nodiscard]] IndexSet plus(const IndexSet& other) const;
  [[nodiscard]] IndexSet minus(const IndexSet& other) const;
  [[nodiscard]] IndexSet within(const IndexSet& other) const;

  template <typename Visit>
  void for_each(Visit visit) const {
    for (const Run& run : runs_)
      for (std::uint32_t i = 0; i < run.size(); ++i) visit(run.first + i * run.step);
  }

  /// The same numbers, however the runs are cut.
  bool operator==(const IndexSet& other) const;

 private:
  /// `keep` is asked for each number of either: is it in the first, in the second?
  template <typename Keep>
  [[nodiscard]] IndexSet merged(const IndexSet& other, Keep keep) const;

  std::vector<Run> runs_;  // ascending, each ends before the next begins
  std::uint32_t size_ = 0;
};

}  // namespace artel
