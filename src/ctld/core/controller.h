// The controller's state machine: all cluster state, one writer, no I/O, no clock.
//
// Every call is one step at a given time. What must happen outside is collected in Effects, which
// the owner takes after each step: it commits the rows and only then lets sends and replies out. So
// an answer leaves after the commit that makes it true (S1), and nodes never act on an intent that
// could be forgotten.
//
// Invariants: S1-S5, S8-S10 of the design; check() asserts those that can be seen from one state.
// Thread: none of its own; the owner calls it from one strand.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/units.h"
#include "ctld/core/effects.h"
#include "ctld/core/snapshot.h"
#include "ctld/core/store.h"
#include "model/agent_protocol.h"
#include "model/job.h"
#include "model/node.h"
#include "model/teams.h"
#include "sched/facts.h"

namespace artel::ctld {

class ControllerState;

struct ControllerConfig {
  std::string cluster;
  std::vector<NodeConfig> nodes;
  TeamsConfig teams;
  sched::Policy policy;
  std::uint16_t master_port_first = 29400;
  std::uint16_t master_port_last = 30399;
  Duration prepare_timeout{std::chrono::seconds{60}};
  Duration token_memory{
      std::chrono::hours{24}};  // how long a repeated submission gives the same job
  /// So many different jobs that a node failed within the time drain it, unless one ends well
  /// there in between; 0: never.
  std::uint32_t strikes_to_drain = 3;
  Duration strike_window{std::chrono::hours{24}};
  /// T2: a node that nobody heard for so long is given up if all its probe peers say so. Longer
  /// than the lease of agents (noded/core/contacts.h) by drift of clocks and the time to kill.
  Duration give_up_after{std::chrono::seconds{30}};
  std::uint32_t max_jobs =
      1'000'000;  // not final; an array counts as one, and so do its tasks that run
  std::uint32_t max_array_tasks = 1'000'000;
};

/// Who asks, as identified by the kernel through MUNGE.
struct Caller {
  Owner owner;
  bool is_operator{};
  std::vector<std::string> groups{};  // that the account is in, for access lists
};

/// What a command is about: a job, an array with all of its tasks, or some tasks of an array.
struct JobTarget {
  JobTarget() = default;
  JobTarget(JobId id) : job(id) {}  // NOLINT(google-explicit-constructor): most are plain jobs
  JobTarget(JobId array, IndexSet of) : job(array), tasks(std::move(of)) {}

  JobId job;
  std::optional<IndexSet> tasks;
};

/// Why an operator takes nodes out of service, and for how long.
struct DrainOrder {
  std::string reason;
  ReasonClass reason_class = ReasonClass::kNode;
  bool until_reboot = false;  // ends by itself when the node has booted anew
  /// The node is off or cut from power, as the operator knows: its jobs are given up there and
  /// tried again. Wrong, it makes jobs run twice. Refused while the node is in contact.
  bool is_off = false;
};

/// What is to be another than it was; absent: as it is.
struct JobChange {
  std::optional<std::string> name;
  std::optional<std::int32_t> priority;
  std::optional<Duration> time_limit;
  std::optional<std::uint32_t> nodes;
  std::optional<std::vector<std::string>> nodes_wanted;
  std::optional<std::vector<std::string>> nodes_avoided;

  /// Something that the scheduler looks at, beside the priority.
  [[nodiscard]] bool is_of_request() const {
    return time_limit || nodes || nodes_wanted || nodes_avoided;
  }
  [[nodiscard]] bool is_empty() const { return !name && !priority && !is_of_request(); }
};

class Controller {
 public:
  /// `step_keys` gives a new secret of 32 bytes at each call; the core itself has no source of
  /// randomness. Time begins with first_time() of `stored` and `now`.
  Controller(ControllerConfig config, StoredState stored, std::function<std::string()> step_keys,
             Time now);
  ~Controller();
  Controller(const Controller&) = delete;
  Controller& operator=(const Controller&) = delete;

