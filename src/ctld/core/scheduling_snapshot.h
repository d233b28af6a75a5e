// The scheduling state of one moment, for questions of people: why does a job wait, when will it
// start, what would a change do.
//
// A copy of the scheduling core with the names that it goes by, so that answers are computed away
// from the control thread and may take their time. Thread: immutable, any.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/units.h"
#include "ctld/core/snapshot.h"
#include "model/wait.h"

namespace artel::sched {
class Scheduler;
struct JobFacts;
}  // namespace artel::sched

namespace artel::ctld {

class Layout;

/// All that stands in the way of a job, and what is expected of it.
struct Explanation {
  std::vector<WaitReason> blockers;  // in the order of rule Z1; empty: the job does not wait
  /// The start if every run takes all of its limit and nothing new is submitted.
  std::optional<Time> expected;
  bool is_whole{};  // false: `expected` was looked for a limited time ahead only
};

/// Whole GPUs by type, and cores, that are changed; nullopt: no bound, or no guarantee.
using AmountWishes = std::map<std::string, std::optional<std::int64_t>>;

/// "nlp" or "team nlp"; what is not named stays.
struct QuotaWish {
  std::string quota;
  AmountWishes guarantee;
  AmountWishes limit;
  AmountWishes borrow;
  AmountWishes lend;
  std::optional<double> weight;
};
/// The job's own priority, beside that of its class.
struct PriorityWish {
  JobId job;
  std::int32_t priority{};
};
struct NodeWish {
  enum class Fate : std::uint8_t { kDrained, kLost, kReturned };
  std::string node;
  Fate fate = Fate::kDrained;
};
/// The job that the snapshot was made with.
struct SubmitWish {};
struct CancelWish {
  JobId job;
};
struct HoldWish {
  JobId job;
  bool held = true;
};
using Wish = std::variant<QuotaWish, PriorityWish, NodeWish, SubmitWish, CancelWish, HoldWish>;

/// An expected start that the change moves; nullopt: none that can be foreseen.
struct MovedStart {
  JobId job;
  std::optional<Time> before;
  std::optional<Time> after;
};

struct Outcome {
  std::vector<JobId> starts;     // at once
  std::vector<JobId> evictions;  // at once
  std::vector<MovedStart> moved;
  bool is_whole{};  // false: looked at for a limited time ahead only
};

class SchedulingSnapshot {
 public:
  /// `candidate`: a job that was not submitted.
  SchedulingSnapshot(sched::Scheduler core, const Layout& layout,
                     std::shared_ptr<const Snapshot> jobs,
                     std::optional<sched::JobFacts> candidate);
  ~SchedulingSnapshot();
  SchedulingSnapshot(const SchedulingSnapshot&) = delete;
  SchedulingSnapshot& operator=(const SchedulingSnapshot&) = delete;

  [[nodiscard]] const Snapshot& jobs() const { return *jobs_; }
  /// The number that the candidate goes by; 0: there is none.
  [[nodiscard]] JobId candidate() const;

  /// Error: kNotFound.
  [[nodiscard]] Result<Explanation> explain(JobId job) const;
  /// Error: kNotFound, kInvalidArgument naming what is wrong with the wish; for a candidate what
  /// its submission would meet.
  [[nodiscard]] Result<Outcome> what_if(const Wish& wish) const;

 private:
  /// Whose starts are compared: the candidate and the first of those that wait.
  [[nodiscard]] std::vector<JobId> watched() const;
  /// Of the array, or of that of the task: the first that waits. nullopt: none, or the job is held.
  [[nodiscard]] std::optional<JobId> next_task(const Job& job) const;
  /// Error where the core is not told of the job yet.
  [[nodiscard]] Result<> check_known(const Wish& wish) const;

  std::unique_ptr<const sched::Scheduler> core_;
  std::unique_ptr<const Layout> layout_;
  std::shared_ptr<const Snapshot> jobs_;
  std::unique_ptr<const sched::JobFacts> candidate_;
};

}  // namespace artel::ctld
