// What the scheduling core is told of jobs and nodes, and what is kept for it over restarts.
#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "ctld/core/state.h"

namespace artel::ctld {
namespace {

/// After a crash so much of the past of teams and users is missing at most. It is a mean over days.
constexpr Duration kPastEvery{std::chrono::minutes{1}};

constexpr auto kMilli = static_cast<std::int64_t>(GpuMilli::kPerDevice);

sched::Locality locality_of(Closeness closeness) {
  switch (closeness) {
    case Closeness::kAny:
      return sched::Locality::kAny;
    case Closeness::kBlock:
      return sched::Locality::kBlock;
    case Closeness::kLeaf:
      return sched::Locality::kLeaf;
  }
  return sched::Locality::kAny;
}

sched::Share share_of(const NodeShare& share) {
  return {.node = share.node,
          .gpus = static_cast<std::int64_t>(share.gpus.size()) * kMilli,
          .cores = share.cpus,
          .memory = static_cast<std::int64_t>(share.memory.value)};
}

/// A run that was told to end is on its way out.
bool is_leaving(const LiveJob& live) { return live.job.state == JobState::kCompleting; }

/// As it runs, or is about to: what it holds until the first word of its nodes.
void remember_run(const LiveJob& live, Time now, sched::Remembered& out) {
  const Attempt& attempt = *live.attempt;
  out.stage = is_leaving(live) ? sched::Stage::kSignalled : sched::Stage::kRunning;
  for (const NodePart& part : attempt.parts) {
    if (part.phase != NodePhase::kEnded) out.shares.push_back(share_of(part.share));
  }
  out.start = attempt.allocated_at;
  out.limit_end = attempt.limit_end;
  if (!out.limit_end) out.limit_end = live.job.spec->limit_end(attempt.allocated_at);
  out.grace_end = now + live.job.spec->time_to_end();
}

}  // namespace

std::vector<NodeId> ControllerState::node_ids(const std::vector<std::string>& names) const {
  std::vector<NodeId> ids;
  for (const std::string& name : names) {
    if (const auto id = find_node(name)) ids.push_back(*id);
  }
  std::ranges::sort(ids);
  return ids;
}

sched::JobFacts ControllerState::facts_of(JobId id, const JobSpec& spec) {
  const ComponentSpec& part = spec.component();
  sched::JobFacts facts;
  facts.id = id;
  facts.queue = layout_->queue(spec.team, spec.queue);
  facts.user = layout_->user(spec.owner.user);
  facts.priority = spec.class_priority + spec.priority;
  facts.preemptible = spec.preemptible.value_or(true);
  // What was told to end holds its nodes until they say otherwise, however short its grace.
  facts.grace = std::max(spec.time_to_end(), Duration{1});
  facts.held = spec.held;
  facts.begin = spec.begin;
  facts.deadline = spec.deadline;
  facts.max_wait = spec.max_wait;
  sched::Request& request = facts.request;
  request.parts = {{.nodes = part.nodes,
                    .gpus = static_cast<std::int64_t>(part.per_node.gpus.value),
                    .cores = part.per_node.cpus,
                    .memory = static_cast<std::int64_t>(part.per_node.memory.value),
                    .ranks = part.ranks_per_node}};
  request.exclusive = part.per_node.whole_node;
  request.locality = locality_of(spec.closeness);
  request.flavors = layout_->flavors(part.per_node);
  request.limit = spec.time_limit;
  request.features = spec.features;
  request.nodes_wanted = node_ids(spec.nodes_wanted);
  // All that it named have left the configuration; an empty list would mean any.
  if (!spec.nodes_wanted.empty() && request.nodes_wanted.empty())
    request.nodes_wanted.emplace_back(static_cast<std::uint32_t>(nodes_.size()));
  request.nodes_avoided = node_ids(spec.nodes_avoided);
  return facts;
}

void ControllerState::make_core(const StoredState& stored, Time now) {
  std::vector<std::string> teams;
  teams.reserve(stored.jobs.size());
  for (const Job& job : stored.jobs) teams.push_back(job.spec->team);
  layout_ = std::make_unique<Layout>(config_.nodes, config_.teams, config_.policy, teams);
  sched::Setup& setup = layout_->setup();
  // The core begins where the past was counted to: what ran on meanwhile counts from there.
  Time begin = now;
  for (const PastRow& row : stored.past) {
    if (row.at < now) begin = begin == now ? row.at : std::max(begin, row.at);
    if (row.of == PastRow::Of::kUser) {
      setup.user_past.emplace_back(layout_->user(row.name), row.past);
      continue;
    }
    const auto quota = std::ranges::find(setup.tree, row.name, &sched::QuotaFacts::name);
    if (quota != setup.tree.end() && quota != setup.tree.begin()) quota->past = row.past;
  }
  for (sched::QuotaFacts& quota : setup.tree) {
    if (!quota.budget) continue;
    const std::string team = quota.name.substr(quota.name.rfind('/') + 1);
    const auto used = stored.used_gpu_ms.find(team);
    if (used != stored.used_gpu_ms.end()) quota.used_gpu_ms = used->second;
  }
  core_ = std::make_unique<PacedCore>(setup, begin);
  core_begin_ = begin;
  past_due_ = now + kPastEvery;
}

sched::Remembered ControllerState::remembered(const LiveJob& live, Time now) {
  const Job& job = live.job;
  sched::Remembered told;
  told.job = facts_of(job.id, *job.spec);
  told.job.has_started = job.last_attempt.value > 0;
  if (job.task) told.job.array = sched::ArrayId{job.task->array.value};
  told.job.submitted = job.submitted_at;
  told.job.held = job.state == JobState::kHeld;
  told.job.pending_since = job.submitted_at;
  if (live.attempt && live.attempt->ended_at) told.job.pending_since = live.attempt->ended_at;
  told.evicted = {job.standing.evictions, job.standing.backoff_until};
  told.retry_at = job.standing.retry_at;
  told.marks = job.excluded;
  if (is_placed(job.state) && live.attempt) remember_run(live, now, told);
  return told;
}

void ControllerState::fill_core(const std::vector<sched::Claim>& claims, Time now) {
  const auto claim_of = [&](const LiveJob& live) {
    return live.job.state == JobState::kPending
               ? std::ranges::find(claims, live.job.id, &sched::Claim::job)
               : claims.end();
  };
  for (const auto& [id, array] : arrays_)
    core_->set_array(core_begin_, {sched::ArrayId{id.value}, array.job.spec->array->throttle});
  for (const auto& [id, live] : jobs_) {
    if (claim_of(live) == claims.end()) core_->restore(core_begin_, remembered(live, now));
  }
  restore_windows(now);
  // Nodes have to show themselves; until then claims on them stay, which a failure would end.
  tell_health(true, now);
  for (const auto& [id, live] : jobs_) {
    const auto claim = claim_of(live);
    if (claim == claims.end()) continue;
    sched::Remembered told = remembered(live, now);
    told.stage = sched::Stage::kClaiming;
    told.shares = claim->shares;
    told.claim = claim->number;
    core_->restore(now, told);
    claims_.emplace(id, *claim);
  }
  for (const sched::Claim& claim : claims) {  // of a job that was held or ended since
    if (!claims_.contains(claim.job)) effects_.writes.emplace_back(ClaimRow{{claim.job, 0, {}}});
  }
  nodes_due_ = now + config_.prepare_timeout;
}

void ControllerState::tell_health(bool again, Time now) {
  for (NodeEntry& on : nodes_) {
    const bool usable = is_usable(on);
    if (usable == on.usable && !(again && !usable)) continue;
    on.usable = usable;
    core_->set_health(now, on.node.id, usable);
  }
}

void ControllerState::store_claims(Time now) {
  std::map<JobId, sched::Claim> present;
  for (sched::Claim& claim : core_->core().claims()) present.emplace(claim.job, std::move(claim));
  for (const auto& [job, claim] : claims_) {
    if (!present.contains(job)) effects_.writes.emplace_back(ClaimRow{{job, 0, {}}});
  }
  for (const auto& [job, claim] : present) {
    static_cast<void>(job_for(job, now));  // a claim is of a job that the store knows
    const auto stored = claims_.find(job);
    if (stored == claims_.end() || stored->second != claim)
      effects_.writes.emplace_back(ClaimRow{claim});
  }
  claims_ = std::move(present);
}

void ControllerState::store_past(Time now) {
  past_due_ = now + kPastEvery;
  const auto add = [&](PastRow::Of of, const std::string& name, double past) {
    if (past > 0) effects_.writes.emplace_back(PastRow{of, name, past, now});
  };
  const auto& tree = layout_->setup().tree;
  for (std::uint32_t i = 1; i < tree.size(); ++i)
    add(PastRow::Of::kQuota, tree[i].name, core_->core().past(sched::QuotaId{i}));
  for (const auto& [name, user] : layout_->users())
    add(PastRow::Of::kUser, name, core_->core().user_usage(user));
}

}  // namespace artel::ctld
