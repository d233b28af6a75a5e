// An attempt from its placement to its end.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "ctld/core/state.h"
#include "model/output_path.h"

namespace artel::ctld {
namespace {

JobState outcome_of(const Cause& cause) {
  switch (cause.code) {
    case CauseCode::kExit:
      return cause.exit_code == 0 ? JobState::kCompleted : JobState::kFailed;
    case CauseCode::kSignal:
    case CauseCode::kAbort:
    case CauseCode::kLeftEarly:
    case CauseCode::kExecFailed:
    case CauseCode::kNone:
    case CauseCode::kUnknown:
    case CauseCode::kOutputFailed:
      return JobState::kFailed;
    case CauseCode::kCancel:
      return JobState::kCancelled;
    case CauseCode::kTimeLimit:
      return JobState::kTimeout;
    case CauseCode::kOutOfMemory:
      return JobState::kOutOfMemory;
    case CauseCode::kNodeLost:
    case CauseCode::kStepLost:
      return JobState::kNodeFail;
    case CauseCode::kPrepareRefused:
    case CauseCode::kPrepareTimeout:
    case CauseCode::kRetriesSpent:
      return JobState::kBootFail;
    case CauseCode::kPreempted:
      return JobState::kPreempted;
    case CauseCode::kDeadline:
      return JobState::kDeadline;
    case CauseCode::kDependencyNeverMet:
    case CauseCode::kMaxWait:
    case CauseCode::kHold:
    case CauseCode::kRequeue:
      return JobState::kCancelled;
  }
  return JobState::kFailed;
}

bool is_cancelled(const LiveJob& live) { return live.job.cause.code == CauseCode::kCancel; }

struct Retry {
  std::uint32_t* used;  // null: ends of this kind are not repeated
  std::uint32_t allowed;
};

Retry retry_of(Job& job, JobState outcome) {
  const RetryBudgets& budget = job.spec->retries;
  if (outcome == JobState::kNodeFail) return {&job.retries.node, budget.node};
  if (outcome == JobState::kBootFail) return {&job.retries.launch, budget.launch};
  if (outcome == JobState::kFailed) return {&job.retries.application, budget.application};
  return {nullptr, 0};
}

/// Nobody's fault: it costs no retry and no back-off.
bool is_free(const Attempt& attempt) {
  return attempt.outcome == JobState::kPreempted || attempt.cause.code == CauseCode::kRequeue;
}

bool may_retry(LiveJob& live, const Attempt& attempt) {
  const JobState outcome = attempt.outcome;
  if (attempt.cause.code == CauseCode::kRequeue) return true;
  if (outcome == JobState::kPreempted)  // T2: nobody sits there any more
    return live.job.spec->requeue && live.job.spec->kind != JobKind::kInteractive;
  const Retry retry = retry_of(live.job, outcome);
  return retry.used != nullptr && *retry.used < retry.allowed;
}

/// The nodes or the launch failed it as often as it may be tried again. That says little about the
/// job, so it is kept until somebody has looked, unless somebody sits there and waits.
bool is_spent(LiveJob& live, JobState outcome) {
  if (outcome != JobState::kNodeFail && outcome != JobState::kBootFail) return false;
  if (live.job.spec->attached || live.job.spec->kind == JobKind::kInteractive) return false;
  const Retry retry = retry_of(live.job, outcome);
  return retry.allowed > 0 && *retry.used >= retry.allowed;
}

// A node's clock may differ from ours. What it reports at once is believed only near our own time;
// what it kept while it was away, as far as it is possible at all.
constexpr Duration kClockTolerance{std::chrono::seconds{5}};

Time believed(Time said, Time first, Time now, bool kept) {
  if (!kept && (said < now - kClockTolerance || said > now)) return now;
  return std::max(std::min(first, now), std::min(said, now));
}

/// Which task this is, and of what. A value that the user gave is another array's.
void add_array_variables(const Job& job, Environment& environment) {
  if (!job.spec->array) return;
  const IndexSet& indexes = job.spec->array->indexes;
  const std::pair<const char*, std::uint64_t> variables[] = {
      {"ARTEL_ARRAY_JOB_ID", job.task->array.value},
      {"ARTEL_ARRAY_TASK_ID", job.task->index.value},
      {"ARTEL_ARRAY_TASK_COUNT", indexes.size()},
      {"ARTEL_ARRAY_TASK_MIN", indexes.front()},
      {"ARTEL_ARRAY_TASK_MAX", indexes.back()}};
  for (const auto& [name, value] : variables) {
    std::erase_if(environment, [&](const auto& one) { return one.first == name; });
    environment.emplace_back(name, std::to_string(value));
  }
}

}  // namespace

void ControllerState::move_to(LiveJob& live, JobState state) {
  if (live.job.state == state) return;
  ARTEL_ASSERT(may_follow(live.job.state, state));
  live.job.state = state;
  effects_.changed.push_back(live.job.id);
  touch(live);
}

std::uint16_t ControllerState::lease_port(NodeId node) {
  NodeEntry& on = entry(node);
  const auto count =
      static_cast<std::uint32_t>(config_.master_port_last - config_.master_port_first) + 1;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint16_t port = on.next_port;
    on.next_port = port == config_.master_port_last ? config_.master_port_first
                                                    : static_cast<std::uint16_t>(port + 1);
    if (on.ports.insert(port).second) return port;
  }
  return 0;  // more attempts on this node than ports: these go without
}

