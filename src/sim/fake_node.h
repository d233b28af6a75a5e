// A node of the simulated world: the real agent core, its disk, and modelled step daemons that
// survive the agent.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/node.h"
#include "noded/core/agent.h"
#include "sim/events.h"
#include "sim/mutation.h"
#include "sim/random.h"
#include "sim/truth.h"

namespace artel::sim {

/// How often things go wrong on nodes, per mille of the occasions.
struct NodeFaults {
  std::uint64_t refuse_prepare = 20;
  std::uint64_t hang_in_prepare = 5;
  std::uint64_t crash_between_effects = 2;
  std::uint64_t crash_while_saving = 1;
  std::uint64_t fail_to_spawn = 5;
  std::uint64_t hang_at_end = 10;  // processes that do not go, for minutes
};

/// A step daemon and its ranks. The program is in argv: {"run", milliseconds, exit code}.
struct FakeStep {
  LaunchSpec spec;
  StepStatus status;
  bool daemon = true;  // the daemon lives
  bool ranks = false;  // its ranks live
  bool local_done = false;
};

/// What a node tells the rest of the world.
struct NodeHooks {
  std::function<void(const FromAgent&)> to_controller;
  std::function<void()> agent_crashed;
  /// A gang's step daemons speak to each other: all local ranks ended well / the gang must end.
  std::function<void(const LaunchSpec&)> local_done;
  /// The agent has put a good end of the attempt on its disk.
  std::function<void(const LaunchSpec&)> recorded_well;
  std::function<void(const AttemptKey&, const Cause&)> abort;
};

class FakeNode {
 public:
  FakeNode(NodeConfig config, Events& events, Random& random, Truth& truth, NodeHooks hooks,
           Mutation mutation);

  NodeFaults faults;
  bool keeps_contacts = true;

  [[nodiscard]] const std::string& name() const { return config_.name; }
  [[nodiscard]] noded::Agent* agent() { return agent_.get(); }
  /// The node's own clock: time since boot, drift included.
  [[nodiscard]] Duration up() const;
  /// Its wall clock, which may be wrong and jump.
  [[nodiscard]] Time wall() const { return events_.now() + clock_offset_; }
  void set_clock(Duration offset) { clock_offset_ = offset; }
  /// Once a second.
  void tick();
  void start_agent();
  void crash_agent();
  /// The agent is told to end. True: it says goodbye to its peers.
  bool stop_agent();
  void reboot();
  /// As reboot(), and what was not synced to the disk may be lost.
  void lose_power();
  /// Applies what the agent core wants done.
  void run_effects();

  // Faults and news for steps on this node; all tolerate that the step is not there.
  void kill_rank();
  void kill_step_daemon();
  void gang_ends(const AttemptKey& key, const Cause& cause, bool is_origin);

 private:
  using StepPtr = std::shared_ptr<FakeStep>;

  void spawn(const LaunchSpec& spec);
  void prepared(const StepPtr& step);
  void receive(const AttemptKey& key, const ToStep& message);
  void start_ranks(const StepPtr& step);
  void program_ended(const StepPtr& step);
  void end_step(const StepPtr& step, Cause cause, bool is_origin, bool refused);
  void tell_status(const StepPtr& step);
  void lose_step(const AttemptKey& key, const std::string& why);
  void adopt(const AttemptKey& key);
  bool save(const noded::Effects& effects);
  void sweep(const AttemptKey& key);
  StepPtr find(const AttemptKey& key);
  StepPtr any_running();

  NodeConfig config_;
  Events& events_;
  Random& random_;
  Truth& truth_;
  NodeHooks hooks_;
  Mutation mutation_;
  Duration clock_offset_{};
  std::int64_t drift_ppm_;
  std::vector<ProbePeer> peers_;             // on its disk
  std::optional<noded::KeptContacts> kept_;  // the same
  std::uint64_t boot_ = 1;
  std::uint64_t life_ = 0;  // of the agent; events for an earlier one are void
  std::unique_ptr<noded::Agent> agent_;
  std::map<AttemptKey, noded::AttemptRecord> disk_;
  /// As the disk would be after a loss of power: where that is not the same.
  std::map<AttemptKey, std::optional<noded::AttemptRecord>> unsynced_;
  std::map<AttemptKey, StepPtr> steps_;
};

}  // namespace artel::sim
