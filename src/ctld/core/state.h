// The controller's state and the transitions on it. Private to ctld/core; the public face is
// controller.h.
//
// Each .cc of this class is one theme: admission (submit), orders (cancel, hold, drain), arrays
// (tasks that are no jobs yet), lifecycle
// (attempts from placement to end), nodes
// (drains and strikes), fencing (when what ran on a silent node counts as gone), agents (sessions
// and reconciliation), pass (timers, decisions), scheduling (what the core is told and what is kept
// for it), state (effects, snapshot).
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ctld/core/controller.h"
#include "ctld/core/free_amounts.h"
#include "ctld/core/layout.h"
#include "ctld/core/live_job.h"
#include "ctld/core/node_entry.h"
#include "ctld/core/paced_core.h"

namespace artel::ctld {

/// "held by alice: for the review"
Cause by_person(std::string_view done, CauseCode code, const Caller& caller,
                const std::string& reason);

/// Stands in the rows of nodes for probe peers that are not configured, or if there may be none.
inline constexpr std::string_view kUnknownPeer = "-";
/// Nodes that come and go together are dealt probe peers together.
inline constexpr Duration kDealDelay{std::chrono::seconds{1}};

class ControllerState {
 public:
  ControllerState(ControllerConfig config, StoredState stored,
                  std::function<std::string()> step_keys, Time wall);

  [[nodiscard]] Time begin() const { return begin_; }

  // admission.cc
  void submit(RequestId request, const Caller& caller, std::vector<JobSpec> specs, Time now);

  // orders.cc
  void cancel(RequestId request, const Caller& caller, const std::vector<JobTarget>& jobs,
              const std::string& reason, Time now);
  void hold_jobs(RequestId request, const Caller& caller, const std::vector<JobTarget>& jobs,
                 const std::string& reason, Time now);
  void release_jobs(RequestId request, const Caller& caller, const std::vector<JobTarget>& jobs,
                    Time now);
  void update_jobs(RequestId request, const Caller& caller, const std::vector<JobTarget>& jobs,
                   const JobChange& change, Time now);
  void requeue_jobs(RequestId request, const Caller& caller, const std::vector<JobTarget>& jobs,
                    const std::string& reason, Time now);
  void drain_nodes(RequestId request, const Caller& caller, const std::vector<std::string>& nodes,
                   const DrainOrder& order, Time now);
  void resume_nodes(RequestId request, const Caller& caller, const std::vector<std::string>& nodes,
                    Time now);

  Result<std::size_t> change_teams(TeamsConfig teams, Time now);
  void scheduling_snapshot(RequestId request, const Caller& caller,
                           std::optional<JobSpec> candidate, Time now);

  // agents.cc
  Result<> agent_connected(SessionId session, const AgentHello& hello, Time now);
  void agent_message(SessionId session, const FromAgent& message, Time now);
  void agent_lost(SessionId session, Time now, Duration silent_for);

  // pass.cc
  void pause_starts(bool paused);
  void tick(Time now, const sched::MayGoOn& may_go_on);
  [[nodiscard]] bool in_pass() const { return core_->in_pass(); }
  [[nodiscard]] std::optional<Time> next_tick() const;

  // state.cc
  Effects take_effects();
  std::shared_ptr<const Snapshot> snapshot(Time now);
  [[nodiscard]] std::optional<NodeId> find_node(std::string_view name) const;

  // check.cc
  [[nodiscard]] std::optional<std::string> check() const;

 private:
  // admission.cc
  Result<JobSpec> admit(const Caller& caller, JobSpec spec) const;
  [[nodiscard]] Result<> check_names(const JobSpec& spec) const;
  [[nodiscard]] Result<> check_fit(const JobSpec& spec) const;
  /// The job as it would be. Errors as of submit().
  Result<JobSpec> admit_change(const Caller& caller, const LiveJob& live, const JobChange& change);
  Result<> choose_line(const Caller& caller, JobSpec& spec) const;
  Result<> choose_queue(const Caller& caller, JobSpec& spec) const;
  /// The job that the caller may give orders to. Error: kNotFound, kPermissionDenied.
  Result<LiveJob*> find_own(const Caller& caller, JobId id);
  [[nodiscard]] std::optional<JobId> find_repeated(const Caller& caller, const JobSpec& spec) const;
  /// What the request asks for that is new, in order, and the ids that are known already.
  using Admitted = std::vector<std::pair<std::optional<JobId>, JobSpec>>;
  Result<Admitted> admit_all(const Caller& caller, std::vector<JobSpec> specs) const;
  /// Tells the core of all of them, or of none; ids from last_job_ on.
  Result<> enter_all(Admitted& admitted, Time now);
  void add_job(JobId id, JobSpec spec, Time now);

