// Plays the timeline of a case in virtual time against an engine.
//
// The events of one instant apply in the order of the rules: job ends and time limits, ends of
// grace, ends of reservations, facts as they came, reservation signals and starts, passes until
// nothing changes, maximum waits. One thread; a player and its engine serve one run.
#pragma once

#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "sim/scenario/case.h"
#include "sim/scenario/engine.h"

namespace artel::scenario {

/// The state after all events and passes of a minute.
struct State {
  Minute t = 0;
  std::map<std::string, std::vector<Share>> running;
  std::vector<std::string> terminating;
  std::map<std::string, std::string> done;  // with the reason, or empty
  std::map<std::string, std::string> cancelled;
  std::map<std::string, std::string> rejected;
  std::map<std::string, std::int64_t> preempts;
  std::map<std::string, std::string> refused_reservations;
  std::map<std::string, std::string> pending;
  Beliefs beliefs;
};

struct PlayOptions {
  /// A pass each so many minutes although nothing happened; 0: none.
  Minute poll = 0;
};

class Player {
 public:
  /// Keeps references; both must outlive it.
  Player(const Case& scenario, Engine& engine, PlayOptions options = {});

  /// Plays everything up to and including `t`, and a pass at `t`. Error kInvalidArgument: a
  /// decision of the engine is impossible, or it never comes to rest.
  Result<> advance_to(Minute t);
  [[nodiscard]] State state();

 private:
  enum class Stage : std::uint8_t {
    kPending,
    kRunning,
    kTerminating,
    kDone,
    kCancelled,
    kRejected
  };
  /// A named part of a dependency.
  struct Part {
    Dependency on;
    bool is_met = false;  // for good (D4)
  };
  struct Life {
    const Job* job = nullptr;
    Stage stage = Stage::kPending;
    Minute submitted = 0;
    bool has_started = false;
    Minute start = 0;
    std::optional<Minute> limit_end;  // a swap keeps it (H5)
    Minute saved = 0;                 // minutes of work that a restart does not repeat
    std::optional<Minute> saved_at;   // last checkpoint of this run
    Minute grace_end = 0;
    std::vector<Share> shares;
    std::int64_t evictions = 0;
    std::string reason;
    bool has_completed = false;
    std::vector<Part> parts;
    bool is_held = false;
    bool depends = false;
  };
  enum class Outlook : std::uint8_t { kMet, kOpen, kNever };

  static constexpr Minute kNever = std::numeric_limits<Minute>::max();

  Result<> play_instant(Minute now);
  void end_runs();
  void end_graces();
  Result<> apply_facts();
  Result<> pass_until_rest();
  void end_missed();
  bool end_waits();
  Result<> apply(const std::vector<Decision>& decisions);
  Result<> start(const Start& decision);
  Result<> signal(const Signal& decision);
  [[nodiscard]] Result<> check_shares(const Life& life, const std::vector<Share>& shares) const;
  void fact(const Submit& submit);
  void fact(const Cancel& cancel);
  void fact(const Checkpoint& checkpoint);
  void fact(const NodeDown& down);
  void fact(const NodeUp& up);
  void fact(const SetQuota& change);
  void fact(const Reserve& reserve);
  void fact(const Hold& hold);
  void fact(const Release& release);
  void fact(const Throttle& throttle);
  void fact(const SetFeatures& change);
  void fact(const NodeRefuses& refusal);

  void submit_one(const Job& job);
  [[nodiscard]] std::optional<std::string> refusal_of(const Life& life);
  void set_held(const std::string& id, bool held);
  /// The jobs of a failed node go on elsewhere, or wait again (E1, H2, H4).
  void lose_node(const std::string& node, std::vector<std::size_t> jobs);
  bool swap(Life& life, const std::string& node);

  // Rules D.
  void resolve_dependencies();
  bool resolve(Life& life);
  [[nodiscard]] Outlook outlook(const Life& life, const Part& part) const;
  [[nodiscard]] Outlook outlook(const Dependency& on, const Life& other) const;
  [[nodiscard]] Outlook outlook_of_failure(const std::vector<std::size_t>& jobs) const;
  /// The jobs that a name stands for: a job, or all tasks of an array.
  [[nodiscard]] std::vector<std::size_t> named(const std::string& name) const;
  static bool is_over(const Life& life);

  [[nodiscard]] Minute run_end(const Life& life) const;
  [[nodiscard]] std::string end_reason(const Life& life) const;
  [[nodiscard]] Minute wait_end(const Life& life) const;
  [[nodiscard]] Minute next_instant();
  void report_checkpoints();
  void save(Life& life, Minute at);
  /// What the next run does not repeat (A6).
  void keep_saved_work(Life& life);
  /// The run is over before its work is done.
  void interrupt(Life& life, Requeue why, const std::string& reason);
  void finish(Life& life, Stage stage, const std::string& reason);
  Life& life(const std::string& id) { return lives_[index_.at(id)]; }

  const Case& case_;
  Engine& engine_;
  PlayOptions options_;
  Minute now_ = -1;
  std::size_t next_event_ = 0;
  std::deque<Job> jobs_;
  std::deque<Life> lives_;  // in the order of submission
  std::map<std::string, std::size_t> index_;
  std::map<std::string, bool> healthy_;
  std::map<std::string, std::string> refused_;
};

}  // namespace artel::scenario
