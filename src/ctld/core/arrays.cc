// Arrays: tasks that are no jobs yet.
//
// An array is one record with the set of its waiting tasks. The scheduling core knows the window:
// the first of them, as many as could run on the empty cluster. It is filled before each pass, so
// the array's size costs nothing, and later jobs do not overtake it. Tasks that wait are alike, so
// what is said of the first holds for all.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "ctld/core/ended_tasks.h"
#include "ctld/core/state.h"

namespace artel::ctld {
namespace {

/// So many tasks of all arrays together are known to the core, about. Where that is less than could
/// run, passes that start some follow one another in milliseconds.
constexpr std::size_t kMostKnown = 20'000;
/// However many arrays there are.
constexpr std::size_t kLeastWindow = 16;

/// Who waits for one of many tasks is told; who waits for one of more hears it at the next look.
constexpr std::uint32_t kMostTold = 1000;

/// How many shares of the node's resources there are.
std::uint64_t shares_of(const NodeResources& node, const NodeRequest& asked) {
  if (asked.whole_node) return 1;
  std::uint64_t shares = node.cpus / std::max<std::uint64_t>(asked.cpus, 1);
  if (asked.gpus.value > 0)
    shares = std::min(shares, node.gpus * GpuMilli::kPerDevice / asked.gpus.value);
  if (asked.memory.value > 0) shares = std::min(shares, node.memory.value / asked.memory.value);
  return shares;
}

JobId number(const LiveArray& array, std::uint32_t index) {
  const auto id = task_number(array.job.id, *array.job.spec->array, TaskIndex{index});
  ARTEL_ASSERT(id.has_value());
  return *id;
}

std::uint32_t index_of(const LiveArray& array, JobId task) {
  return array.job.spec->array->indexes.at(
      static_cast<std::uint32_t>(task.value - array.job.id.value - 1));
}

/// The tasks that are jobs, or those of them that are meant. A copy: orders change the set.
std::vector<JobId> live_of(const LiveArray& array, const IndexSet* some) {
  if (some == nullptr) return {array.live.begin(), array.live.end()};
  std::vector<JobId> out;
  constexpr std::uint32_t kFew = 16;
  if (some->size() <= kFew) {
    some->for_each([&](std::uint32_t index) {
      if (const JobId id = number(array, index); array.live.contains(id)) out.push_back(id);
    });
    return out;
  }
  // Numbers and indexes ascend together.
  auto run = array.job.spec->array->indexes.runs().begin();
  std::uint64_t begin = array.job.id.value + 1;
  for (const JobId id : array.live) {
    while (id.value - begin >= run->size()) begin += run++->size();
    const std::uint64_t index = run->first + (id.value - begin) * run->step;
    if (some->contains(static_cast<std::uint32_t>(index))) out.push_back(id);
  }
  return out;
}

std::unexpected<Error> none_left(const LiveArray& array, std::string_view what) {
  return fail(ErrorCode::kNotFound,
              fmt::format("array {}: {}; 'artel show {}' tells where its tasks are",
                          array.job.id.value, what, array.job.id.value));
}

/// Whether some task's end has given the array a cause.
bool speaks(const LiveArray& array) {
  return array.job.cause.code != CauseCode::kNone && array.job.cause.code != CauseCode::kHold;
}

IndexSet meant(const IndexSet& set, const IndexSet* some) {
  return some == nullptr ? set : set.within(*some);
}

/// What is left without the tasks that are meant; nullopt: too many runs.
std::optional<IndexSet> left_of(const IndexSet& set, const IndexSet* some) {
  return some == nullptr ? IndexSet{} : set.minus(*some, kMaxTaskRuns);
}

/// Together with others; of all tasks, that orders about some have left alone.
std::optional<IndexSet> with(const IndexSet& set, const IndexSet& more, const IndexSet* some) {
  return set.plus(more, some == nullptr ? kMaxIndexRuns / 2 : kMaxTaskRuns);
}

std::unexpected<Error> in_pieces(const LiveArray& array) {
  return fail(ErrorCode::kInvalidArgument,
              fmt::format("array {}: its tasks would be left in more than {} ranges; name ranges "
                          "of neighbours instead of every few tasks, or the whole array",
                          array.job.id.value, kMaxTaskRuns));
}

/// What waits and is held once a cancel is done. Both together are few runs as well, so that the
/// whole array can be held and released.
struct Left {
  IndexSet waiting;
  IndexSet held;
};

std::optional<Left> left_by_cancel(const ArrayTasks& tasks, const IndexSet* some,
                                   std::size_t more_runs) {
  if (some == nullptr) return Left{};
  auto waiting = left_of(tasks.waiting, some);
  auto held = left_of(tasks.held, some);
  if (!waiting || !held || !has_room(tasks.ended, more_runs)) return std::nullopt;
  if (!waiting->empty() && !held->empty() && !waiting->plus(*held, kMaxTaskRuns))
    return std::nullopt;
  return Left{std::move(*waiting), std::move(*held)};
}

}  // namespace

void ControllerState::add_array(JobId id, JobSpec spec, Time now) {
  if (!spec.client_token.empty()) {
    tokens_.emplace(std::pair(spec.owner.uid, spec.client_token), id);
    token_ages_.push_back({now, spec.owner.uid, spec.client_token});
  }
  event(now, "submit", id, spec.owner.user, spec.name);
  LiveArray array;
  array.is_new = true;
  array.job.id = id;
  array.job.state = spec.held ? JobState::kHeld : JobState::kPending;
  array.job.wait.code = spec.held ? WaitCode::kHeld : WaitCode::kNotConsidered;
  array.job.wait.nodes_wanted = spec.component().nodes;
  array.job.submitted_at = now;
  array.room = room_for(spec);
  (spec.held ? array.tasks.held : array.tasks.waiting) = spec.array->indexes;
  array.job.spec = std::make_shared<const JobSpec>(std::move(spec));
  refresh(arrays_.emplace(id, std::move(array)).first->second, now);
}

void ControllerState::restore_array(Job job) {
  LiveArray array;
  array.tasks = *job.tasks;
  array.job = std::move(job);
  array.job.tasks = nullptr;
  array.room = room_for(*array.job.spec);
  array.tasks.active = 0;
  array.job.wait.code = array.tasks.waiting.empty() ? WaitCode::kHeld : WaitCode::kNotConsidered;
  const JobId id = array.job.id;
  arrays_.emplace(id, std::move(array));
}

LiveArray* ControllerState::array_of(JobId id) {
  auto it = arrays_.upper_bound(id);
  if (it == arrays_.begin()) return nullptr;
  LiveArray& array = (--it)->second;
  const std::uint64_t behind = id.value - array.job.id.value;
  return behind <= array.job.spec->array->indexes.size() ? &array : nullptr;
}

sched::JobFacts ControllerState::task_facts(const LiveArray& array, JobId id) {
  sched::JobFacts facts = facts_of(id, *array.job.spec);
  facts.held = false;
  facts.array = sched::ArrayId{array.job.id.value};
  // J1: it waits since its array was submitted, whenever the core hears of it.
  facts.submitted = array.job.submitted_at;
  facts.pending_since = array.job.submitted_at;
  return facts;
}

LiveJob& ControllerState::job_for(JobId id, Time now) {
  if (const auto known = jobs_.find(id); known != jobs_.end()) return known->second;
  LiveArray* array = array_of(id);
  ARTEL_ASSERT(array != nullptr);
  const std::uint32_t index = index_of(*array, id);
  ARTEL_ASSERT(array->window.contains(index));
  LiveJob task;
  task.job.id = id;
  task.job.spec = array->job.spec;
  task.job.state = JobState::kPending;
  task.job.wait.code = WaitCode::kNotConsidered;
  task.job.wait.nodes_wanted = task.job.spec->component().nodes;
  task.job.submitted_at = array->job.submitted_at;
  task.job.task = TaskOf{array->job.id, TaskIndex{index}};
  array->window.erase(index);
  array->tasks.waiting.erase(index);
  array->live.insert(id);
  refresh(*array, now);
  new_jobs_.insert(id);
  LiveJob& live = jobs_.emplace(id, std::move(task)).first->second;
  touch(live);
  return live;
}

/// How many tasks the empty cluster has room for, at least.
std::size_t ControllerState::room_for(const JobSpec& task) const {
  std::uint64_t shares = 0;
  for (const NodeConfig& node : config_.nodes)
    shares += shares_of(node.resources, task.component().per_node);
  return shares / std::max<std::uint64_t>(task.component().nodes, 1) + 1;
}

std::size_t ControllerState::window_of(const LiveArray& array) const {
  const std::size_t part = std::max(kMostKnown / arrays_.size(), kLeastWindow);
  const std::size_t most = std::min(array.room, part);
  return std::min<std::size_t>(most, array.job.spec->array->throttle.value_or(most));
}

void ControllerState::fill_windows(Time now) {
  for (const JobId id : std::exchange(short_arrays_, {}))
    if (const auto array = arrays_.find(id); array != arrays_.end())
      fill_window(array->second, now);
}

void ControllerState::fill_window(LiveArray& array, Time now) {
  const std::vector<std::uint32_t> next = array.tasks.waiting.lowest(window_of(array));
  // After a release there are lower ones than those that are known (J3).
  std::erase_if(array.window, [&](std::uint32_t index) {
    if (!next.empty() && index <= next.back()) return false;
    core_->end(now, number(array, index), sched::Ended::kOtherwise);
    return true;
  });
  if (array.window.size() == next.size()) return;
  // The core forgets an array of which it knows no task.
  core_->set_array(now, {sched::ArrayId{array.job.id.value}, array.job.spec->array->throttle});
  for (const std::uint32_t index : next) {
    if (array.window.contains(index)) continue;
    const auto entered = core_->submit(now, task_facts(array, number(array, index)));
    if (entered) {
      array.window.insert(index);
      continue;
    }
    // The terms of its team have changed since it was submitted: it waits until they do again.
    array.job.wait.code = WaitCode::kQuotaLimit;
    array.job.wait.where = "team " + array.job.spec->team;
    array.view = nullptr;
    snapshot_ = nullptr;
    short_arrays_.insert(array.job.id);
    return;
  }
}

/// Tasks that were jobs whose rows cannot be read count as failed: nobody knows better, and the
/// array ends without them.
void ControllerState::count_unreadable(LiveArray& array, Time now) {
  ArrayTasks& tasks = array.tasks;
  const std::size_t known = std::size_t{tasks.waiting.size()} + tasks.held.size() +
                            array.live.size() + tasks.completed + tasks.cancelled + tasks.failed;
  const std::size_t size = array.job.spec->array->indexes.size();
  if (known >= size) return;
  tasks.failed += static_cast<std::uint32_t>(size - known);
  if (!speaks(array)) {
    array.job.cause = {.actor = Actor::kSystem,
                       .code = CauseCode::kUnknown,
                       .text = fmt::format("{} of its tasks could not be read again; see 'artel "
                                           "admin lost-and-found'",
                                           size - known)};
  }
  refresh(array, now);
}

void ControllerState::restore_windows(Time now) {
  static_cast<void>(now);
  for (auto& [id, array] : arrays_) {
    for (const std::uint32_t index : array.tasks.waiting.lowest(window_of(array))) {
      core_->restore(core_begin_, {.job = task_facts(array, number(array, index))});
      array.window.insert(index);
    }
  }
}

void ControllerState::withdraw(LiveArray& array, const IndexSet& tasks, Time now) {
  if (tasks.size() < array.window.size()) {
    tasks.for_each([&](std::uint32_t index) {
      if (array.window.erase(index) > 0)
        core_->end(now, number(array, index), sched::Ended::kOtherwise);
    });
    return;
  }
  std::erase_if(array.window, [&](std::uint32_t index) {
    if (!tasks.contains(index)) return false;
    core_->end(now, number(array, index), sched::Ended::kOtherwise);
    return true;
  });
}

Result<> ControllerState::check_owner(const Caller& caller, const LiveArray& array) const {
  const Owner& owner = array.job.spec->owner;
  if (caller.is_operator || caller.owner.uid == owner.uid) return {};
  return fail(ErrorCode::kPermissionDenied,
              fmt::format("job {} belongs to {}", array.job.id.value, owner.user));
}

Result<> ControllerState::cancel_tasks(const Caller& caller, LiveArray& array, const IndexSet* some,
                                       const std::string& reason, Time now) {
  if (auto mine = check_owner(caller, array); !mine) return mine;
  const IndexSet waiting = meant(array.tasks.waiting, some);
  const IndexSet held = meant(array.tasks.held, some);
  const std::vector<JobId> live = live_of(array, some);
  const bool any = !waiting.empty() || !held.empty();
  if (!any && live.empty()) return none_left(array, "these tasks have ended");
  if (any) {
    auto left = left_by_cancel(array.tasks, some, waiting.runs().size() + held.runs().size());
    if (!left) return in_pieces(array);
    const Cause cause = by_person("cancelled", CauseCode::kCancel, caller, reason);
    event(now, "cancel", array.job.id, caller.owner.user, reason);
    withdraw(array, waiting, now);
    array.tasks.waiting = std::move(left->waiting);
    array.tasks.held = std::move(left->held);
    array.tasks.cancelled += waiting.size() + held.size();
    if (!speaks(array)) array.job.cause = cause;
    for (const IndexSet* gone : {&waiting, &held}) {
      if (gone->empty()) continue;
      for (const std::uint32_t index : gone->lowest(kMostTold))
        effects_.changed.push_back(number(array, index));
      const std::size_t entry =
          add_ended(array.tasks.ended, {*gone, JobState::kCancelled, now, cause});
      array.new_ended = std::min(array.new_ended.value_or(entry), entry);
    }
    pass_due_ = true;
  }
  for (const JobId id : live) static_cast<void>(cancel_one(caller, id, reason, now));
  refresh(array, now);
  return {};
}

Result<> ControllerState::hold_tasks(const Caller& caller, LiveArray& array, const IndexSet* some,
                                     const std::string& reason, Time now) {
  if (auto mine = check_owner(caller, array); !mine) return mine;
  const IndexSet waiting = meant(array.tasks.waiting, some);
  auto left = left_of(array.tasks.waiting, some);
  auto held = with(array.tasks.held, waiting, some);
  if (!left || !held) return in_pieces(array);
  bool any = !waiting.empty() || !meant(array.tasks.held, some).empty();
  for (const JobId id : live_of(array, some)) {
    const JobState state = jobs_.at(id).job.state;
    if (state != JobState::kPending && state != JobState::kHeld) continue;
    any = true;
    if (auto done = hold_one(caller, id, reason, now); !done) return done;
  }
  if (!any) return none_left(array, "none of these tasks waits; cancel ends those that run");
  if (waiting.empty()) return {};
  event(now, "hold", array.job.id, caller.owner.user, reason);
  if (!speaks(array)) array.job.cause = by_person("held", CauseCode::kHold, caller, reason);
  withdraw(array, waiting, now);
  array.tasks.held = std::move(*held);
  array.tasks.waiting = std::move(*left);
  refresh(array, now);
  return {};
}

Result<> ControllerState::release_tasks(const Caller& caller, LiveArray& array,
                                        const IndexSet* some, Time now) {
  if (auto mine = check_owner(caller, array); !mine) return mine;
  const Cause& by = array.job.cause;
  if (by.code == CauseCode::kHold && by.actor_name != array.job.spec->owner.user &&
      !caller.is_operator) {
    return fail(
        ErrorCode::kPermissionDenied,
        fmt::format("array {} is {}; an operator must release it", array.job.id.value, by.text));
  }
  const IndexSet held = meant(array.tasks.held, some);
  auto left = left_of(array.tasks.held, some);
  auto waiting = with(array.tasks.waiting, held, some);
  if (!left || !waiting) return in_pieces(array);
  for (const JobId id : live_of(array, some))
    if (auto released = release_one(caller, id, now); !released) return released;
  if (held.empty()) return {};  // a repeated call finds what it has done
  event(now, "release", array.job.id, caller.owner.user, "");
  array.tasks.waiting = std::move(*waiting);
  array.tasks.held = std::move(*left);
  if (array.tasks.held.empty() && !speaks(array)) array.job.cause = {};
  refresh(array, now);
  return {};
}

Result<> ControllerState::requeue_tasks(const Caller& caller, LiveArray& array,
                                        const IndexSet* some, const std::string& reason, Time now) {
  if (auto mine = check_owner(caller, array); !mine) return mine;
  const std::vector<JobId> live = live_of(array, some);
  if (live.empty()) return none_left(array, "none of these tasks has a run that could be ended");
  for (const JobId id : live)
    if (auto done = requeue_one(caller, id, reason, now); !done) return done;
  return {};
}

void ControllerState::task_ended(const LiveJob& task, Time now) {
  LiveArray* array = array_of(task.job.id);
  if (array == nullptr || array->live.erase(task.job.id) == 0) return;
  const JobState state = task.job.state;
  if (state == JobState::kCompleted) {
    ++array->tasks.completed;
  } else {
    ++(state == JobState::kCancelled ? array->tasks.cancelled : array->tasks.failed);
    // The first end that was none of success speaks for the array; a failure before a cancel.
    const bool is_first = !speaks(*array);
    if (is_first || (state != JobState::kCancelled && array->tasks.failed == 1))
      array->job.cause = task.job.cause;
  }
  refresh(*array, now);
}

void ControllerState::refresh(LiveArray& array, Time now) {
  const JobId id = array.job.id;
  ArrayTasks& tasks = array.tasks;
  tasks.active = static_cast<std::uint32_t>(array.live.size());
  JobState state = JobState::kPending;
  if (!array.live.empty()) {
    state = JobState::kRunning;
  } else if (tasks.waiting.empty()) {
    state = JobState::kHeld;
  }
  if (array.live.empty() && tasks.waiting.empty() && tasks.held.empty()) {
    state = tasks.failed > 0      ? JobState::kFailed
            : tasks.cancelled > 0 ? JobState::kCancelled
                                  : JobState::kCompleted;
    array.job.ended_at = now;
    array.job.wait = {};
    if (state == JobState::kCompleted)
      array.job.cause = {.actor = Actor::kApplication, .code = CauseCode::kExit};
  } else if (tasks.waiting.empty()) {
    array.job.wait = {};
    if (!tasks.held.empty()) array.job.wait.code = WaitCode::kHeld;
  } else if (array.job.wait.code == WaitCode::kHeld || array.job.wait.code == WaitCode::kNone) {
    array.job.wait.code = WaitCode::kNotConsidered;
  }
  if (tasks.waiting.size() > array.window.size()) {
    short_arrays_.insert(id);
    pass_due_ = true;
  }
  if (array.job.state != state) {
    array.job.state = state;
    effects_.changed.push_back(id);
  }
  array.view = nullptr;
  snapshot_ = nullptr;
  touched_arrays_.insert(id);
}

void ControllerState::show_array_reasons(std::size_t& pending) {
  for (auto& [id, array] : arrays_) {
    pending += array.window.size();
    if (array.window.empty()) continue;
    const sched::Wait wait = core_->core().wait(number(array, *array.window.begin()));
    if (wait.reason == sched::Reason::kNone) continue;  // no pass has looked at it
    if (array.wait == wait && array.job.wait.code != WaitCode::kNotConsidered) continue;
    array.wait = wait;
    array.job.wait = layout_->reason(wait, array.job.spec->component().nodes);
    array.view = nullptr;
    snapshot_ = nullptr;
  }
}

void ControllerState::write_arrays() {
  for (const JobId id : std::exchange(touched_arrays_, {})) {
    const auto it = arrays_.find(id);
    ARTEL_ASSERT(it != arrays_.end());
    LiveArray& array = it->second;
    Job job = array.job;
    job.tasks = std::make_shared<const ArrayTasks>(array.tasks);
    if (const auto from = std::exchange(array.new_ended, {}))
      for (std::size_t entry = *from; entry < array.tasks.ended.size(); ++entry)
        effects_.writes.emplace_back(
            EndedTasksRow{id, static_cast<std::uint32_t>(entry), array.tasks.ended[entry]});
    if (is_final(job.state)) {
      arrays_.erase(it);
      recent_.emplace_back(job.ended_at.value_or(Time{}), std::make_shared<const Job>(job));
      effects_.writes.emplace_back(JobRow{std::move(job), false});
      continue;
    }
    effects_.writes.emplace_back(JobRow{std::move(job), std::exchange(array.is_new, false)});
  }
}

std::optional<std::string> ControllerState::check_arrays() const {
  for (const auto& [id, array] : arrays_) {
    const ArrayTasks& tasks = array.tasks;
    const std::uint64_t found = std::uint64_t{tasks.waiting.size()} + tasks.held.size() +
                                array.live.size() + tasks.completed + tasks.cancelled +
                                tasks.failed;
    const std::uint32_t size = array.job.spec->array->indexes.size();
    if (found != size)
      return fmt::format("array {} has {} tasks, but {} are somewhere", id.value, size, found);
    if (is_final(array.job.state) && !touched_arrays_.contains(id))
      return fmt::format("array {} is over and still here", id.value);
    for (const std::uint32_t index : array.window) {
      if (!tasks.waiting.contains(index))
        return fmt::format("task {} of array {} is offered but does not wait", index, id.value);
      if (core_->is_up_to_date() &&
          core_->core().stage(number(array, index)) != sched::Stage::kPending)
        return fmt::format("task {} of array {} is not pending in the core", index, id.value);
    }
    std::uint32_t holding = 0;
    for (const JobId task : array.live) {
      const auto job = jobs_.find(task);
      if (job == jobs_.end())
        return fmt::format("task {} of array {} is nowhere", task.value, id.value);
      if (is_placed(job->second.job.state) || claims_.contains(task)) ++holding;
    }
    if (const auto& most = array.job.spec->array->throttle; most && holding > *most)
      return fmt::format("J2: {} tasks of array {} hold something, {} may", holding, id.value,
                         *most);
  }
  return std::nullopt;
}

}  // namespace artel::ctld
