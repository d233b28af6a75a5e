#include "model/array_task.h"

namespace artel {

std::shared_ptr<const Job> task_of_array(const Job& array, JobId id) {
  const std::uint64_t behind = id.value - array.id.value;
  if (behind == 0 || behind > array.spec->array->indexes.size()) return nullptr;
  const auto index = array.spec->array->indexes.at(static_cast<std::uint32_t>(behind - 1));
  const ArrayTasks& tasks = *array.tasks;
  auto task = std::make_shared<Job>();
  task->id = id;
  task->spec = array.spec;
  task->submitted_at = array.submitted_at;
  task->task = TaskOf{array.id, TaskIndex{index}};
  if (tasks.held.contains(index)) {
    task->state = JobState::kHeld;
    task->wait.code = WaitCode::kHeld;
    return task;
  }
  if (tasks.waiting.contains(index)) {
    task->wait = array.wait;
    const bool is_next = tasks.waiting.front() == index;
    // What holds the array as a whole holds each of its tasks.
    if (is_next || array.wait.code == WaitCode::kArrayThrottle) return task;
    task->wait = {};
    task->wait.code = WaitCode::kArrayOrder;
    const auto next = task_number(array.id, *array.spec->array, TaskIndex{tasks.waiting.front()});
    task->wait.behind = next.value_or(JobId{});
    task->wait.nodes_wanted = array.spec->component().nodes;
    return task;
  }
  for (const EndedTasks& ended : tasks.ended) {
    if (!ended.tasks.contains(index)) continue;
    task->state = ended.state;
    task->ended_at = ended.ended_at;
    task->cause = ended.cause;
    return task;
  }
  return nullptr;
}

}  // namespace artel