void ControllerState::place(LiveJob& live, const std::vector<sched::Share>& shares, Time now) {
  live.job.last_attempt.value += 1;
  live.job.wait = {};
  live.wait = {};
  const TaskIndex task = live.job.task ? live.job.task->index : TaskIndex{0};
  Attempt attempt{.key = {live.job.id, task, live.job.last_attempt}, .allocated_at = now};
  attempt.master_port = lease_port(shares.front().node);
  attempt.step_key = step_keys_();
  const bool whole = live.job.spec->component().per_node.whole_node;
  std::string names;
  for (const sched::Share& share : shares) {
    NodeEntry& on = entry(share.node);
    names += (names.empty() ? "" : ",") + on.node.config.name;
    attempt.parts.push_back({.share = take(on.free, on.node.config.resources, share, whole)});
  }
  // The end of the attempt before this one may belong to the same step (S8).
  if (live.attempt && touched_.contains(live.job.id))
    effects_.writes.emplace_back(AttemptRow{*live.attempt});
  live.attempt = std::move(attempt);
  any_placed_ = true;
  move_to(live, JobState::kAllocated);
  event(now, "allocate", live.job.id, "artel-ctld", names);
  for (std::size_t i = 0; i < live.attempt->parts.size(); ++i) {
    send(live.attempt->parts[i].share.node, Prepare{launch_spec(live, i)});
  }
  move_to(live, JobState::kPreparing);
  set_timer(live, now + config_.prepare_timeout);
}

LaunchSpec ControllerState::launch_spec(const LiveJob& live, std::size_t index) const {
  const JobSpec& job = *live.job.spec;
  const Attempt& attempt = *live.attempt;
  const NodeShare& share = attempt.parts[index].share;
  LaunchSpec spec{.key = attempt.key,
                  .cluster = config_.cluster,
                  .job_name = job.name,
                  .owner = job.owner,
                  .launch = resolved_launch(job.component(), !job.script.empty()),
                  .node_index = static_cast<std::uint32_t>(index),
                  .ranks_per_node = job.component().ranks_per_node,
                  .script = job.script,
                  .argv = job.argv,
                  .environment = job.environment,
                  .working_directory = job.working_directory,
                  .attached = job.attached,
                  .time_limit = job.time_limit,
                  .grace = job.time_to_end(),
                  .gpus = share.gpus,
                  .cpus = share.cpus,
                  .memory = share.memory,
                  .master_port = attempt.master_port,
                  .step_key = attempt.step_key};
  for (const NodePart& part : attempt.parts) {
    spec.nodes.push_back(entry(part.share.node).node.config.name);
  }
  if (live.job.task) add_array_variables(live.job, spec.environment);
  if (!job.attached) spec.output = expand_pattern(job.output, job, attempt.key);
  if (!job.error.empty()) spec.error = expand_pattern(job.error, job, attempt.key);
  return spec;
}

