// One pool of interchangeable units, and what runs on it until when at the latest.
#pragma once

#include <vector>

#include "sim/trace/task.h"

namespace artel::trace {

class Pool {
 public:
  explicit Pool(const Problem& problem) : tasks_(problem.tasks), free_(problem.capacity) {}

  void start(Seconds now, TaskIndex task, Seconds limit);
  /// Gives the limit end that the task had.
  Seconds end(TaskIndex task);

  /// Free units; those of a task whose limit ends now count, though its end may not be told yet.
  [[nodiscard]] Milli available(Seconds now) const;

  /// When enough for `size` is free if everything runs to its limit, and what is then free beyond
  /// it.
  struct Shadow {
    Seconds at{};
    Milli extra{};
  };
  /// Requires size <= capacity and size > available(now).
  [[nodiscard]] Shadow shadow(Seconds now, Milli size) const;

  struct Running {
    Seconds limit_end{};
    TaskIndex task{};
    Milli size{};
  };
  /// Ascending by limit end.
  [[nodiscard]] const std::vector<Running>& running() const { return running_; }

 private:
  const std::vector<Task>& tasks_;
  Milli free_{};
  std::vector<Running> running_;
};

}  // namespace artel::trace
