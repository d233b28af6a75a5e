// What the core engine remembers of jobs: the core forgets them when they end, and dependencies may
// name them later. It also compares the ends that the core makes with those of the player.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sched/scheduler.h"
#include "sim/scenario/engine.h"

namespace artel::scenario {

class CoreLives {
 public:
  /// The next job; numbers follow the order of submission.
  JobId enter(const Job& job);
  [[nodiscard]] JobId id_of(const std::string& name) const { return ids_.at(name); }
  [[nodiscard]] const std::string& name_of(JobId id) const { return lives_[id.value - 1].name; }
  [[nodiscard]] std::size_t size() const { return lives_.size(); }

  /// The number of an array; a new one if it is met for the first time.
  sched::ArrayId array(const std::string& name);
  [[nodiscard]] sched::Dependencies dependencies_of(const Job& job) const;
  void started(JobId id) { lives_[id.value - 1].has_started = true; }
  void ended(JobId id, bool completed);

  // The player ends what has waited too long; the core does so by itself.

  void player_gave_up(const std::string& job, Ending how);
  void core_gave_up(const sched::GivenUp& end);
  /// Ends that only one of them has made so far.
  std::vector<GiveUp> disagreements();

 private:
  struct Life {
    std::string name;
    std::string array;
    bool has_started = false;
    std::optional<sched::Outcome> outcome;
  };
  /// How all that the name stands for ended; nullopt: some are not over.
  [[nodiscard]] std::optional<sched::Outcome> outcome_of(const std::string& name) const;

  std::vector<Life> lives_;  // by id, from 1
  std::map<std::string, JobId> ids_;
  std::map<std::string, sched::ArrayId> arrays_;
  std::map<std::string, std::string> by_player_;
  std::map<std::string, std::string> by_core_;
};

}  // namespace artel::scenario
