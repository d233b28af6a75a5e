// Invariants that can be seen from one state.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "ctld/core/state.h"

namespace artel::ctld {
namespace {

using Devices = std::map<std::pair<NodeId, std::uint16_t>, JobId>;

// S3: no device twice, no more CPUs or memory than there are.
std::optional<std::string> check_shares(const Job& job, const Attempt& attempt, Devices& devices,
                                        std::map<NodeId, NodeResources>& held) {
  for (const NodePart& part : attempt.parts) {
    if (part.phase == NodePhase::kEnded) continue;
    for (const std::uint16_t device : part.share.gpus) {
      const auto [it, is_new] = devices.emplace(std::pair(part.share.node, device), job.id);
      if (!is_new) {
        return fmt::format("S3: GPU {} of node {} is held by jobs {} and {}", device,
                           part.share.node.value, it->second.value, job.id.value);
      }
    }
    held[part.share.node].cpus += part.share.cpus;
    held[part.share.node].memory += part.share.memory;
  }
  return std::nullopt;
}

// S2: a part runs only if all parts were ready; so none may still prepare.
std::optional<std::string> check_gang(const Job& job, const Attempt& attempt) {
  const auto in = [&](auto... phases) {
    return std::ranges::any_of(
        attempt.parts, [&](const NodePart& part) { return ((part.phase == phases) || ...); });
  };
  if (in(NodePhase::kStarting, NodePhase::kRunning) &&
      in(NodePhase::kPreparing, NodePhase::kReady)) {
    return fmt::format("S2: job {} runs on a part of its nodes", job.id.value);
  }
  return std::nullopt;
}

// What the controller and its scheduling core believe of a job agree.
std::optional<std::string> check_stage(const Job& job, std::optional<sched::Stage> stage) {
  const bool holds = stage == sched::Stage::kRunning || stage == sched::Stage::kSignalled;
  if (is_final(job.state) ? !stage : stage && is_placed(job.state) == holds) return std::nullopt;
  return fmt::format("job {} is {}, but the scheduling core has it {}", job.id.value,
                     job_state_name(job.state),
                     !stage  ? "not at all"
                     : holds ? "on its nodes"
                             : "waiting");
}

}  // namespace

std::optional<std::string> ControllerState::check() const {
  Devices devices;
  std::map<NodeId, NodeResources> held;
  for (const auto& [id, live] : jobs_) {
    const Job& job = live.job;
    if (is_placed(job.state) != (live.attempt && !live.attempt->ended_at)) {
      return fmt::format("job {} is {} but its attempt says otherwise", id.value,
                         job_state_name(job.state));
    }
    if (job.state == JobState::kPending && job.wait.code == WaitCode::kNone) {
      return fmt::format("S9: job {} waits without a reason", id.value);
    }
    if (is_final(job.state) && job.cause.code == CauseCode::kNone) {
      return fmt::format("S9: job {} ended without a cause", id.value);
    }
    if (core_->is_up_to_date()) {
      if (auto broken = check_stage(job, core_->core().stage(id))) return broken;
    }
    if (!is_placed(job.state)) continue;
    if (auto broken = check_shares(job, *live.attempt, devices, held)) return broken;
    if (auto broken = check_gang(job, *live.attempt)) return broken;
  }
  if (auto broken = check_arrays()) return broken;
  for (const NodeEntry& on : nodes_) {
    const NodeResources& total = on.node.config.resources;
    const NodeResources& used = held[on.node.id];
    if (used.cpus > total.cpus || used.memory > total.memory) {
      return fmt::format("S3: node {} is overcommitted", on.node.config.name);
    }
    if (total.cpus - used.cpus != on.free.cpus) {
      return fmt::format("node {}: {} CPUs are free by rows, {} by count", on.node.config.name,
                         total.cpus - used.cpus, on.free.cpus);
    }
  }
  return std::nullopt;
}

}  // namespace artel::ctld