  // orders.cc
  /// Answers with what became of each job, or node.
  using JobOrder = std::function<Result<>(JobId)>;
  /// About these tasks of the array, or all of them.
  using TasksOrder = std::function<Result<>(LiveArray&, const IndexSet* some)>;
  void order_jobs(RequestId request, const Caller& caller, const std::vector<JobTarget>& jobs,
                  const JobOrder& order, const TasksOrder& order_tasks);
  JobOutcome order_one(const Caller& caller, const JobTarget& target, const JobOrder& order,
                       const TasksOrder& order_tasks);
  void order_nodes(RequestId request, const std::vector<std::string>& nodes,
                   const std::function<Result<>(NodeEntry&)>& order);
  Result<> cancel_one(const Caller& caller, JobId id, const std::string& reason, Time now);
  Result<> hold_one(const Caller& caller, JobId id, const std::string& reason, Time now);
  Result<> release_one(const Caller& caller, JobId id, Time now);
  Result<> update_one(const Caller& caller, JobId id, const JobChange& change, Time now);
  Result<> requeue_one(const Caller& caller, JobId id, const std::string& reason, Time now);
  Result<NodeEntry*> find_entry(const std::string& name);

  // arrays.cc
  void add_array(JobId id, JobSpec spec, Time now);
  void restore_array(Job job);
  /// The array that has this number, or whose task has it; null: none that is not final.
  LiveArray* array_of(JobId id);
  [[nodiscard]] sched::JobFacts task_facts(const LiveArray& array, JobId id);
  /// The job with this number; a task that the core has decided about becomes one.
  LiveJob& job_for(JobId id, Time now);
  /// Tells the core of the next tasks of all arrays that have too few there.
  [[nodiscard]] std::size_t room_for(const JobSpec& task) const;
  [[nodiscard]] std::size_t window_of(const LiveArray& array) const;
  void fill_windows(Time now);
  void fill_window(LiveArray& array, Time now);
  void restore_windows(Time now);
  void count_unreadable(LiveArray& array, Time now);
  /// The core forgets those of the tasks that it knows.
  void withdraw(LiveArray& array, const IndexSet& tasks, Time now);
  Result<> check_owner(const Caller& caller, const LiveArray& array) const;
  Result<> cancel_tasks(const Caller& caller, LiveArray& array, const IndexSet* some,
                        const std::string& reason, Time now);
  Result<> hold_tasks(const Caller& caller, LiveArray& array, const IndexSet* some,
                      const std::string& reason, Time now);
  Result<> requeue_tasks(const Caller& caller, LiveArray& array, const IndexSet* some,
                         const std::string& reason, Time now);
  Result<> release_tasks(const Caller& caller, LiveArray& array, const IndexSet* some, Time now);
  /// A task that was a job is final.
  void task_ended(const LiveJob& task, Time now);
  void refresh(LiveArray& array, Time now);  // its state and row, after a change of its tasks
  void show_array_reasons(std::size_t& pending);
  void write_arrays();
  [[nodiscard]] std::optional<std::string> check_arrays() const;

  // lifecycle.cc
  void place(LiveJob& live, const std::vector<sched::Share>& shares, Time now);
  [[nodiscard]] LaunchSpec launch_spec(const LiveJob& live, std::size_t index) const;
  void part_ready(LiveJob& live, NodePart& part, std::uint16_t port, Time now);
  /// `kept`: the node says it late, having been out of contact.
  void part_started(LiveJob& live, NodePart& part, Time at, Time now, bool kept);
  void part_ended(LiveJob& live, NodePart& part, NodeEnd end, Time now, bool kept);
  [[nodiscard]] std::optional<Time> overdue_at(const LiveJob& live) const;
  /// Records the first cause, tells all parts that are left to end.
  void end_attempt(LiveJob& live, const Cause& cause, bool immediately, Time now);
  void close_part(LiveJob& live, NodePart& part, NodeEnd end, Time now, bool kept);
  /// Closes the attempt if nothing of it can be waited for any more.
  void finish_if_done(LiveJob& live, Time now);
  void requeue(LiveJob& live, const Cause& cause, Time now);
  /// Its budget of retries is spent.
  void hold_spent(LiveJob& live, const Cause& cause, Time now);
  /// In its old place; `cause`: of the attempt that is over, whose node it avoids from now on.
  void wait_again(LiveJob& live, const Cause& cause, std::optional<Time> retry_at, Time now);
  void hold(LiveJob& live, Cause cause, Time now);
  void make_final(LiveJob& live, JobState state, const Cause& cause, Time now);
  void move_to(LiveJob& live, JobState state);
  void send_start(LiveJob& live);
  std::uint16_t lease_port(NodeId node);

  // nodes.cc
  /// In place of the source's drain before, if there was one.
  void add_drain(NodeEntry& on, Drain drain);
  void lift_drain(NodeEntry& on, DrainSource source, Time now);
  void compare_inventory(NodeEntry& on, Time now);
  /// The node has shown that it can run jobs: its row of strikes ends.
  void forgive(NodeEntry& on);
  /// A strike for the node that the cause names, if it is the node's fault.
  void blame(JobId job, const Cause& cause, Time now);
  void fence(NodeEntry& on, JobId job, Time now);

