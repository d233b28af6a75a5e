#include "model/index_set.h"

#include <algorithm>
#include <limits>

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

}  // namespace

IndexSet IndexSet::of(std::uint32_t index) {
  IndexSet out;
  out.push_back(index);
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

bool IndexSet::contains(std::uint32_t index) const {
  const auto run = std::ranges::lower_bound(runs_, index, {}, &Run::last);
  return run != runs_.end() && index >= run->first && (index - run->first) % run->step == 0;
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

void IndexSet::push_back(Run run) {
  // Two numbers that lie far apart may go better with what is before or behind them.
  if (run.size() == 1 || (run.size() == 2 && run.step > 1)) {
    push_back(run.first);
    if (run.size() == 2) push_back(run.last);
    return;
  }
  size_ += run.size();
  if (!runs_.empty()) {
    Run& before = runs_.back();
    const bool is_next = run.first - before.last == run.step;
    if (is_next && (before.size() == 1 || before.step == run.step)) {
      before.step = run.step;
      before.last = run.last;
      return;
    }
    if (is_next && before.size() == 2 && before.step > 1) {
      run.first = before.last;
      before = {before.first, before.first, 1};
    }
  }
  runs_.push_back(run);
}

}  // namespace artel
