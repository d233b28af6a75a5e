#include "sim/scenario/core_lives.h"

#include <algorithm>

namespace artel::scenario {

namespace {

sched::DependencyKind kind_of(Depends kind) {
  switch (kind) {
    case Depends::kAfter:
      return sched::DependencyKind::kAfter;
    case Depends::kAfterAny:
      return sched::DependencyKind::kAfterAny;
    case Depends::kAfterOk:
      return sched::DependencyKind::kAfterOk;
    case Depends::kAfterNotOk:
      return sched::DependencyKind::kAfterNotOk;
    case Depends::kSingleton:
      break;
  }
  return sched::DependencyKind::kSingleton;
}

sched::GiveUp cause_of(Ending how) {
  if (how == Ending::kDeadline) return sched::GiveUp::kDeadline;
  return how == Ending::kMaxWait ? sched::GiveUp::kMaxWait : sched::GiveUp::kDependencyNeverMet;
}

/// One of the two has named the job; if it is the second, with the same cause, they agree.
void meet(std::map<std::string, std::string>& own, std::map<std::string, std::string>& other,
          const std::string& job, const std::string& cause) {
  const auto entry = other.find(job);
  if (entry != other.end() && entry->second == cause) {
    other.erase(entry);
  } else {
    own[job] = cause;
  }
}

}  // namespace

JobId CoreLives::enter(const Job& job) {
  lives_.push_back({.name = job.id, .array = job.array_id});
  const JobId id{lives_.size()};
  ids_[job.id] = id;
  return id;
}

sched::ArrayId CoreLives::array(const std::string& name) {
  return arrays_.try_emplace(name, sched::ArrayId{arrays_.size() + 1}).first->second;
}

void CoreLives::ended(JobId id, bool completed) {
  Life& life = lives_[id.value - 1];
  const auto unfinished =
      life.has_started ? sched::Outcome::kFailed : sched::Outcome::kNeverStarted;
  life.outcome = completed ? sched::Outcome::kCompleted : unfinished;
}

std::optional<sched::Outcome> CoreLives::outcome_of(const std::string& name) const {
  sched::Outcome worst = sched::Outcome::kCompleted;
  for (const Life& life : lives_) {
    if (life.name != name && life.array != name) continue;
    if (!life.outcome) return std::nullopt;
    worst = std::max(worst, *life.outcome);
  }
  return worst;
}

sched::Dependencies CoreLives::dependencies_of(const Job& job) const {
  sched::Dependencies all{.list = {}, .any_is_enough = job.any_is_enough};
  for (const Dependency& on : job.after) {
    sched::Dependency part{.kind = kind_of(on.kind), .on = {}, .was = {}};
    if (on.kind != Depends::kSingleton) {
      if (const auto array = arrays_.find(on.job); array != arrays_.end()) {
        part.on = array->second;
      } else {
        part.on = ids_.at(on.job);
      }
      part.was = outcome_of(on.job);
    }
    all.list.push_back(part);
  }
  return all;
}

void CoreLives::player_gave_up(const std::string& job, Ending how) {
  meet(by_player_, by_core_, job, std::string(sched::give_up_name(cause_of(how))));
}

void CoreLives::core_gave_up(const sched::GivenUp& end) {
  meet(by_core_, by_player_, name_of(end.job), std::string(sched::give_up_name(end.cause)));
}

std::vector<GiveUp> CoreLives::disagreements() {
  std::vector<GiveUp> found;
  for (const auto& [job, cause] : by_core_) found.push_back({job, cause});
  for (const auto& [job, cause] : by_player_) found.push_back({job, "kept, not " + cause});
  by_core_.clear();
  by_player_.clear();
  return found;
}

}  // namespace artel::scenario
