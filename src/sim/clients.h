// The people of the simulated world: clients who submit until they are answered and cancel, and
// operators who drain and resume nodes; with what they may rely on once they were answered (S1).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sim/controller_host.h"
#include "sim/orders.h"
#include "sim/truth.h"
#include "sim/world.h"

namespace artel::sim {

class Clients {
 public:
  /// Keeps references.
  Clients(const WorldOptions& options, Events& events, Random& random, Truth& truth,
          ControllerHost& controller)
      : options_(options),
        events_(events),
        random_(random),
        truth_(truth),
        controller_(controller) {}

  /// Right after a submission reached the controller, before its answer.
  std::function<void()> on_submit;

  /// All submissions and cancels to come.
  void plan();
  void answered(const ctld::Reply& reply);
  /// An attempt is put on a node: nobody may have been told that this does not happen any more.
  void prepared(const LaunchSpec& spec);
  void cancel_some(std::uint64_t per_mille);

  /// Of one job.
  void hold_or_release();
  void release_all();
  /// Whatever is held, because its retries are spent.
  void release_held();

  void drain_or_resume(const std::string& node);
  void resume(const std::vector<std::string>& nodes);

  /// Every submission was acknowledged and its job has ended.
  [[nodiscard]] bool all_final() const;
  /// After the end of all trouble: every acknowledged job is there and has ended, once each.
  void check_end() const;
  [[nodiscard]] std::uint64_t acknowledged() const;
  /// Over all numbers given, in order.
  [[nodiscard]] std::uint64_t hash() const { return hash_; }

 private:
  /// What an order promises once it is answered well, until it is taken back: no new attempt of
  /// the job, or on the node.
  struct Promise {
    std::string_view what;
    JobId job;
    std::string node;
  };

  void plan_order(std::uint32_t index);
  void submitted(std::size_t index, JobId id);
  RequestId ask(Promise promise);
  void keep(const Promise& promise);
  /// Also where the answer is still on its way.
  void take_back(std::string_view what, JobId job, const std::string& node);
  [[nodiscard]] std::set<AttemptKey> attempts_on(const std::string& node) const;
  void submit(std::size_t index);
  void cancel(std::size_t index);
  void requeue(std::size_t index);
  RequestId next_request() { return RequestId{++last_request_}; }

  const WorldOptions& options_;
  Events& events_;
  Random& random_;
  Truth& truth_;
  ControllerHost& controller_;
  std::vector<Order> orders_;
  std::map<RequestId, std::size_t> requests_;
  std::map<JobId, std::size_t> owners_;
  std::map<RequestId, Promise> asked_;
  std::map<JobId, std::pair<std::string_view, AttemptNo>> still_;  // with the last attempt then
  std::map<std::string, std::set<AttemptKey>> drained_;            // with those that were there
  std::uint64_t last_request_ = 0;
  std::uint64_t hash_ = 0;
};

}  // namespace artel::sim
