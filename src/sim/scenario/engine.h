// What the player of a case drives: facts go in, decisions come out.
//
// The player owns the world (durations, limits, grace periods, checkpoints, waiting times); an
// engine owns the rules of scheduling. Two engines exist: the scheduling core and, in tests, a
// plain interpreter of the rules. Times never go back. One thread.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "sim/scenario/case.h"

namespace artel::scenario {

/// What a job holds on one node.
struct Share {
  std::string node;
  std::int64_t gpus = 0;
  std::int64_t cpus = 0;
  std::int64_t gpu_milli = 0;         // of one device
  std::int64_t memory = 0;            // MB
  std::vector<std::int64_t> devices;  // which; only on nodes that are open for shares
  auto operator<=>(const Share&) const = default;
};

/// The job starts now on these shares.
struct Start {
  std::string job;
  std::vector<Share> shares;
};
/// The job is told to leave; its grace period begins. Without one it is gone at once.
struct Signal {
  std::string job;
};
/// The engine has ended the job by itself where the player has not: a fault of one of the two.
struct GiveUp {
  std::string job;
  std::string cause;
};
using Decision = std::variant<Start, Signal, GiveUp>;

/// How a job ended: by itself or somebody's will, or because its waiting is over (T1, W4, D6).
enum class Ending : std::uint8_t { kCompleted, kOtherwise, kNeverMet, kDeadline, kMaxWait };

/// Why an attempt ended and the job waits again.
enum class Requeue : std::uint8_t { kEvicted, kNodeFailed };

/// What keeps a pending job from being looked at, as far as the player knows.
struct Waits {
  bool held = false;
  bool depends = false;  // a dependency is not met
  bool operator==(const Waits&) const = default;
};

/// What an engine believes after its passes. Jobs inside `planned` wait.
struct Beliefs {
  std::map<std::string, std::string> reasons;  // of pending jobs
  std::map<std::string, Minute> planned;
  std::vector<std::string> borrowed;          // sorted
  std::map<std::string, double> entitlement;  // sum over resources, by quota path
  std::map<std::string, double> score;
  std::map<std::string, double> user_usage;
  std::map<std::string, std::vector<std::string>> reservations;  // not ended; nodes sorted
};

class Engine {
 public:
  Engine() = default;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  virtual ~Engine() = default;

  /// A refusal code (AccessDenied, NeverFits), or nullopt: the job is pending.
  virtual std::optional<std::string> submit(Minute now, const Job& job) = 0;
  /// The job is over, whether it ran or waited: it leaves. Where its waiting is over an engine that
  /// owns these rules has ended it already, and says so by GiveUp if it has not.
  virtual void end(Minute now, const std::string& job, Ending how) = 0;
  /// The job's attempt is over, it waits again.
  virtual void requeue(Minute now, const std::string& job, Requeue why) = 0;
  /// The job saved its work at `at`.
  virtual void checkpoint(Minute now, const std::string& job, Minute at) = 0;
  /// The jobs on a failed node are reported by `requeue` or `end` right after this.
  virtual void node(Minute now, const std::string& name, bool healthy) = 0;
  virtual void set_quota(Minute now, const SetQuota& change) = 0;
  /// A refusal code (Conflict), or nullopt: it is accepted.
  virtual std::optional<std::string> reserve(Minute now, const Reservation& reservation) = 0;

  /// New for a job just submitted, or changed: hold, release, a dependency was met.
  virtual void waits(Minute now, const std::string& job, Waits waits);
  /// A new throttle for all tasks of the array.
  virtual void throttle(Minute now, const std::string& array, std::int64_t limit);
  virtual void features(Minute now, const std::string& node,
                        const std::vector<std::string>& features);
  /// The node refused the job's attempt (rule E3); `swap` and `requeue` follow as after a failure.
  virtual void refuse(Minute now, const std::string& job, const std::string& node);
  /// Asked for each job of a failed node, in the order of the rules, before `requeue`: it goes on
  /// at once on these nodes (rules H2, H4), or nullopt.
  virtual std::optional<Start> swap(Minute now, const std::string& job, const std::string& lost);

  /// Reservations whose end has come are over.
  virtual void end_reservations(Minute now) = 0;
  /// Signals for reservations, and reservations whose start has come.
  virtual std::vector<Decision> begin_reservations(Minute now) = 0;
  /// One walk over the pending jobs. Empty: nothing changes at this instant any more.
  virtual std::vector<Decision> pass(Minute now) = 0;

  /// The passes have come to rest; the player ends the waiting of some right after this.
  virtual void end_waits(Minute now);

  /// The earliest time after `now` at which a pass may decide differently without a new fact.
  virtual std::optional<Minute> next_wake(Minute now) = 0;
  virtual Beliefs beliefs(Minute now) = 0;
};

using EngineMaker = std::function<std::unique_ptr<Engine>(const Case&)>;

}  // namespace artel::scenario
