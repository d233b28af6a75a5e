// The simulated process around the controller core: group commit, parked effects, crashes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "ctld/core/controller.h"
#include "sim/events.h"
#include "sim/model_store.h"
#include "sim/mutation.h"
#include "sim/random.h"

namespace artel::sim {

/// What the process around the core meets.
struct HostFaults {
  std::uint64_t clock_jump = 200;  // per mille of the starts: the wall clock is another by then
  bool fail_next_commit = false;   // and with it the process
};

struct ControllerHooks {
  std::function<void(const ctld::AgentSend&)> send;
  std::function<void(const ctld::Reply&)> reply;
  std::function<void(const std::string&)> broken;
  std::function<void()> died;  // by itself: it could not commit
};

class ControllerHost {
 public:
  ControllerHost(ctld::ControllerConfig config, Events& events, Random& random,
                 ControllerHooks hooks, Mutation mutation);

  HostFaults faults;

  void start();
  /// Power loss at any moment: a commit in flight may or may not have become durable.
  void crash();
  /// Of its files: it reads them at once where it is up, else with its next start.
  void change_terms(TeamsConfig teams);
  /// By its wall clock, which never goes back while it lives.
  [[nodiscard]] Time now() const { return events_.now() + clock_offset_; }
  [[nodiscard]] bool up() const { return core_ != nullptr; }
  [[nodiscard]] const ModelStore& store() const { return store_; }
  [[nodiscard]] const std::string& name_of(NodeId node) const {
    return config_.nodes[node.value].name;
  }
  [[nodiscard]] std::uint64_t crashes() const { return crashes_; }

  /// One step of the core, followed by its invariants and its effects. Nothing happens while the
  /// process is down.
  void step(const std::function<void(ctld::Controller&, Time)>& act);

 private:
  void choose_clock();
  void begin_commit();
  void end_commit();
  void keep(const std::vector<ctld::Effects>& batch);
  void release(const std::vector<ctld::Effects>& batch);
  void plan_tick();

  ctld::ControllerConfig config_;
  Events& events_;
  Random& random_;
  ControllerHooks hooks_;
  Mutation mutation_;
  ModelStore store_;
  std::unique_ptr<ctld::Controller> core_;
  std::vector<ctld::Effects> parked_;
  std::vector<ctld::Effects> in_flight_;
  std::vector<ctld::Effects> unsynced_;  // kLoseCommits: told to be durable
  bool committing_ = false;
  Duration clock_offset_{};
  std::optional<Time> tick_planned_;
  std::uint64_t life_ = 0;
  std::uint64_t keys_ = 0;
  std::uint64_t crashes_ = 0;
};

}  // namespace artel::sim
