// Jobs put on nodes by hand, for tests of the parts of the core.
#pragma once

#include <memory>

#include "sched/books.h"
#include "sched/state.h"
#include "unit/sched/bed.h"

namespace artel::sched::bed {

/// A job as it waits.
inline Job& waiting_job(State& state, const JobFacts& facts) {
  Job made{};
  made.id = facts.id;
  made.queue = facts.queue;
  made.pool = pool_of(state, facts.queue);
  made.team = facts.queue;
  made.user = facts.user;
  auto shape = std::make_shared<Shape>();
  static_cast<Request&>(*shape) = facts.request;
  shape->number = facts.id.value;
  made.request = shape;
  made.priority = facts.priority;
  made.preemptible = facts.preemptible;
  made.grace = facts.grace;
  return state.jobs.emplace(facts.id, std::move(made)).first->second;
}

/// One that runs since now on all GPUs of these nodes.
inline Job& running_job(State& state, const JobFacts& facts, std::initializer_list<int> nodes) {
  Job& job = waiting_job(state, facts);
  job.stage = Stage::kRunning;
  job.start = state.now;
  job.saved_at = state.now;
  for (const int node : nodes) {
    job.shares.push_back({.node = NodeId{static_cast<NodeIndex>(node)}, .gpus = 8 * kGpu});
  }
  job.charge = charge_of_shares(state, job);
  hold(state, job);
  book(state, job, 1);
  return job;
}

}  // namespace artel::sched::bed
