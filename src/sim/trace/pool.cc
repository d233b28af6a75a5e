#include "sim/trace/pool.h"

#include <algorithm>

#include "base/assert.h"

namespace artel::trace {

void Pool::start(Seconds now, TaskIndex task, Seconds limit) {
  const Running one{now + limit, task, tasks_[task].size};
  const auto at = std::upper_bound(
      running_.begin(), running_.end(), one,
      [](const Running& a, const Running& b) { return a.limit_end < b.limit_end; });
  running_.insert(at, one);
  free_ -= one.size;
}

Seconds Pool::end(TaskIndex task) {
  const auto at = std::find_if(running_.begin(), running_.end(),
                               [task](const Running& one) { return one.task == task; });
  ARTEL_ASSERT(at != running_.end());
  const Seconds limit_end = at->limit_end;
  free_ += at->size;
  running_.erase(at);
  return limit_end;
}

Milli Pool::available(Seconds now) const {
  Milli free = free_;
  for (const Running& one : running_) {
    if (one.limit_end > now) break;
    free += one.size;
  }
  return free;
}

Pool::Shadow Pool::shadow(Seconds now, Milli size) const {
  Milli free = free_;
  auto at = running_.begin();
  while (at != running_.end() && (at->limit_end <= now || free < size)) free += (at++)->size;
  ARTEL_ASSERT(at != running_.begin() && free >= size);
  const Seconds when = std::prev(at)->limit_end;
  for (; at != running_.end() && at->limit_end == when; ++at) free += at->size;
  return {when, free - size};
}

}  // namespace artel::trace