void ControllerState::part_ready(LiveJob& live, NodePart& part, std::uint16_t port, Time now) {
  static_cast<void>(now);
  if (part.phase == NodePhase::kPreparing) {
    part.phase = NodePhase::kReady;
    part.port = port;
    touch(live);
  }
  // S2: nothing starts before every node of the gang is ready.
  const bool all_ready = std::ranges::all_of(
      live.attempt->parts, [](const NodePart& p) { return p.phase == NodePhase::kReady; });
  if (all_ready) {
    for (NodePart& p : live.attempt->parts) p.phase = NodePhase::kStarting;
    live.attempt->start_ordered = true;
    send_start(live);
  } else if (part.phase == NodePhase::kStarting) {
    send_start(live);  // the node has lost the order to start, or its connection before it came
  }
}

void ControllerState::send_start(LiveJob& live) {
  StartAttempt start{.key = live.attempt->key, .peers = {}};
  for (const NodePart& part : live.attempt->parts) {
    const NodeConfig& node = entry(part.share.node).node.config;
    start.peers.push_back({node.name, node.address, part.port});
  }
  for (const NodePart& part : live.attempt->parts) {
    if (part.phase == NodePhase::kStarting) send(part.share.node, start);
  }
}

void ControllerState::part_started(LiveJob& live, NodePart& part, Time at, Time now, bool kept) {
  if (part.phase == NodePhase::kEnding) {
    // It crossed our order to end; that order may be lost as well.
    return send(part.share.node, EndAttempt{live.attempt->key, live.attempt->cause, false});
  }
  if (part.phase != NodePhase::kStarting) return;
  part.phase = NodePhase::kRunning;
  touch(live);
  if (live.attempt->started_at) return;
  live.attempt->started_at = believed(at, live.attempt->allocated_at, now, kept);
  event(now, "start", live.job.id, entry(part.share.node).node.config.name, "");
  live.attempt->limit_end = live.job.spec->limit_end(*live.attempt->started_at);
  core_->begin_run(now, live.job.id, live.attempt->limit_end);
  set_timer(live, overdue_at(live));
  if (live.job.state == JobState::kPreparing) move_to(live, JobState::kRunning);
}

// The nodes keep the limit themselves; this is for one that does not. Of deadlines they know
// nothing.
std::optional<Time> ControllerState::overdue_at(const LiveJob& live) const {
  if (!live.attempt->limit_end) return std::nullopt;
  if (live.attempt->limit_end == live.job.spec->deadline) return live.attempt->limit_end;
  return *live.attempt->limit_end + live.job.spec->time_to_end() + config_.prepare_timeout;
}

void ControllerState::end_attempt(LiveJob& live, const Cause& cause, bool immediately, Time now) {
  Attempt& attempt = *live.attempt;
  if (attempt.cause.code == CauseCode::kNone) {
    attempt.cause = cause;
    attempt.outcome = outcome_of(cause);
    blame(attempt.key.job, cause, now);
  }
  for (NodePart& part : attempt.parts) {
    if (part.phase == NodePhase::kEnded) continue;
    // Once told, a node ends it for sure; only a harder order is worth telling again.
    if (part.phase == NodePhase::kEnding && !immediately) continue;
    part.phase = NodePhase::kEnding;
    send(part.share.node, EndAttempt{attempt.key, cause, immediately});
  }
  core_->leave(now, live.job.id,
               now + (immediately ? Duration::zero() : live.job.spec->time_to_end()));
  move_to(live, JobState::kCompleting);
  touch(live);
  set_timer(live, now + live.job.spec->time_to_end() + config_.prepare_timeout);
  finish_if_done(live, now);
}

void ControllerState::close_part(LiveJob& live, NodePart& part, NodeEnd end, Time now, bool kept) {
  Attempt& attempt = *live.attempt;
  end.ended = believed(end.ended, attempt.allocated_at, now, kept);
  // As far before the end as the node says, but not before there was anything.
  if (end.started != Time{}) {
    end.started = attempt.started_at ? std::min(*attempt.started_at, end.ended) : end.ended;
  }
  part.end = std::move(end);
  part.phase = NodePhase::kEnded;
  NodeEntry& on = entry(part.share.node);
  release(on.free, on.node.config.resources, part.share);
  core_->give_back(now, live.job.id, part.share.node);
  pass_due_ = true;
  touch(live);
}

