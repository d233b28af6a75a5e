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
#include <functional>
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
  std::optional<Time> limit_end = {};  // of its time limit or, if that is earlier, its deadline
};
/// The job is told to leave and has its grace. Without a grace it is gone at once.
struct Signalled {
  JobId job;
  JobId by = {};  // who claims its nodes; 0: a reservation
};
/// Z4: ends that the scheduler makes.
enum class GiveUp : std::uint8_t { kDependencyNeverMet, kDeadline, kMaxWait };
std::string_view give_up_name(GiveUp cause);
/// The job is over and forgotten, whatever it claimed is free. Nothing is reported back by end().
struct GivenUp {
  JobId job;
  GiveUp cause = GiveUp::kDependencyNeverMet;
  std::optional<Dependency> decided_by = {};  // D6: the part that cannot be met any more
};
using Decision = std::variant<Started, Signalled, GivenUp>;

enum class Stage : std::uint8_t { kPending, kClaiming, kRunning, kSignalled };

/// Asked between two jobs of a pass; false: enough for now.
using MayGoOn = std::function<bool()>;

struct State;
class Walk;
struct Remembered;      // memory.h
struct EvictionRecord;  // memory.h
struct Claim;           // memory.h

class Scheduler {
 public:
  Scheduler(const Setup& setup, Time now);
  /// In a pass the copy is in none: it has what has been decided so far.
  Scheduler(const Scheduler& other);
  Scheduler& operator=(const Scheduler& other);
  Scheduler(Scheduler&&) noexcept;
  Scheduler& operator=(Scheduler&&) noexcept;
  ~Scheduler();

  // Facts. Jobs that are named must be known.

  /// kInvalidArgument: the shape makes no sense, the amounts of GPUs (U1), the expression (N1) or
  /// the spares (H1) are none, or a deadline has no limit; kPermissionDenied: access lists (Q6);
  /// kNeverFits: it could not start on the empty cluster, names a word that no node has (N1), or
  /// could not start in time for its deadline (W4); kNotFound: it depends on a job that is neither
  /// known nor told to be over (D2). The tasks of an array are submitted in one instant, in the
  /// order of their indexes.
  Result<> submit(Time now, const JobFacts& job);
  /// What submit() would say.
  [[nodiscard]] Result<> check(const JobFacts& job);
  /// The job is over, whether it ran or waited, and is forgotten. Who waits for it is eligible from
  /// the next pass on, or is given up in it (D6).
  void end(Time now, JobId job, Ended how);
  /// Its run is over, it waits again in its old place; for the reason Requeued until `retry_at`.
  void requeue(Time now, JobId job, std::optional<Time> retry_at = {});
  /// W6. A claim is given up; who runs, runs on, and is held when it waits again.
  void set_held(Time now, JobId job, bool held);
  /// K1. From the next pass on.
  void set_priority(Time now, JobId job, std::int32_t priority);
  /// J2, J5: at any time, also before the first task.
  void set_array(Time now, const ArrayFacts& array);
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

  // Restarts of the driver, and runs that take their time to begin and to end; see memory.h.

  /// A job of an earlier Scheduler, told to one that was just made, before any pass. It is never
  /// refused: what could not be submitted any more waits.
  void restore(Time now, const Remembered& job);
  /// Its first process runs: the limit counts from there. Before, it counts from the start.
  void begin_run(Time now, JobId job, std::optional<Time> limit_end);
  /// It is on the way out by itself, not by a signal, and holds its nodes until about `until`.
  void leave(Time now, JobId job, Time until);
  /// Nothing of it is left on this node, while others of its nodes are not free yet. The last one
  /// goes with end() or requeue().
  void give_back(Time now, JobId job, NodeId node);
  [[nodiscard]] EvictionRecord evictions(JobId job) const;
  /// For a driver that tells late that a job was gone when it was signalled: that was no eviction.
  /// Unknown jobs: nothing happens.
  void set_evictions(JobId job, const EvictionRecord& record);
  /// In the order of their jobs.
  [[nodiscard]] std::vector<Claim> claims() const;
  /// F2: decayed use above the guarantee, as QuotaFacts::past.
  [[nodiscard]] double past(QuotaId quota) const;

  // One instant: first the reservations that end, then facts, then begin_reservations(), passes
  // until one is empty, and end_waits(); if that gives up anybody, passes again.

  void end_reservations(Time now);
  /// Signals for reservations (R4), and those whose start has come.
  std::vector<Decision> begin_reservations(Time now);
  /// One walk over the pending jobs. Empty: nothing changes at this instant any more.
  ///
  /// With `may_go_on` it may be a part of a walk only: then in_pass(), and the next call goes on
  /// with it, as of the time when it began. Until it is done nothing but pass(), stop_pass(),
  /// check() and what is const may be called. All parts together decide what one walk would.
  std::vector<Decision> pass(Time now, const MayGoOn& may_go_on = {});
  [[nodiscard]] bool in_pass() const { return walk_ != nullptr; }
  /// The pass is over, as far as it came; what it decided stands. Outside of a pass nothing
  /// happens.
  void stop_pass();
  /// T1, W4: jobs whose maximum wait or latest start has come and that have not started. They are
  /// given up.
  std::vector<Decision> end_waits(Time now);

  /// The earliest time after `now` at which a pass may decide differently without a new fact.
  [[nodiscard]] std::optional<Time> next_wake(Time now) const;

  // What is believed after the last pass.

  [[nodiscard]] std::optional<Stage> stage(JobId job) const;
  [[nodiscard]] bool knows(QuotaId quota) const;
  [[nodiscard]] bool knows(NodeId node) const;
  /// Of each team the eligible job that O4 puts first, ascending by team.
  [[nodiscard]] std::vector<JobId> first_of_teams() const;
  [[nodiscard]] Wait wait(JobId job) const;
  /// Z3: all that stands in the job's way, in the order of Z1, with numbers; wait() comes first. As
  /// of the last pass, with the facts told since. Empty: it does not wait. For a person's question:
  /// it costs about what the job costs in a pass, and O(running).
  [[nodiscard]] std::vector<Wait> explain(JobId job) const;
  /// D7: what it still waits for.
  [[nodiscard]] std::vector<Dependency> missing(JobId job) const;
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
  friend class Replay;  // reads ends and graces

  State& go_to(Time now);

  std::unique_ptr<State> state_;
  std::unique_ptr<Walk> walk_;
};

}  // namespace artel::sched