  /// When its time began; the owner counts on from there, as fast as it likes but never back.
  [[nodiscard]] Time begin() const;

  // Clients. Each request is answered by exactly one Reply, in this step.
  void submit(RequestId request, const Caller& caller, std::vector<JobSpec> specs, Time now);
  void cancel(RequestId request, const Caller& caller, const std::vector<JobTarget>& jobs,
              const std::string& reason, Time now);
  /// W6. Only jobs that wait; a job may be held twice. Of an array: its tasks that wait.
  void hold(RequestId request, const Caller& caller, const std::vector<JobTarget>& jobs,
            const std::string& reason, Time now);
  /// What an operator holds, only operators release. A job that is held because its retries are
  /// spent gets new ones.
  void release(RequestId request, const Caller& caller, const std::vector<JobTarget>& jobs,
               Time now);
  /// The run gets its grace and the job waits again in its old place, at no cost. A job that waits
  /// after a run is left as it is; kWrongState for one that has not run, ends or is attached.
  void requeue(RequestId request, const Caller& caller, const std::vector<JobTarget>& jobs,
               const std::string& reason, Time now);
  /// Not of arrays and their tasks. Checked as by submit(). Of a job that has its nodes only the
  /// name changes, else kWrongState. A claim is given up where the request changes.
  void update(RequestId request, const Caller& caller, const std::vector<JobTarget>& jobs,
              const JobChange& change, Time now);
  /// Nothing new is placed on the nodes; what runs there ends by itself. Whether the caller
  /// may is decided before.
  void drain(RequestId request, const Caller& caller, const std::vector<std::string>& nodes,
             const DrainOrder& order, Time now);
  /// The nodes are used again, whoever or whatever drained them. As for drain().
  void resume(RequestId request, const Caller& caller, const std::vector<std::string>& nodes,
              Time now);
  /// Takes over what the team files say now: terms of cohorts and teams, classes, access, longest
  /// times. Jobs go on, those that wait are looked at anew; classes count for later submissions.
  /// Returns how many cohorts and teams have new terms. Error: kConfig as of new_terms(); nothing
  /// has changed.
  Result<std::size_t> change_teams(TeamsConfig teams, Time now);
  /// Answered by a SchedulingSnapshot; `candidate`: a job to be asked about, checked as by submit()
  /// and not submitted.
  void scheduling_snapshot(RequestId request, const Caller& caller,
                           std::optional<JobSpec> candidate, Time now);

  // Agents. A node has at most one session; a newer one ends the older.
  Result<> agent_connected(SessionId session, const AgentHello& hello, Time now);
  void agent_message(SessionId session, const FromAgent& message, Time now);
  /// `silent_for`: how long ago the last word of it came.
  void agent_lost(SessionId session, Time now, Duration silent_for = {});

  /// While paused no pass is run: nothing starts, nobody is evicted. For a store that has no room
  /// for what a start writes; ends, cancels and time-outs go on.
  void pause_starts(bool paused);
  /// Time-outs and one scheduling pass if anything changed, or a part of one: see
  /// sched::Scheduler::pass().
  void tick(Time now, const sched::MayGoOn& may_go_on = {});
  [[nodiscard]] bool in_pass() const;
  /// When tick() is needed next without news; nullopt: not at all. `now` if a pass is due.
  [[nodiscard]] std::optional<Time> next_tick() const;

  Effects take_effects();

  /// The state of this moment for readers.
  [[nodiscard]] std::shared_ptr<const Snapshot> snapshot(Time now);
  [[nodiscard]] std::optional<NodeId> find_node(std::string_view name) const;

  /// Names the first broken invariant of the present state, or nullopt. For simulation and tests.
  [[nodiscard]] std::optional<std::string> check() const;

 private:
  std::unique_ptr<ControllerState> state_;
};

}  // namespace artel::ctld