void ControllerState::part_ended(LiveJob& live, NodePart& part, NodeEnd end, Time now, bool kept) {
  if (part.phase == NodePhase::kEnded) return;
  const Cause cause = end.cause;
  Attempt& attempt = *live.attempt;
  if (end.is_origin && goes_before(cause, attempt.cause)) {
    attempt.cause = cause;
    attempt.outcome = outcome_of(cause);
  }
  if (end.leftovers) fence(entry(part.share.node), live.job.id, now);
  // The word that it started may be lost or late.
  if (end.started != Time{} && !attempt.started_at) {
    attempt.started_at = believed(end.started, attempt.allocated_at, now, true);
  }
  close_part(live, part, std::move(end), now, kept);
  const bool ended_well = outcome_of(cause) == JobState::kCompleted;
  if (ended_well) forgive(entry(part.share.node));
  // Without one of its nodes the gang cannot save anything any more.
  if (!ended_well) return end_attempt(live, cause, cause.code == CauseCode::kNodeLost, now);
  core_->leave(now, live.job.id, now);
  move_to(live, JobState::kCompleting);
  set_timer(live, now + config_.prepare_timeout);
  finish_if_done(live, now);
}

void ControllerState::finish_if_done(LiveJob& live, Time now) {
  Attempt& attempt = *live.attempt;
  if (is_final(live.job.state) || attempt.ended_at) return;
  const bool is_wanted = !is_cancelled(live);
  const bool requeue_follows = is_wanted && may_retry(live, attempt);
  const bool hold_follows = is_wanted && !requeue_follows && is_spent(live, attempt.outcome);
  // An end without a failure is only reported when all ranks of the gang have ended well.
  const bool known =
      attempt.outcome != JobState::kPending ||
      std::ranges::any_of(attempt.parts, [](const NodePart& part) { return part.end.has_value(); });
  for (const NodePart& part : attempt.parts) {
    if (part.phase == NodePhase::kEnded) continue;
    const Node& node = entry(part.share.node).node;
    // A node that cannot be asked is waited for only where a new attempt could meet a living old
    // one (S4). Until it comes back nothing is placed there anyway.
    const bool lost =
        node.contact != NodeContact::kUp && now >= node.contact_since + config_.prepare_timeout;
    if (!known || !lost || ((requeue_follows || hold_follows) && attempt.start_ordered)) return;
  }
  const auto first_end = std::ranges::find_if(
      attempt.parts, [](const NodePart& part) { return part.end.has_value(); });
  const Cause well = first_end == attempt.parts.end() ? Cause{} : first_end->end->cause;
  for (NodePart& part : attempt.parts) {
    if (part.phase == NodePhase::kEnded) continue;
    const std::string& name = entry(part.share.node).node.config.name;
    close_part(live, part,
               NodeEnd{.ended = now,
                       .cause = Cause{.actor = Actor::kNode,
                                      .code = CauseCode::kNodeLost,
                                      .node = name,
                                      .text = fmt::format("{} could not be asked any more", name)}},
               now, false);
  }
  // All of it had ended well before it heard that it should leave.
  const bool was_done =
      is_free(attempt) && std::ranges::all_of(attempt.parts, [](const NodePart& part) {
        return outcome_of(part.end->cause) == JobState::kCompleted;
      });
  if (attempt.outcome == JobState::kPending || was_done) {
    attempt.outcome = JobState::kCompleted;
    attempt.cause = well;
  }
  // When its last node was done, which may be before we heard of it.
  attempt.ended_at = attempt.parts.front().end->ended;
  for (const NodePart& part : attempt.parts) {
    attempt.ended_at = std::max(*attempt.ended_at, part.end->ended);
  }
  entry(attempt.parts.front().share.node).ports.erase(attempt.master_port);
  event(now, "end", live.job.id, std::string(actor_name(attempt.cause.actor)),
        describe(attempt.cause));
  move_to(live, JobState::kCompleting);
  const JobState outcome = attempt.outcome;
  const Cause cause = attempt.cause;
  if (requeue_follows && !was_done) return requeue(live, cause, now);
  if (hold_follows) return hold_spent(live, cause, now);
  // A run that failed by itself just before it was cancelled keeps its own end.
  const bool gave_way = !is_wanted && may_retry(live, attempt);
  if (gave_way) return make_final(live, JobState::kCancelled, live.job.cause, now);
  make_final(live, outcome, cause, now);
}

