#include "sim/orders.h"

#include <fmt/format.h>

#include <chrono>
#include <set>
#include <string>
#include <utility>

#include "sim/site.h"

namespace artel::sim {
namespace {

void make_array(JobSpec& spec, Random& random) {
  IndexSet indexes;
  const auto count = random.between(1, 12);
  auto index = static_cast<std::uint32_t>(random.between(0, 3));
  for (std::uint64_t i = 0; i < count; ++i) {
    indexes.push_back(index);
    index += static_cast<std::uint32_t>(random.chance(800) ? 1 : random.between(2, 4));
  }
  spec.array = ArraySpec{.indexes = std::move(indexes), .throttle = {}};
  if (random.chance(400)) spec.array->throttle = static_cast<std::uint32_t>(random.between(1, 3));
  spec.components.front().nodes = 1;
  spec.output = "out-%t";
}

void check_array(const Order& order, const Job& array, const ModelStore& store, Truth& truth) {
  const JobId id = array.id;
  std::set<std::uint32_t> seen;
  const auto once = [&](std::uint32_t index) {
    if (!order.spec.array->indexes.contains(index) || !seen.insert(index).second)
      truth.report(
          fmt::format("S1: task {} of array {} was made up or ended twice", index, id.value));
  };
  std::uint32_t completed = 0;
  const auto [first, last] = numbers(order);
  for (auto job = store.jobs().upper_bound(first); job != store.jobs().end() && job->first <= last;
       ++job) {
    const Job& task = job->second;
    if (!task.task || task.task->array != id || !is_final(task.state)) {
      truth.report(
          fmt::format("job {} is no task of array {} that has ended", task.id.value, id.value));
      continue;
    }
    once(task.task->index.value);
    if (task.state == JobState::kCompleted) ++completed;
    if (!task.attempt && task.last_attempt.value == 0 && task.state != JobState::kCancelled)
      truth.report(fmt::format("task {} ended without a run", task.id.value));
  }
  if (const auto ended = store.ended_tasks().find(id); ended != store.ended_tasks().end()) {
    if (!order.cancelled)
      truth.report(fmt::format("tasks of array {} were cancelled by nobody", id.value));
    for (const EndedTasks& some : ended->second) some.tasks.for_each(once);
  }
  if (seen.size() != order.spec.array->indexes.size())
    truth.report(fmt::format("S1: array {} has {} tasks, {} have ended", id.value,
                             order.spec.array->indexes.size(), seen.size()));
  if (array.tasks->completed != completed)
    truth.report(fmt::format("array {} says {} completed, {} have", id.value,
                             array.tasks->completed, completed));
}

}  // namespace

JobSpec any_job(std::uint32_t index, const WorldOptions& options, Random& random) {
  JobSpec spec{.name = fmt::format("job{}", index),
               .owner = {.uid = 1000, .gid = 1000, .user = "u1"}};
  ComponentSpec part;
  part.nodes = static_cast<std::uint32_t>(random.between(1, options.nodes));
  if (random.chance(300)) {
    part.per_node = {.whole_node = false, .gpus = GpuMilli{random.between(1, 8) * 1000}};
  }
  spec.components.push_back(part);
  spec.priority = -static_cast<std::int32_t>(random.between(0, 3));
  const bool is_long = random.chance(options.long_jobs);
  const std::uint64_t runtime =
      is_long ? random.between(50'000, 250'000) : random.between(10, 20'000);
  spec.argv = {"run", std::to_string(runtime), random.chance(150) ? "3" : "0"};
  if (!is_long && random.chance(500)) spec.time_limit = random.delay(5'000, 60'000);
  spec.grace = std::chrono::seconds{5};
  spec.working_directory = "/";
  spec.output = "out";
  spec.client_token = fmt::format("token-{}", index);
  if (!is_long && random.chance(120)) make_array(spec, random);
  choose_line(spec, random);
  return spec;
}

ctld::JobTarget any_part(const Order& order, Random& random) {
  const JobId job = *order.acknowledged;
  if (!order.spec.array || random.chance(400)) return job;
  const IndexSet& all = order.spec.array->indexes;
  const auto rank = static_cast<std::uint32_t>(random.between(0, all.size() - 1));
  if (random.chance(300)) return JobId{job.value + 1 + rank};
  IndexSet some;
  for (std::uint32_t i = rank; i < all.size(); ++i) some.push_back(all.at(i));
  return {job, std::move(some)};
}

std::pair<JobId, JobId> numbers(const Order& order) {
  const std::uint64_t tasks = order.spec.array ? order.spec.array->indexes.size() : 0;
  return {*order.acknowledged, JobId{order.acknowledged->value + tasks}};
}

void check_orders(const std::vector<Order>& orders, const ModelStore& store, Truth& truth) {
  const auto& jobs = store.jobs();
  std::size_t submitted = 0;
  for (const auto& [id, job] : jobs) submitted += job.task ? 0 : 1;
  for (const Order& order : orders) {
    if (!order.acknowledged) {
      truth.report("a submission was never acknowledged");
      continue;
    }
    const auto it = jobs.find(*order.acknowledged);
    if (it == jobs.end()) {
      truth.report(fmt::format("S1: acknowledged job {} is lost", order.acknowledged->value));
    } else if (!is_final(it->second.state)) {
      truth.report(fmt::format("job {} never ended: {} ({})", it->first.value,
                               job_state_name(it->second.state), describe(it->second.wait)));
    } else if (order.spec.array) {
      check_array(order, it->second, store, truth);
    }
  }
  if (submitted != orders.size()) {
    truth.report(fmt::format("S1: {} submissions made {} jobs", orders.size(), submitted));
  }
}

}  // namespace artel::sim
