// Nodes in and out of service: who drains them and who lifts it, strikes against them.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ctld/core/state.h"

namespace artel::ctld {
namespace {

/// More are not kept where none of them drains.
constexpr std::size_t kMostStrikes = 16;

constexpr std::string_view kItself = "artel-ctld";

}  // namespace

void ControllerState::add_drain(NodeEntry& on, Drain drain) {
  event(drain.since, "drain", JobId{}, drain.who,
        fmt::format("{}: {}", on.node.config.name, describe(drain)));
  std::vector<Drain>& drains = on.node.drains;
  const auto place = std::ranges::lower_bound(drains, drain.source, {}, &Drain::source);
  if (place != drains.end() && place->source == drain.source) {
    *place = std::move(drain);
  } else {
    drains.insert(place, std::move(drain));
  }
  touch_node(on);
  pass_due_ = true;
}

void ControllerState::lift_drain(NodeEntry& on, DrainSource source, Time now) {
  if (std::erase_if(on.node.drains, [&](const Drain& d) { return d.source == source; }) == 0)
    return;
  event(now, "resume", JobId{}, std::string(kItself),
        fmt::format("{}: {}", on.node.config.name, drain_source_name(source)));
  touch_node(on);
  pass_due_ = true;
}

void ControllerState::compare_inventory(NodeEntry& on, Time now) {
  const NodeResources& want = on.node.config.resources;
  const NodeResources& has = on.node.inventory.resources;
  std::string lacks;
  if (has.gpus < want.gpus) lacks = fmt::format("{} of {} GPUs", has.gpus, want.gpus);
  if (has.gpus > 0 && want.gpus > 0 && has.gpu_type != want.gpu_type) {
    lacks = fmt::format("GPUs are '{}', configured '{}'", has.gpu_type, want.gpu_type);
  }
  if (has.cpus < want.cpus) lacks = fmt::format("{} of {} CPUs", has.cpus, want.cpus);
  if (has.memory < want.memory) lacks = "less memory than configured";
  if (lacks.empty()) return lift_drain(on, DrainSource::kInventory, now);
  const auto same = [&](const Drain& drain) {
    return drain.source == DrainSource::kInventory && drain.text == lacks;
  };
  if (std::ranges::any_of(on.node.drains, same)) return;  // since when it is so stays
  add_drain(on, {.source = DrainSource::kInventory,
                 .reason_class = ReasonClass::kHardware,
                 .who = std::string(kItself),
                 .text = std::move(lacks),
                 .since = now});
}

void ControllerState::forgive(NodeEntry& on) {
  if (on.node.strikes.empty()) return;
  on.node.strikes.clear();
  touch_node(on);
}

void ControllerState::blame(JobId job, const Cause& cause, Time now) {
  const bool node_fault = cause.code == CauseCode::kPrepareRefused ||
                          cause.code == CauseCode::kPrepareTimeout ||
                          cause.code == CauseCode::kStepLost;
  const auto id = find_node(cause.node);
  if (!node_fault || !id) return;
  NodeEntry& on = entry(*id);
  std::vector<Strike>& strikes = on.node.strikes;
  // One job that fails everywhere must not take the cluster away from the others.
  std::erase_if(strikes, [&](const Strike& strike) {
    return strike.job == job || strike.at + config_.strike_window <= now;
  });
  strikes.push_back({job, now});
  if (strikes.size() > std::max(kMostStrikes, std::size_t{config_.strikes_to_drain}))
    strikes.erase(strikes.begin());
  touch_node(on);
  if (config_.strikes_to_drain == 0 || strikes.size() < config_.strikes_to_drain) return;
  add_drain(on, {.source = DrainSource::kStrikes,
                 .reason_class = ReasonClass::kNode,
                 .who = std::string(kItself),
                 .text = fmt::format("launches of {} jobs failed here, the last one: {}",
                                     strikes.size(), describe(cause)),
                 .since = now});
}

// The books go on, the node does not: what cannot be killed may still use the GPUs (S5). Only a
// reboot helps.
void ControllerState::fence(NodeEntry& on, JobId job, Time now) {
  add_drain(
      on, {.source = DrainSource::kLeftovers,
           .reason_class = ReasonClass::kSoftware,
           .who = std::string(kItself),
           .text = fmt::format("processes of job {} cannot be killed, reboot the node", job.value),
           .since = now});
}

}  // namespace artel::ctld
