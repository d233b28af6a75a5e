// What two sets of indexes give, by their runs.
#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "model/index_set.h"

namespace artel {
namespace {

using Run = IndexSet::Run;

Run run_of(std::uint64_t first, std::uint64_t last, std::uint64_t step) {
  return {static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(last),
          first == last ? 1 : static_cast<std::uint32_t>(step)};
}

/// Takes the numbers of a run away that are below `bound`.
std::optional<Run> take_below(std::optional<Run>& run, std::uint64_t bound) {
  if (!run || run->first >= bound) return std::nullopt;
  const Run whole = *run;
  if (whole.last < bound) {
    run.reset();
    return whole;
  }
  const std::uint64_t behind = (bound - whole.first + whole.step - 1) / whole.step;
  const std::uint64_t next = whole.first + behind * whole.step;
  run = run_of(next, whole.last, whole.step);
  return run_of(whole.first, next - whole.step, whole.step);
}

/// x with a * x = 1 (mod m); a and m have no factor in common.
std::int64_t inverse(std::int64_t a, std::int64_t m) {
  std::int64_t before = 0;
  std::int64_t now = 1;
  std::int64_t high = m;
  for (std::int64_t low = a % m; low > 1;) {
    const std::int64_t times = high / low;
    high = std::exchange(low, high - times * low);
    before = std::exchange(now, before - times * now);
  }
  return m == 1 ? 0 : (now % m + m) % m;
}

std::optional<Run> common(const Run& a, const Run& b) {
  const std::int64_t both = std::gcd(std::int64_t{a.step}, std::int64_t{b.step});
  const std::int64_t apart = std::int64_t{b.first} - a.first;
  if (apart % both != 0) return std::nullopt;
  const std::int64_t around = b.step / both;
  const std::int64_t times =
      ((apart / both) % around + around) % around * inverse(a.step / both, around) % around;
  const std::int64_t step = a.step * around;
  std::int64_t first = a.first + a.step * times;
  if (first < b.first) first += (b.first - first + step - 1) / step * step;
  const std::int64_t end = std::min(a.last, b.last);
  if (first > end) return std::nullopt;
  return run_of(static_cast<std::uint64_t>(first),
                static_cast<std::uint64_t>(first + (end - first) / step * step),
                static_cast<std::uint64_t>(step));
}

constexpr std::size_t kAnyNumber = std::numeric_limits<std::size_t>::max();

/// Puts runs together that ascend, up to a number of them.
class Joined {
 public:
  explicit Joined(std::size_t most) : most_(most) {}

  void add(const std::optional<Run>& run) {
    if (run) set_.push_back(*run);
  }
  [[nodiscard]] bool is_full() const { return set_.runs().size() > most_; }
  IndexSet take() { return std::move(set_); }