  // fencing.cc
  /// Brings the probe peers of all nodes up to date: the next ones in a ring of those in service.
  void deal_peers(Time now);
  void tell_peers(NodeEntry& on, std::vector<ProbePeer> peers);
  void set_peers(NodeEntry& on, const std::vector<std::string>& names);
  /// Asks the peers of silent nodes when it is time to.
  void run_inquiries(Time now);
  void inquire(NodeEntry& on, Time now);
  void peer_seen(NodeId by, const PeerSeen& seen, Time now);
  void peers_watched(NodeId node, const PeersWatched& message);
  /// Whatever ran there is gone: its attempts end and are tried again.
  void give_up_node(NodeEntry& on, const std::string& why, Time now);

  // agents.cc
  void reconcile(NodeEntry& entry, const AgentHello& hello, Time now);
  void reconcile_held(NodeEntry& entry, const HeldAttempt& held, Time now);
  void reconcile_missing(LiveJob& live, NodePart& part, bool rebooted, Time now);
  /// The store cannot say what the job is: a wrong or restored store, or a row that was set aside.
  [[nodiscard]] bool is_beyond_store(JobId job) const;
  [[nodiscard]] std::pair<LiveJob*, NodePart*> find_part(const AttemptKey& key, NodeId node);
  void send(NodeId node, ToAgent message);

  // pass.cc
  void run_timers(Time now);
  void timer_fired(LiveJob& live, Time now);
  void set_timer(LiveJob& live, std::optional<Time> at);
  void run_pass(Time now, const sched::MayGoOn& may_go_on);
  void carry_out(const std::vector<sched::Decision>& decisions, Time now);
  void preempt(const sched::Signalled& decision, Time now);
  void give_up(const sched::GivenUp& decision, Time now);
  void show_reasons(std::size_t& pending);

  // scheduling.cc
  [[nodiscard]] sched::JobFacts facts_of(JobId id, const JobSpec& spec);
  [[nodiscard]] std::vector<NodeId> node_ids(const std::vector<std::string>& names) const;
  [[nodiscard]] sched::Remembered remembered(const LiveJob& live, Time now);
  void make_core(const StoredState& stored, Time now);
  void fill_core(const std::vector<sched::Claim>& claims, Time now);
  /// Tells the core which nodes can be used; `again`: also what it was told before.
  void tell_health(bool again, Time now);
  void store_claims(Time now);
  void store_past(Time now);

  // state.cc
  void restore(StoredState stored, Time now);
  void touch(LiveJob& live);
  void touch_node(NodeEntry& entry);
  void event(Time now, std::string kind, JobId job, std::string actor, std::string text);
  NodeEntry& entry(NodeId id) { return nodes_[id.value]; }
  [[nodiscard]] const NodeEntry& entry(NodeId id) const { return nodes_[id.value]; }

  ControllerConfig config_;
  std::function<std::string()> step_keys_;
  const Time begin_;
  std::vector<NodeEntry> nodes_;  // indexed by NodeId
  std::map<std::string, NodeId, std::less<>> node_ids_;
  std::map<SessionId, NodeId> sessions_;
  std::map<JobId, LiveJob> jobs_;      // not final, and final ones until their row is taken
  std::map<JobId, LiveArray> arrays_;  // likewise
  std::set<JobId> short_arrays_;       // whose window may have room
  std::set<std::pair<Time, JobId>> timers_;
  std::map<std::pair<std::uint32_t, std::string>, JobId> tokens_;
  struct TokenUse {
    Time at;
    std::uint32_t uid{};
    std::string token;
  };
  std::deque<TokenUse> token_ages_;
  std::deque<std::pair<Time, std::shared_ptr<const Job>>> recent_;
  JobId last_job_;
  std::set<JobId> unreadable_;  // jobs that the store set aside
  JobId lost_first_;            // with lost_last_: jobs that a restored store does not know
  JobId lost_last_;

  std::unique_ptr<Layout> layout_;
  std::unique_ptr<PacedCore> core_;
  std::map<JobId, sched::Claim> claims_;  // as stored
  std::optional<Time> wake_at_;           // when the core may decide differently without news
  std::optional<Time> nodes_due_;         // until then nodes may come back after a start
  std::optional<Time> peers_due_;         // when probe peers are dealt anew
  std::map<NodeId, Time> silent_;         // nodes out of contact, and when to ask for them next
  std::optional<Time> past_due_;          // when the past of teams and users is stored next

  bool any_placed_ = false;  // some job holds something
  Time core_begin_;          // what the core counts the past from after a start

  bool pass_due_ = true;
  bool starts_paused_ = false;
  bool pass_decided_ = false;    // the pass under way has
  std::optional<Time> pass_at_;  // earliest time of the next pass

  Effects effects_;
  std::set<JobId> touched_;  // rows to write with the next effects
  std::set<JobId> touched_arrays_;
  std::set<NodeId> touched_nodes_;
  std::set<JobId> new_jobs_;
  std::set<JobId> new_specs_;  // of jobs that are stored already
  std::shared_ptr<const Snapshot> snapshot_;
};

}  // namespace artel::ctld