void ControllerState::requeue(LiveJob& live, const Cause& cause, Time now) {
  std::optional<Time> retry_at;
  if (!is_free(*live.attempt)) ++*retry_of(live.job, live.attempt->outcome).used;
  // The loss of a node says nothing about a start elsewhere (E1), and of an eviction the core knows
  // how long it backs off.
  if (!is_free(*live.attempt) && cause.code != CauseCode::kNodeLost) {
    // One second at first, doubled each time: a fault that stays must not turn into a storm of
    // launches.
    retry_at = now + std::chrono::seconds{std::int64_t{1}
                                          << std::min(live.job.last_attempt.value - 1, 6U)};
  }
  wait_again(live, cause, retry_at, now);
  event(now, "requeue", live.job.id, "artel-ctld", describe(cause));
}

void ControllerState::hold_spent(LiveJob& live, const Cause& cause, Time now) {
  const bool by_node = live.attempt->outcome == JobState::kNodeFail;
  const Retry retry = retry_of(live.job, live.attempt->outcome);
  wait_again(live, cause, std::nullopt, now);
  hold(live,
       {.actor = Actor::kSystem,
        .code = CauseCode::kRetriesSpent,
        .node = cause.node,
        .text = fmt::format("held: its {} retries after failures of {} are spent, the last: {}; "
                            "'artel release {}' gives it new ones",
                            retry.allowed, by_node ? "nodes" : "launches", describe(cause),
                            live.job.id.value)},
       now);
  event(now, "hold", live.job.id, "artel-ctld", live.job.cause.text);
}

void ControllerState::wait_again(LiveJob& live, const Cause& cause, std::optional<Time> retry_at,
                                 Time now) {
  const JobId id = live.job.id;
  const JobState outcome = live.attempt->outcome;
  if (const auto node = find_node(cause.node);
      node && (outcome == JobState::kNodeFail || outcome == JobState::kBootFail)) {
    live.job.excluded.push_back(*node);
    core_->mark(now, id, *node);
  }
  live.job.standing.retry_at = retry_at;
  core_->requeue(now, id, retry_at);
  move_to(live, JobState::kPending);
  live.wait = {};
  live.job.wait = WaitReason{.code = retry_at ? WaitCode::kRequeued : WaitCode::kNotConsidered,
                             .nodes_wanted = live.job.spec->component().nodes,
                             .planned_start = {},
                             .until = retry_at,
                             .where = {},
                             .numbers = {}};
  pass_due_ = true;
  set_timer(live, std::nullopt);
}

void ControllerState::hold(LiveJob& live, Cause cause, Time now) {
  core_->set_held(now, live.job.id, true);
  live.job.cause = std::move(cause);
  live.job.wait = {.code = WaitCode::kHeld, .nodes_wanted = live.job.spec->component().nodes};
  live.wait = {};
  move_to(live, JobState::kHeld);
  touch(live);
  pass_due_ = true;  // its planned start is free for others
}

void ControllerState::make_final(LiveJob& live, JobState state, const Cause& cause, Time now) {
  const auto how =
      state == JobState::kCompleted ? sched::Ended::kCompleted : sched::Ended::kOtherwise;
  // Those that the core has given up it has forgotten already.
  core_->end(now, live.job.id, how);
  live.job.cause = cause;
  live.job.ended_at = now;
  live.job.wait = {};
  set_timer(live, std::nullopt);
  move_to(live, state);
  if (live.job.task) task_ended(live, now);
  pass_due_ = true;
}

}  // namespace artel::ctld
