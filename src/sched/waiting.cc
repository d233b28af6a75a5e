#include "sched/waiting.h"

#include <algorithm>

#include "base/assert.h"
#include "sched/books.h"

namespace artel::sched {
namespace {

enum class Prospect : std::uint8_t { kMet, kOpen, kNever };

/// D1 for what is over.
Prospect prospect_of(DependencyKind kind, Outcome outcome) {
  switch (kind) {
    case DependencyKind::kAfterOk:
      return outcome == Outcome::kCompleted ? Prospect::kMet : Prospect::kNever;
    case DependencyKind::kAfterNotOk:
      return outcome == Outcome::kFailed ? Prospect::kMet : Prospect::kNever;
    default:
      return Prospect::kMet;
  }
}

/// D5 for an array of which some tasks are left.
Prospect prospect_of(DependencyKind kind, const Array& array) {
  if (kind == DependencyKind::kAfter)
    return array.unstarted == 0 ? Prospect::kMet : Prospect::kOpen;
  const bool decided =
      (kind == DependencyKind::kAfterOk && array.worst != Outcome::kCompleted) ||
      (kind == DependencyKind::kAfterNotOk && array.worst == Outcome::kNeverStarted);
  return decided ? Prospect::kNever : Prospect::kOpen;
}

Prospect prospect(const State& state, const Job& job, const Dependency& part) {
  if (part.kind == DependencyKind::kSingleton) {
    const auto named = state.names.find({job.user, job.name});
    const bool is_first = named == state.names.end() || *named->second.begin() == job.id;
    return is_first ? Prospect::kMet : Prospect::kOpen;
  }
  if (part.was) return prospect_of(part.kind, *part.was);
  if (const auto* array = std::get_if<ArrayId>(&part.on)) {
    return prospect_of(part.kind, state.arrays.at(*array));
  }
  const Job& other = state.jobs.at(std::get<JobId>(part.on));
  return part.kind == DependencyKind::kAfter && other.has_started ? Prospect::kMet
                                                                  : Prospect::kOpen;
}

/// Those who wait for what the part names; null: nobody can, it is over.
std::set<JobId>* dependents_of(State& state, const Dependency& part) {
  if (part.kind == DependencyKind::kSingleton || part.was) return nullptr;
  if (const auto* array = std::get_if<ArrayId>(&part.on)) {
    return &state.arrays.at(*array).dependents;
  }
  return &state.dependents[std::get<JobId>(part.on)];
}

void wait_for_dependencies(State& state, const Job& job) {
  for (const Dependency& part : job.missing) {
    if (auto* dependents = dependents_of(state, part)) dependents->insert(job.id);
  }
}

void forget_dependencies(State& state, Job& job) {
  for (const Dependency& part : job.missing) {
    if (auto* dependents = dependents_of(state, part)) dependents->erase(job.id);
  }
  job.missing.clear();
}

/// What is named is over: whoever waits for it keeps how, and is looked at again.
template <typename Id>
void tell_outcome(State& state, const std::set<JobId>& dependents, Id id, Outcome outcome) {
  for (const JobId dependent : dependents) {
    for (Dependency& part : state.jobs.at(dependent).missing) {
      const auto* on = std::get_if<Id>(&part.on);
      if (part.kind == DependencyKind::kSingleton || on == nullptr || *on != id) continue;
      part.was = outcome;
    }
    state.to_resolve.insert(dependent);
  }
}

void leave_array(State& state, const Job& job, Outcome outcome) {
  if (!job.array) return;
  Array& array = state.arrays.at(*job.array);
  --array.left;
  if (!job.has_started) --array.unstarted;
  array.worst = std::max(array.worst, outcome);
  state.to_resolve.insert(array.dependents.begin(), array.dependents.end());
  if (array.left > 0) return;
  tell_outcome(state, array.dependents, *job.array, array.worst);
  state.arrays.erase(*job.array);
}

void leave_name(State& state, const Job& job) {
  const auto named = state.names.find({job.user, job.name});
  if (named == state.names.end()) return;
  named->second.erase(job.id);
  if (named->second.empty()) {
    state.names.erase(named);
  } else {
    state.to_resolve.insert(*named->second.begin());
  }
}

void give_up(State& state, JobId id, GiveUp cause, std::optional<Dependency> decided_by = {}) {
  state.given_up.push_back({.job = id, .cause = cause, .decided_by = std::move(decided_by)});
  finish(state, id, false);
}

/// The dependencies of one job on what is known now.
void resolve(State& state, Job& job) {
  std::optional<Dependency> met;
  std::optional<Dependency> never;
  std::vector<Dependency> open;
  for (const Dependency& part : job.missing) {
    switch (prospect(state, job, part)) {
      case Prospect::kMet:
        met = part;
        break;
      case Prospect::kNever:
        never = part;
        break;
      case Prospect::kOpen:
        open.push_back(part);
        break;
    }
  }
  if (job.any_is_enough ? met.has_value() : open.empty() && !never) {
    forget_dependencies(state, job);
    job.ready = std::max(job.ready, state.now);  // W2
    return;
  }
  if (job.any_is_enough ? open.empty() : never.has_value()) {
    give_up(state, job.id, GiveUp::kDependencyNeverMet, std::move(never));
    return;
  }
  forget_dependencies(state, job);  // D4
  job.missing = std::move(open);
  wait_for_dependencies(state, job);
}

}  // namespace

Wait obstacle(const State& state, const Job& job) {
  if (job.held) return {.reason = Reason::kHeld};
  if (!job.missing.empty()) return {.reason = Reason::kDependency};
  if (job.begin && state.now < *job.begin)
    return {.reason = Reason::kBeginTime, .until = job.begin};
  if (job.parked != Reason::kNone) return {.reason = job.parked};
  if (state.now < job.retry_at) return {.reason = Reason::kRequeued, .until = job.retry_at};
  return {};
}

bool has_slot(const State& state, const Job& job) {
  if (!job.array) return true;
  const Array& array = state.arrays.at(*job.array);
  return !array.throttle || array.taken < *array.throttle;
}

void take_slot(State& state, const Job& job) {
  if (job.array) ++state.arrays.at(*job.array).taken;
}

void begin_slots(State& state) {
  for (auto& [id, array] : state.arrays) array.taken = array.holding;
}

std::optional<Time> latest_start(const Job& job) {
  if (!job.deadline || !job.request->limit) return std::nullopt;
  return *job.deadline - *job.request->limit;
}

Result<> check_dependencies(const State& state, const JobFacts& facts) {
  for (const Dependency& part : facts.after.list) {
    if (part.kind == DependencyKind::kSingleton || part.was) continue;
    const auto* array = std::get_if<ArrayId>(&part.on);
    if (array != nullptr && facts.array == *array) {
      return fail(ErrorCode::kInvalidArgument, "a task cannot wait for array " +
                                                   std::to_string(array->value) +
                                                   ", which is its own; name another job");
    }
    if (array != nullptr) {
      const auto known = state.arrays.find(*array);
      if (known != state.arrays.end() && known->second.left > 0) continue;
    } else if (state.jobs.contains(std::get<JobId>(part.on))) {
      continue;
    }
    const std::uint64_t number = array != nullptr ? array->value : std::get<JobId>(part.on).value;
    return fail(ErrorCode::kNotFound,
                std::string(array != nullptr ? "array " : "job ") + std::to_string(number) +
                    ", which the job is to wait for, is not known; name one that was submitted "
                    "before");
  }
  return {};
}

void enter(State& state, Job& job, const JobFacts& facts) {
  if (!job.name.empty()) state.names[{job.user, job.name}].insert(job.id);
  if (job.array) {
    Array& array = state.arrays[*job.array];
    ++array.left;
    if (!job.has_started) ++array.unstarted;
  }
  watch_wait(state, job);
  if (facts.after.list.empty()) return;
  job.missing = facts.after.list;
  job.any_is_enough = facts.after.any_is_enough;
  wait_for_dependencies(state, job);
  state.to_resolve.insert(job.id);
  sched::resolve(state);
}

void note_start(State& state, Job& job) {
  watch_wait(state, job);
  if (job.has_started) return;
  job.has_started = true;
  if (const auto waiting = state.dependents.find(job.id); waiting != state.dependents.end()) {
    state.to_resolve.insert(waiting->second.begin(), waiting->second.end());
  }
  if (!job.array) return;
  Array& array = state.arrays.at(*job.array);
  if (--array.unstarted > 0) return;
  state.to_resolve.insert(array.dependents.begin(), array.dependents.end());
}

void finish(State& state, JobId id, bool completed) {
  const auto entry = state.jobs.find(id);
  ARTEL_ASSERT(entry != state.jobs.end());
  Job& job = entry->second;
  release(state, job);
  if (job.wait_end) state.wait_ends.erase({*job.wait_end, id});
  state.waiting.erase(id);
  forget_dependencies(state, job);
  const Outcome unfinished = job.has_started ? Outcome::kFailed : Outcome::kNeverStarted;
  const Outcome outcome = completed ? Outcome::kCompleted : unfinished;
  if (const auto waiting = state.dependents.extract(id)) {
    tell_outcome(state, waiting.mapped(), id, outcome);
  }
  leave_array(state, job, outcome);
  leave_name(state, job);
  state.jobs.erase(entry);
}

void resolve(State& state) {
  while (!state.to_resolve.empty()) {
    const JobId next = *state.to_resolve.begin();
    state.to_resolve.erase(state.to_resolve.begin());
    const auto job = state.jobs.find(next);
    if (job != state.jobs.end() && !job->second.missing.empty()) resolve(state, job->second);
  }
}

void watch_wait(State& state, Job& job) {
  if (job.stage != Stage::kPending || job.held) {
    state.waiting.erase(job.id);
  } else {
    state.waiting.emplace(job.id, &job);
  }
  if (job.stage == Stage::kPending && job.held) job.wait = {.reason = Reason::kHeld};
  std::optional<Time> end;
  if (job.stage == Stage::kPending || job.stage == Stage::kClaiming) {
    end = latest_start(job);
    if (job.max_wait && !job.has_started) {
      const Time most = job.submitted + *job.max_wait;
      end = std::min(end.value_or(most), most);
    }
  }
  if (end == job.wait_end) return;
  if (job.wait_end) state.wait_ends.erase({*job.wait_end, job.id});
  if (end) state.wait_ends.insert({*end, job.id});
  job.wait_end = end;
}

void end_waits(State& state, bool missed) {
  std::vector<std::pair<JobId, GiveUp>> due;
  for (const auto& [time, id] : state.wait_ends) {
    if (time > state.now) break;
    const auto latest = latest_start(state.jobs.at(id));
    if (missed && (!latest || *latest >= state.now)) continue;
    due.emplace_back(id, latest && *latest <= state.now ? GiveUp::kDeadline : GiveUp::kMaxWait);
  }
  for (const auto& [id, cause] : due) give_up(state, id, cause);
  resolve(state);
}

}  // namespace artel::sched