 private:
  IndexSet set_;
  std::size_t most_;
};

// What two runs give that have the same range; either may be none there.

struct Within {
  static void one(const std::optional<Run>& /*mine*/, const std::optional<Run>& /*theirs*/,
                  Joined& /*out*/) {}
  static void both(const Run& mine, const Run& theirs, Joined& out) {
    out.add(common(mine, theirs));
  }
};

struct Minus {
  static void one(const std::optional<Run>& mine, const std::optional<Run>& /*theirs*/,
                  Joined& out) {
    out.add(mine);
  }
  static void both(const Run& mine, const Run& theirs, Joined& out) {
    const std::optional<Run> gone = common(mine, theirs);
    if (!gone) return out.add(mine);
    std::optional<Run> rest = mine;
    out.add(take_below(rest, gone->first));
    if (gone->size() > 1 && gone->step == 2 * mine.step) {
      out.add(run_of(gone->first + mine.step, gone->last - mine.step, gone->step));
    } else if (gone->size() > 1 && gone->step > mine.step) {
      for (std::uint32_t at = gone->first; at < gone->last && !out.is_full(); at += gone->step)
        out.add(run_of(at + mine.step, at + gone->step - mine.step, mine.step));
    }
    static_cast<void>(take_below(rest, std::uint64_t{gone->last} + 1));
    out.add(rest);
  }
};

struct Plus {
  static void one(const std::optional<Run>& mine, const std::optional<Run>& theirs, Joined& out) {
    out.add(mine);
    out.add(theirs);
  }
  static void both(const Run& mine, const Run& theirs, Joined& out) {
    const std::optional<Run> shared = common(mine, theirs);
    const auto [low, high] = std::minmax(mine.first, theirs.first);
    if (shared && shared->size() == theirs.size()) return out.add(mine);
    if (shared && shared->size() == mine.size()) return out.add(theirs);
    if (mine.step == theirs.step && (high - low) * 2 == mine.step)
      return out.add(run_of(low, std::max(mine.last, theirs.last), high - low));
    // Most numbers of the sparse one begin a run: the walk ends when there are too many of them.
    const bool mine_is_sparse = mine.step >= theirs.step;
    const Run& sparse = mine_is_sparse ? mine : theirs;
    std::optional<Run> dense = mine_is_sparse ? theirs : mine;
    for (std::uint32_t i = 0; i < sparse.size() && !out.is_full(); ++i) {
      const std::uint64_t at = sparse.first + std::uint64_t{i} * sparse.step;
      out.add(take_below(dense, at));
      if (!dense || dense->first != at) out.add(run_of(at, at, 1));
    }
    out.add(dense);
  }
};

/// Cuts the runs of both sets where one of the other begins or ends.
template <typename Rule>
Joined combined(const std::vector<Run>& mine, const std::vector<Run>& theirs, std::size_t most) {
  Joined out(most);
  auto next_mine = mine.begin();
  auto next_theirs = theirs.begin();
  std::optional<Run> a;
  std::optional<Run> b;
  while (!out.is_full()) {
    if (!a && next_mine != mine.end()) a = *next_mine++;
    if (!b && next_theirs != theirs.end()) b = *next_theirs++;
    if (!a && !b) break;
    if (!a || !b || a->last < b->first || b->last < a->first) {
      const bool is_mine = !b || (a && a->first < b->first);
      is_mine ? Rule::one(std::exchange(a, {}), {}, out) : Rule::one({}, std::exchange(b, {}), out);
      continue;
    }
    const std::uint64_t low = std::max(a->first, b->first);
    const std::uint64_t behind = std::uint64_t{std::min(a->last, b->last)} + 1;
    const auto a_before = take_below(a, low);
    Rule::one(a_before, take_below(b, low), out);
    const auto a_inside = take_below(a, behind);
    const auto b_inside = take_below(b, behind);
    a_inside&& b_inside ? Rule::both(*a_inside, *b_inside, out)
                        : Rule::one(a_inside, b_inside, out);
  }
  return out;
}

}  // namespace

std::optional<IndexSet> IndexSet::plus(const IndexSet& other, std::size_t most) const {
  if (other.size_ == 1 && runs_.size() < most && (empty() || back() < other.front())) {
    IndexSet out = *this;
    out.push_back(other.front());
    return out;
  }
  auto out = combined<Plus>(runs_, other.runs_, most);
  if (out.is_full()) return std::nullopt;
  return out.take();
}

std::optional<IndexSet> IndexSet::minus(const IndexSet& other, std::size_t most) const {
  // Orders about many single tasks come one after the other.
  if (other.size_ == 1 && runs_.size() < most) {
    IndexSet out = *this;
    out.erase(other.front());
    return out;
  }
  auto out = combined<Minus>(runs_, other.runs_, most);
  if (out.is_full()) return std::nullopt;
  return out.take();
}

IndexSet IndexSet::within(const IndexSet& other) const {
  if (other.size_ == 1) return contains(other.front()) ? other : IndexSet{};
  return combined<Within>(runs_, other.runs_, kAnyNumber).take();
}

std::optional<std::uint32_t> IndexSet::first_beyond(const IndexSet& all) const {
  if (size_ == 1 && all.contains(front())) return std::nullopt;
  const IndexSet out = combined<Minus>(runs_, all.runs_, 1).take();
  return out.empty() ? std::nullopt : std::optional(out.front());
}

bool IndexSet::operator==(const IndexSet& other) const {
  if (runs_ == other.runs_) return true;
  return size_ == other.size_ && within(other).size_ == size_;
}

}  // namespace artel
