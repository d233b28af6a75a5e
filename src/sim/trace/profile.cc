#include "sim/trace/profile.h"

#include <algorithm>

#include "base/assert.h"

namespace artel::trace {

void Profile::reset(Seconds now, Milli capacity) {
  steps_.clear();
  steps_.push_back({now, capacity});
}

void Profile::advance(Seconds now) {
  const auto next = std::upper_bound(steps_.begin(), steps_.end(), now,
                                     [](Seconds at, const Step& step) { return at < step.from; });
  ARTEL_ASSERT(next != steps_.begin());
  steps_.erase(steps_.begin(), std::prev(next));
}

Seconds Profile::earliest(Seconds from, Seconds length, Milli size) const {
  Seconds candidate = from;
  bool is_open = false;  // everything from the candidate to this step is free
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    if (i + 1 < steps_.size() && steps_[i + 1].from <= from) continue;
    if (steps_[i].free < size) {
      is_open = false;
      continue;
    }
    if (!is_open) candidate = std::max(from, steps_[i].from);
    is_open = true;
    if (i + 1 == steps_.size() || steps_[i + 1].from - candidate >= length) return candidate;
  }
  ARTEL_ASSERT(is_open);  // sizes beyond the capacity are kept out
  return candidate;
}

std::size_t Profile::cut(Seconds at) {
  const auto next =
      std::upper_bound(steps_.begin(), steps_.end(), at,
                       [](Seconds time, const Step& step) { return time < step.from; });
  ARTEL_ASSERT(next != steps_.begin());
  const auto index = static_cast<std::size_t>(next - steps_.begin());
  if (steps_[index - 1].from == at) return index - 1;
  steps_.insert(next, {at, steps_[index - 1].free});
  return index;
}

void Profile::take(Seconds from, Seconds to, Milli size) {
  const std::size_t begin = cut(from);
  const std::size_t end = cut(to);
  for (std::size_t i = begin; i < end; ++i) steps_[i].free -= size;
}

}  // namespace artel::trace
