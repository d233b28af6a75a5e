// Start, effects and pictures for readers.
#include "ctld/core/state.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "ctld/core/first_time.h"

namespace artel::ctld {
namespace {

// How long a final job is still shown from memory. Its row is durable within one commit; this
// covers a slow disk.
constexpr Duration kRecentFor{std::chrono::seconds{10}};

}  // namespace

ControllerState::ControllerState(ControllerConfig config, StoredState stored,
                                 std::function<std::string()> step_keys, Time wall)
    : config_(std::move(config)),
      step_keys_(std::move(step_keys)),
      begin_(first_time(stored, wall)) {
  for (const NodeConfig& node : config_.nodes) {
    const NodeId id{static_cast<std::uint32_t>(nodes_.size())};
    node_ids_.emplace(node.name, id);
    NodeEntry entry;
    entry.node = Node{.id = id, .config = node, .contact_since = begin_};
    entry.free = all_free(node.resources);
    entry.next_port = config_.master_port_first;
    entry.heard = begin_;
    silent_.emplace(id, begin_ + config_.give_up_after);
    nodes_.push_back(std::move(entry));
  }
  restore(std::move(stored), begin_);
}

void ControllerState::restore(StoredState stored, Time now) {
  make_core(stored, now);
  last_job_ = stored.last_job;
  lost_first_ = stored.lost_first;
  lost_last_ = stored.lost_last;
  unreadable_ = {stored.unreadable.begin(), stored.unreadable.end()};
  for (NodeRow& row : stored.nodes) {
    const auto id = find_node(row.name);
    if (!id) continue;  // left the configuration
    Node& node = entry(*id).node;
    node.inventory.boot_id = std::move(row.boot_id);
    node.strikes = std::move(row.strikes);
    node.drains = std::move(row.drains);
    node.inventory.probe_port = row.probe_port;
    set_peers(entry(*id), row.peers);
  }
  for (auto& token : stored.tokens) {
    tokens_.emplace(std::pair(token.uid, token.token), token.job);
    token_ages_.push_back({token.at, token.uid, std::move(token.token)});
  }
  for (Job& job : stored.jobs) {
    if (job.tasks) {
      restore_array(std::move(job));
      continue;
    }
    LiveJob live;
    live.job = std::move(job);
    if (live.job.attempt) live.attempt = *live.job.attempt;
    live.job.attempt = nullptr;
    any_placed_ = any_placed_ || is_placed(live.job.state);
    if (!is_placed(live.job.state)) {
      live.job.wait.code =
          live.job.state == JobState::kHeld ? WaitCode::kHeld : WaitCode::kNotConsidered;
    }
    const JobId id = live.job.id;
    if (LiveArray* array = live.job.task ? array_of(live.job.task->array) : nullptr) {
      live.job.spec = array->job.spec;
      array->live.insert(id);
      array->tasks.active += 1;
      // A row that says otherwise is wrong: nothing runs twice.
      array->tasks.waiting.erase(live.job.task->index.value);
      array->tasks.held.erase(live.job.task->index.value);
    }
    LiveJob& kept = jobs_.emplace(id, std::move(live)).first->second;
    if (!is_placed(kept.job.state) || !kept.attempt) continue;
    for (const NodePart& part : kept.attempt->parts) {
      if (part.phase != NodePhase::kEnded) occupy(entry(part.share.node).free, part.share);
    }
    if (kept.attempt->master_port != 0) {
      entry(kept.attempt->parts.front().share.node).ports.insert(kept.attempt->master_port);
    }
    // Everybody gets time to come back before anything is concluded from silence.
    const Time patience = now + config_.prepare_timeout;
    if (kept.job.state == JobState::kRunning) {
      const auto overdue = overdue_at(kept);
      set_timer(kept, overdue ? std::optional(std::max(*overdue, patience)) : std::nullopt);
    } else {
      set_timer(kept, patience);
    }
  }
  for (auto& [id, array] : arrays_) count_unreadable(array, now);
  fill_core(stored.claims, now);
  peers_due_ = now + kDealDelay;
}

std::optional<NodeId> ControllerState::find_node(std::string_view name) const {
  const auto it = node_ids_.find(name);
  if (it == node_ids_.end()) return std::nullopt;
  return it->second;
}

void ControllerState::touch(LiveJob& live) {
  live.view = nullptr;
  snapshot_ = nullptr;
  touched_.insert(live.job.id);
}

void ControllerState::touch_node(NodeEntry& entry) {
  snapshot_ = nullptr;
  touched_nodes_.insert(entry.node.id);
}

void ControllerState::event(Time now, std::string kind, JobId job, std::string actor,
                            std::string text) {
  effects_.writes.emplace_back(
      EventRow{now, std::move(kind), job, std::move(actor), std::move(text)});
}

void ControllerState::send(NodeId node, ToAgent message) {
  const NodeEntry& to = entry(node);
  if (to.session) effects_.sends.push_back({node, *to.session, std::move(message)});
}

Effects ControllerState::take_effects() {
  for (const JobId id : std::exchange(touched_, {})) {
    const auto it = jobs_.find(id);
    ARTEL_ASSERT(it != jobs_.end());
    LiveJob& live = it->second;
    const bool has_new_spec = new_specs_.erase(id) > 0;
    effects_.writes.emplace_back(JobRow{live.job, new_jobs_.erase(id) > 0, has_new_spec});
    if (live.attempt) effects_.writes.emplace_back(AttemptRow{*live.attempt});
    if (!is_final(live.job.state)) continue;
    live.job.attempt = live.attempt ? std::make_shared<const Attempt>(*live.attempt) : nullptr;
    recent_.emplace_back(live.job.ended_at.value_or(Time{}),
                         std::make_shared<const Job>(std::move(live.job)));
    set_timer(live, std::nullopt);
    jobs_.erase(it);
  }
  write_arrays();
  for (const NodeId id : std::exchange(touched_nodes_, {})) {
    const NodeEntry& on = entry(id);
    const Node& node = on.node;
    NodeRow row{node.config.name, node.inventory.boot_id, node.strikes, node.drains,
                node.inventory.probe_port};
    for (const NodeId peer : on.peers) row.peers.push_back(entry(peer).node.config.name);
    if (on.has_unknown_peers || !on.ends_by_itself) row.peers.emplace_back(kUnknownPeer);
    effects_.writes.emplace_back(std::move(row));
  }
  return std::exchange(effects_, {});
}

std::shared_ptr<const Snapshot> ControllerState::snapshot(Time now) {
  while (!recent_.empty() && recent_.front().first + kRecentFor < now) {
    recent_.pop_front();
    snapshot_ = nullptr;
  }
  if (snapshot_) return snapshot_;
  auto out = std::make_shared<Snapshot>();
  out->now = now;
  out->jobs.reserve(jobs_.size());
  for (auto& [id, live] : jobs_) {
    if (!live.view) {
      auto copy = std::make_shared<Job>(live.job);
      if (live.attempt) copy->attempt = std::make_shared<const Attempt>(*live.attempt);
      live.view = std::move(copy);
    }
    out->jobs.push_back(live.view);
  }
  for (auto& [id, array] : arrays_) {
    if (!array.view) {
      auto copy = std::make_shared<Job>(array.job);
      copy->tasks = std::make_shared<const ArrayTasks>(array.tasks);
      array.view = std::move(copy);
    }
    out->arrays.push_back(array.view);
  }
  for (const auto& [at, job] : recent_) out->recent.push_back(job);
  for (const NodeEntry& entry : nodes_) {
    Node node = entry.node;
    const NodeResources& has = node.config.resources;
    node.used.cpus = has.cpus - std::min(has.cpus, entry.free.cpus);
    node.used.memory.value = has.memory.value - std::min(has.memory, entry.free.memory).value;
    for (std::uint32_t device = 0; device < has.gpus; ++device) {
      if ((entry.free.gpus >> device & 1U) == 0) ++node.used.gpus;
    }
    out->nodes.push_back(std::move(node));
  }
  snapshot_ = std::move(out);
  return snapshot_;
}

}  // namespace artel::ctld
