// What a policy of scheduling is to the replay: facts go in, starts and evictions come out.
//
// A policy sees limits, never run times. It is told of every fact before the pass of that instant.
// Times never go back. One thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sim/trace/task.h"

namespace artel::trace {

/// A task starts, or is told to leave: it is gone after its grace.
struct Decision {
  TaskIndex task{};
  bool evict = false;
};

/// What one pass decides, in the order in which it was decided.
struct Decisions {
  std::vector<Decision> steps;
  bool again = false;  // another pass at this instant may decide more
};

/// In which order the facts of one instant are taken and passes made.
enum class EventOrder : std::uint8_t {
  kBatch,   // all ends, all submits, one pass
  kSingle,  // each submit with its own pass, then each end with its own; ends as they were started
};

struct Site;

class Policy {
 public:
  Policy() = default;
  Policy(const Policy&) = delete;
  Policy& operator=(const Policy&) = delete;
  virtual ~Policy() = default;

  /// False: the task could never run here, whatever else runs; it is left out.
  virtual bool submit(Seconds now, TaskIndex task) = 0;
  /// The task left the machine for good.
  virtual void end(Seconds now, TaskIndex task) = 0;
  /// An evicted task left the machine and waits again. Policies that evict nothing never see it.
  virtual void requeue(Seconds now, TaskIndex task);
  virtual Decisions pass(Seconds now) = 0;

  /// The earliest time after `now` at which a pass may decide differently without a new fact.
  virtual std::optional<Seconds> next_wake(Seconds now);
  [[nodiscard]] virtual EventOrder order() const { return EventOrder::kBatch; }
  /// How long an evicted task may still run.
  [[nodiscard]] virtual Seconds grace(TaskIndex task) const;
  /// What is free but in pieces: on nodes of which another part is held. nullopt: no nodes here.
  [[nodiscard]] virtual std::optional<Milli> stranded() const { return std::nullopt; }
};

/// Names of all policies, the order of the manual.
const std::vector<std::string_view>& policy_names();
/// One line about it, for help and reports. The name must be known.
std::string_view policy_summary(std::string_view name);

/// The problem outlives it. Without a site: each unit is a node. Error: kInvalidArgument with the
/// nearest name; kConfig.
Result<std::unique_ptr<Policy>> make_policy(std::string_view name, const Problem& problem,
                                            const Site& site);
Result<std::unique_ptr<Policy>> make_policy(std::string_view name, const Problem& problem);

}  // namespace artel::trace
