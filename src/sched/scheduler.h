// The scheduling core: facts go in, decisions come out. The rules are those of RULES.md.
//
// A Scheduler is a value: a copy is a snapshot on which a forecast or a question "what if" is
// played. It has no clock; every call names the time, which never goes back. Drivers own what
// happens in the world (ends, limits, grace periods, waiting times) and report it; the order of the
// events of one instant is that of RULES.md, section 1. Not for several threads at once.
//
// Decisions are made and taken in one step: after pass() the jobs that it starts hold their
// resources.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "base/result.h"
#include "sched/facts.h"
#include "sched/reason.h"

namespace artel::sched {

/// What a job holds on one node. Cores and memory are there too where the job did not state them
/// (M2, M3), unless the node has none that are looked at.
struct Share {
  NodeId node;
  std::int64_t gpus{};
  std::int64_t cores{};
  std::int64_t memory{};
  /// Bit i: device i. Only on nodes whose devices are open for shares (U3): one device for a share
  /// of it, else as many as there are whole ones. Elsewhere 0: the driver gives any free devices.
  std::uint64_t devices{};

  auto operator<=>(const Share&) const = default;
};

/// The job starts now on these shares, part by part.
struct Started {
  JobId job;
  std::vector<Share> shares;
};
/// The job is told to leave and has its grace. Without a grace it is gone at once.
struct Signalled {
  JobId job;
};
using Decision = std::variant<Started, Signalled>;

enum class Stage : std::uint8_t { kPending, kClaiming, kRunning, kSignalled };

struct State;

class Scheduler {
 public:
  Scheduler(const Setup& setup, Time now);
  Scheduler(const Scheduler& other);
  Scheduler& operator=(const Scheduler& other);
  Scheduler(Scheduler&&) noexcept;
  Scheduler& operator=(Scheduler&&) noexcept;
  ~Scheduler();

  // Facts. Jobs that are named must be known.

  /// kPermissionDenied: access lists (Q6); kNeverFits: it could not start on the empty cluster, or
  /// names a word that no node has (N1); kInvalidArgument: the amounts of GPUs (U1), the expression
  /// (N1) or the spares (H1) are none.
  Result<> submit(Time now, const JobFacts& job);
  /// The job is over, whether it ran or waited, and is forgotten.
  void end(Time now, JobId job);
  /// Its run is over, it waits again in its old place.
  void requeue(Time now, JobId job);
  /// The job saved its work at `at`.
  void checkpoint(Time now, JobId job, Time at);
  /// The jobs on a failed node are reported by requeue() or end() right after this; claims on it
  /// are void (E2).
  void set_health(Time now, NodeId node, bool healthy);
  void change(Time now, QuotaId quota, const QuotaChange& change);
  /// The words of the node from now on (N1).
  void set_features(Time now, NodeId node, const std::vector<std::string>& features);
  /// kTryAgain: Conflict (R1). Spares (H3) are never refused; they are filled by
  /// begin_reservations().
  Result<ReservationId> reserve(Time now, const ReservationFacts& reservation);
  /// Over before its end, or a standing one that is wanted no more. Unknown: nothing happens.
  void cancel_reservation(Time now, ReservationId reservation);

  // Failures of nodes. For a failed node: set_health(), then for each of jobs_on(), in that order:
  // swap(), and where that gives nothing mark() and requeue() or end(). For a node that refuses a
  // job (E3) the same for that job alone, without set_health().

  /// Running jobs on the node, in the order in which they take spares (H4).
  [[nodiscard]] std::vector<JobId> jobs_on(NodeId node) const;
  /// N4: an attempt of the job failed on this node for a reason of the node, or the node refused
  /// it. The job avoids it from now on, as far as it can.
  void mark(Time now, JobId job, NodeId node);
  /// H2, H4: the job's attempt is over because of these nodes, which are marked as by mark(). If it
  /// goes on at once: what its next attempt holds, from now on; its limit end stays (H5). Nullopt:
  /// it does not run or cannot go on; nothing has changed but the marks. Not to be asked for jobs
  /// that are not to be requeued.
  std::optional<std::vector<Share>> swap(Time now, JobId job, const std::vector<NodeId>& lost);

  // One instant: first the reservations that end, then facts, then the following two.

  void end_reservations(Time now);
  /// Signals for reservations (R4), and those whose start has come.
  std::vector<Decision> begin_reservations(Time now);
  /// One walk over the pending jobs. Empty: nothing changes at this instant any more.
  std::vector<Decision> pass(Time now);

  /// The earliest time after `now` at which a pass may decide differently without a new fact.
  [[nodiscard]] std::optional<Time> next_wake(Time now) const;

  // What is believed after the last pass.

  [[nodiscard]] std::optional<Stage> stage(JobId job) const;
  [[nodiscard]] Wait wait(JobId job) const;
  /// Active jobs that some guarantee node of their path does not cover (C2), ascending.
  [[nodiscard]] std::vector<JobId> borrowed() const;
  /// F1, by flavor and cores.
  [[nodiscard]] std::vector<double> entitlement(QuotaId quota) const;
  /// F2.
  [[nodiscard]] double score(QuotaId quota) const;
  [[nodiscard]] double user_usage(UserId user) const;
  /// Sorted by id; empty after its end.
  [[nodiscard]] std::vector<NodeId> reservation_nodes(ReservationId reservation) const;

 private:
  std::unique_ptr<State> state_;
};

}  // namespace artel::sched
