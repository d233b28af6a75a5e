#include "sim/trace/pool_policies.h"

#include <algorithm>
#include <deque>
#include <set>
#include <utility>

#include "sim/trace/pool.h"

namespace artel::trace {
namespace {

class Fcfs : public Policy {
 public:
  explicit Fcfs(const Problem& problem) : tasks_(problem.tasks), pool_(problem) {}

  bool submit(Seconds /*now*/, TaskIndex task) override {
    queue_.push_back(task);
    return true;
  }
  void end(Seconds /*now*/, TaskIndex task) override { pool_.end(task); }
  Decisions pass(Seconds now) override {
    Decisions decisions;
    while (!queue_.empty() && tasks_[queue_.front()].size <= pool_.available(now)) {
      decisions.steps.push_back({queue_.front()});
      pool_.start(now, queue_.front(), tasks_[queue_.front()].limit);
      queue_.pop_front();
    }
    return decisions;
  }

 private:
  const std::vector<Task>& tasks_;
  Pool pool_;
  std::deque<TaskIndex> queue_;
};

class Sjf : public Policy {
 public:
  explicit Sjf(const Problem& problem) : tasks_(problem.tasks), pool_(problem) {}

  bool submit(Seconds /*now*/, TaskIndex task) override {
    queue_.emplace(tasks_[task].limit, task);
    return true;
  }
  void end(Seconds /*now*/, TaskIndex task) override { pool_.end(task); }
  Decisions pass(Seconds now) override {
    Decisions decisions;
    while (!queue_.empty()) {
      const TaskIndex task = queue_.begin()->second;
      if (tasks_[task].size > pool_.available(now)) break;
      decisions.steps.push_back({task});
      pool_.start(now, task, tasks_[task].limit);
      queue_.erase(queue_.begin());
    }
    return decisions;
  }

 private:
  const std::vector<Task>& tasks_;
  Pool pool_;
  std::set<std::pair<Seconds, TaskIndex>> queue_;
};

class Easy : public Policy {
 public:
  Easy(const Problem& problem, EasyOptions options)
      : tasks_(problem.tasks), pool_(problem), options_(options) {}

  bool submit(Seconds /*now*/, TaskIndex task) override {
    queue_.push_back(task);
    if (options_.shortest_first) shortest_.emplace(length(task), task);
    last_submit_ = task;
    return true;
  }
  void end(Seconds /*now*/, TaskIndex task) override {
    pool_.end(task);
    last_submit_.reset();
  }
  [[nodiscard]] EventOrder order() const override { return options_.order; }

  Decisions pass(Seconds now) override {
    decisions_ = {};
    free_ = pool_.available(now);
    if (options_.order == EventOrder::kSingle && last_submit_ && tasks_[*last_submit_].size > free_)
      return {};
    while (!queue_.empty() && tasks_[queue_.front()].size <= free_) {
      const TaskIndex head = queue_.front();
      queue_.pop_front();
      shortest_.erase({length(head), head});
      start(now, head);
    }
    if (queue_.size() > 1 && free_ > 0) fill_in(now);
    return std::move(decisions_);
  }

 private:
  [[nodiscard]] Seconds length(TaskIndex task) const {
    return options_.perfect ? tasks_[task].run : tasks_[task].limit;
  }

  void start(Seconds now, TaskIndex task) {
    free_ -= tasks_[task].size;
    pool_.start(now, task, length(task));
    decisions_.steps.push_back({task});
  }

  void fill_in(Seconds now) {
    const TaskIndex head = queue_.front();
    Pool::Shadow shadow = pool_.shadow(now, tasks_[head].size);
    const std::size_t before = decisions_.steps.size();
    if (options_.shortest_first) {
      for (auto at = shortest_.begin(); at != shortest_.end() && free_ > 0;) {
        const TaskIndex task = at->second;
        at = task != head && try_start(now, task, shadow) ? shortest_.erase(at) : std::next(at);
      }
    } else {
      for (auto at = std::next(queue_.begin()); at != queue_.end() && free_ > 0; ++at)
        try_start(now, *at, shadow);
    }
    forget_started(before);
  }

  bool try_start(Seconds now, TaskIndex task, Pool::Shadow& shadow) {
    const Milli size = tasks_[task].size;
    if (size > free_) return false;
    if (now + length(task) > shadow.at) {
      if (size > shadow.extra) return false;
      shadow.extra -= size;
    }
    start(now, task);
    return true;
  }

  /// Takes the tasks that filled in, from `first` of the decisions on, out of the queue.
  void forget_started(std::size_t first) {
    if (first == decisions_.steps.size()) return;
    std::vector<TaskIndex> started;
    for (std::size_t i = first; i < decisions_.steps.size(); ++i)
      started.push_back(decisions_.steps[i].task);
    std::sort(started.begin(), started.end());
    std::erase_if(queue_, [&started](TaskIndex task) {
      return std::binary_search(started.begin(), started.end(), task);
    });
  }

  const std::vector<Task>& tasks_;
  Pool pool_;
  EasyOptions options_;
  std::deque<TaskIndex> queue_;                       // by submit
  std::set<std::pair<Seconds, TaskIndex>> shortest_;  // the same tasks, only where it is needed
  std::optional<TaskIndex> last_submit_;
  Decisions decisions_;
  Milli free_{};
};

}  // namespace

std::unique_ptr<Policy> make_fcfs(const Problem& problem) {
  return std::make_unique<Fcfs>(problem);
}

std::unique_ptr<Policy> make_sjf(const Problem& problem) { return std::make_unique<Sjf>(problem); }

std::unique_ptr<Policy> make_easy(const Problem& problem, EasyOptions options) {
  return std::make_unique<Easy>(problem, options);
}

}  // namespace artel::trace
