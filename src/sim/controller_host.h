// The simulated process around the controller core: group commit, parked effects, crashes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "ctld/core/controller.h"
#include "sim/events.h"
#include "sim/model_store.h"
#include "sim/random.h"

namespace artel::sim {

struct ControllerHooks {
  std::function<void(const ctld::AgentSend&)> send;
  std::function<void(const ctld::Reply&)> reply;
  std::function<void(const std::string&)> broken;
};

class ControllerHost {
 public:
  ControllerHost(ctld::ControllerConfig config, Events& events, Random& random,
                 ControllerHooks hooks);

  bool answer_before_commit = false;

  void start();
  /// Power loss at any moment: a commit in flight may or may not have become durable.
  void crash();
  [[nodiscard]] bool up() const { return core_ != nullptr; }
  [[nodiscard]] const ModelStore& store() const { return store_; }
  [[nodiscard]] std::uint64_t crashes() const { return crashes_; }

  /// One step of the core, followed by its invariants and its effects. Nothing happens while the
  /// process is down.
  void step(const std::function<void(ctld::Controller&, Time)>& act);

 private:
  void begin_commit();
  void release(const std::vector<ctld::Effects>& batch);
  void plan_tick();

  ctld::ControllerConfig config_;
  Events& events_;
  Random& random_;
  ControllerHooks hooks_;
  ModelStore store_;
  std::unique_ptr<ctld::Controller> core_;
  std::vector<ctld::Effects> parked_;
  std::vector<ctld::Effects> in_flight_;
  bool committing_ = false;
  std::optional<Time> tick_planned_;
  std::uint64_t life_ = 0;
  std::uint64_t keys_ = 0;
  std::uint64_t crashes_ = 0;
};

}  // namespace artel::sim
