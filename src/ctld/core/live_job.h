// Jobs and arrays that are not final, in a form that can be changed. Private to ctld/core.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>

#include "model/job.h"
#include "sched/scheduler.h"

namespace artel::ctld {

/// A job that is not final, with its attempt in a form that can be changed.
struct LiveJob {
  Job job;                          // `attempt` is set only in copies for readers
  std::optional<Attempt> attempt;   // the latest
  sched::Wait wait;                 // as the core gave it last
  std::optional<Time> timer;        // as entered in ControllerState::timers_
  std::shared_ptr<const Job> view;  // copy for readers; null after a change
};

/// An array that is not final. Only the first of its waiting tasks are known to the scheduling
/// core, the window; a task becomes a job when it starts or claims nodes.
struct LiveArray {
  Job job;  // `tasks` is set only in copies
  ArrayTasks tasks;
  std::size_t room{};                    // how many tasks the empty cluster has room for
  std::set<std::uint32_t> window;        // indexes, of `tasks.waiting`
  std::set<JobId> live;                  // tasks that are jobs and not final
  sched::Wait wait;                      // of the first in the window, as the core gave it last
  bool is_new = false;                   // its row has not been written
  std::optional<std::size_t> new_ended;  // entries of tasks.ended from here on are not written
  std::shared_ptr<const Job> view;       // copy for readers; null after a change
};

}  // namespace artel::ctld
