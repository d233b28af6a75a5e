// What a change would do now and to what waits: two forecasts, one with the change. The scheduler
// that is asked stays as it is.
#pragma once

#include <variant>
#include <vector>

#include "sched/forecast.h"

namespace artel::sched {

struct QuotaEdit {
  QuotaId quota;
  QuotaChange change;
};
/// Of a job that is known.
struct PriorityEdit {
  JobId job;
  std::int32_t priority{};
};
struct NodeEdit {
  /// Drained: nothing new starts there. Lost: what runs there waits again.
  enum class Fate : std::uint8_t { kDrained, kLost, kReturned };
  NodeId node;
  Fate fate = Fate::kDrained;
};
/// A job of its own number that is submitted; it is part of the forecast.
struct SubmitEdit {
  JobFacts job;
};
struct CancelEdit {
  JobId job;
};
struct HoldEdit {
  JobId job;
  bool held = true;
};
using Edit = std::variant<QuotaEdit, PriorityEdit, NodeEdit, SubmitEdit, CancelEdit, HoldEdit>;

/// A forecast that the change moves; nullopt: no start within what was played.
struct Moved {
  JobId job;
  std::optional<Time> before;
  std::optional<Time> after;

  bool operator==(const Moved&) const = default;
};

struct Consequences {
  std::vector<Started> starts;   // at this instant, because of the change or not
  std::vector<JobId> evictions;  // at this instant
  std::vector<GivenUp> given_up;
  std::vector<Moved> moved;  // only those that differ, by job
  bool is_whole = false;     // both forecasts are
};

/// kNotFound: the job, node or quota is not known; else the refusal that the submission would meet
/// (see Scheduler::submit).
[[nodiscard]] Result<Consequences> what_if(const Scheduler& scheduler, Time now, const Edit& edit,
                                           const ForecastOptions& options = {});

}  // namespace artel::sched
