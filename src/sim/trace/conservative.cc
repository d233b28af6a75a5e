// Conservative backfilling: nobody who came later delays anybody.
//
// Plans of waiting jobs stay what they are until a job ends before its limit: they were the
// earliest holes, and as time passes no earlier ones come up. Only then is everything planned anew.
#include <algorithm>
#include <vector>

#include "sim/trace/pool.h"
#include "sim/trace/pool_policies.h"
#include "sim/trace/profile.h"

namespace artel::trace {
namespace {

class Conservative : public Policy {
 public:
  explicit Conservative(const Problem& problem)
      : problem_(problem), pool_(problem), profile_(problem.capacity) {}

  bool submit(Seconds /*now*/, TaskIndex task) override {
    queue_.push_back({task, kUnplanned});
    return true;
  }
  void end(Seconds now, TaskIndex task) override {
    if (pool_.end(task) > now) must_replan_ = true;
  }

  Decisions pass(Seconds now) override {
    profile_.advance(now);
    if (must_replan_) forget_plans(now);
    must_replan_ = false;
    Decisions decisions;
    for (Waiting& waiting : queue_) {
      const Task& task = problem_.tasks[waiting.task];
      if (waiting.start == kUnplanned) {
        waiting.start = profile_.earliest(now, task.limit, task.size);
        profile_.take(waiting.start, waiting.start + task.limit, task.size);
      }
      if (waiting.start != now) continue;
      decisions.steps.push_back({waiting.task});
      pool_.start(now, waiting.task, task.limit);
    }
    if (!decisions.steps.empty())
      std::erase_if(queue_, [now](const Waiting& waiting) { return waiting.start == now; });
    return decisions;
  }

 private:
  static constexpr Seconds kUnplanned = -1;
  struct Waiting {
    TaskIndex task{};
    Seconds start{};
  };

  void forget_plans(Seconds now) {
    profile_.reset(now, problem_.capacity);
    for (const Pool::Running& one : pool_.running()) profile_.take(now, one.limit_end, one.size);
    for (Waiting& waiting : queue_) waiting.start = kUnplanned;
  }

  const Problem& problem_;
  Pool pool_;
  Profile profile_;
  std::vector<Waiting> queue_;  // by submit
  bool must_replan_ = false;
};

}  // namespace

std::unique_ptr<Policy> make_conservative(const Problem& problem) {
  return std::make_unique<Conservative>(problem);
}

}  // namespace artel::trace
