// A store that keeps exactly what was committed. It outlives crashes of the simulated controller.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "ctld/core/store.h"

namespace artel::sim {

class ModelStore : public ctld::Store {
 public:
  Result<ctld::StoredState> load() override;
  Result<> commit(const std::vector<ctld::StoreWrite>& rows) override;

  /// Everything durable, for checkers.
  /// Of arrays without the tasks that ended as no jobs.
  [[nodiscard]] const std::map<JobId, Job>& jobs() const { return jobs_; }
  [[nodiscard]] const std::map<JobId, std::vector<EndedTasks>>& ended_tasks() const {
    return ended_;
  }
  [[nodiscard]] const std::map<AttemptKey, Attempt>& attempts() const { return attempts_; }

 private:
  void write(const Job& job);

  std::map<JobId, Job> jobs_;
  std::map<JobId, std::vector<EndedTasks>> ended_;
  JobId last_job_;
  std::map<AttemptKey, Attempt> attempts_;
  std::map<std::string, ctld::NodeRow> nodes_;
  std::map<std::pair<ctld::PastRow::Of, std::string>, ctld::PastRow> past_;
  std::map<JobId, sched::Claim> claims_;
  Incarnation incarnation_;
  Time latest_;
};

}  // namespace artel::sim
