// A controller core with four nodes of 8 GPUs, driven by hand.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ctld/core/controller.h"

namespace artel::ctld::test {

constexpr Time kStart{std::chrono::hours{1'000'000}};

inline JobSpec spec(std::uint32_t nodes = 1) {
  JobSpec out{.name = "train"};
  ComponentSpec part;
  part.nodes = nodes;
  out.components.push_back(part);
  out.argv = {"/bin/true"};
  out.working_directory = "/home/alice";
  out.output = "out-%j";
  out.grace = std::chrono::seconds{30};
  return out;
}

inline const Caller kAlice{.owner = {.uid = 1001, .gid = 1001, .user = "alice"}};
inline const Caller kBob{.owner = {.uid = 1002, .gid = 1002, .user = "bob"}};
inline const Caller kOperator{.owner = {.uid = 1003, .gid = 1003, .user = "op"},
                              .is_operator = true};

class Cluster {
 public:
  explicit Cluster(StoredState stored = {}, ControllerConfig with = config(), Time at = kStart)
      : now(at),
        core_(std::move(with), std::move(stored), [] { return std::string(32, 'k'); }, at) {}

  static ControllerConfig config() {
    ControllerConfig out{.cluster = "test", .nodes = {}, .teams = {}, .policy = {}};
    for (int i = 1; i <= 4; ++i) {
      const std::string name = "hgx0" + std::to_string(i);
      out.nodes.push_back(
          {.name = name,
           .address = name + ".ib",
           .resources = {.cpus = 64, .memory = Bytes{1ULL << 40U}, .gpu_type = "h100", .gpus = 8}});
    }
    return out;
  }

  Controller& core() { return core_; }
  Time now;

  AgentHello hello(std::uint32_t node, std::vector<HeldAttempt> held = {},
                   std::string boot = "boot") const {
    const NodeConfig of = config().nodes[node];
    return {.node = of.name,
            .inventory = {.boot_id = std::move(boot), .resources = of.resources},
            .attempts = std::move(held)};
  }
  void connect(std::uint32_t node, std::vector<HeldAttempt> held = {}, std::string boot = "boot") {
    (void)core_.agent_connected(SessionId{++sessions_[node]},
                                hello(node, std::move(held), std::move(boot)), now);
  }
  void connect_all() {
    for (std::uint32_t i = 0; i < 4; ++i) connect(i);
  }
  void disconnect(std::uint32_t node) { core_.agent_lost(SessionId{sessions_[node]}, now); }
  void from(std::uint32_t node, const FromAgent& message) {
    core_.agent_message(SessionId{sessions_[node]}, message, now);
  }

  /// One tick and all that it did since the last call.
  Effects tick(Duration later = Duration{0}) {
    now += later;
    core_.tick(now);
    return core_.take_effects();
  }

  decltype(Reply::body) submit(const Caller& caller, std::vector<JobSpec> specs) {
    core_.submit(RequestId{1}, caller, std::move(specs), now);
    Effects effects = core_.take_effects();
    return std::move(effects.replies.at(0).body);
  }
  JobId submit(JobSpec one) {
    return std::get<Submitted>(submit(kAlice, {std::move(one)}).value()).jobs.at(0);
  }
  Result<> cancel(const Caller& caller, JobId job) {
    core_.cancel(RequestId{2}, caller, {job}, "", now);
    pending_ = core_.take_effects();
    return std::get<JobOutcomes>(pending_.replies.at(0).body.value()).at(0).result;
  }
  /// Effects of the last cancel.
  Effects& pending() { return pending_; }

  std::shared_ptr<const Job> job(JobId id) { return core_.snapshot(now)->find(id); }

  /// Submits, places and gets ready on all nodes; returns after Start was sent.
  AttemptKey run(JobSpec what) {
    const JobId id = submit(std::move(what));
    (void)tick();
    const auto attempt = job(id)->attempt;
    for (const NodePart& part : attempt->parts) {
      from(part.share.node.value,
           AttemptReady{attempt->key, static_cast<std::uint16_t>(4000 + part.share.node.value)});
    }
    for (const NodePart& part : attempt->parts)
      from(part.share.node.value, AttemptStarted{attempt->key, now});
    (void)core_.take_effects();
    return attempt->key;
  }

 private:
  Controller core_;
  std::uint64_t sessions_[4] = {100, 200, 300, 400};
  Effects pending_;
};

template <typename Message>
std::vector<std::pair<NodeId, Message>> sent(const Effects& effects) {
  std::vector<std::pair<NodeId, Message>> out;
  for (const AgentSend& send : effects.sends) {
    if (const auto* message = std::get_if<Message>(&send.message))
      out.emplace_back(send.node, *message);
  }
  return out;
}

inline NodeEnd ended(Time at, Cause cause) {
  return {.started = at, .ended = at, .cause = std::move(cause), .is_origin = true};
}
inline Cause well() { return {.actor = Actor::kApplication, .code = CauseCode::kExit}; }

}  // namespace artel::ctld::test
