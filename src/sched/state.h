// What the core keeps between calls. Everything that a check needs is a sum that each start, end
// and signal keeps up to date; nothing here is computed by walking over all jobs.
//
// Private to src/sched.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>

#include "sched/known_cover.h"
#include "sched/openings.h"
#include "sched/scheduler.h"
#include "sched/standing.h"

namespace artel::sched {

inline constexpr QuotaId kRoot{0};

/// What a start is charged: GPUs of one flavor and cores.
struct Charge {
  FlavorId flavor;
  std::int64_t gpus{};
  std::int64_t cores{};
};

/// A request as it is kept: once for all jobs that ask for the same.
struct Shape : Request {
  std::uint64_t number{};  // never used again
};

/// A job from its submission to its end, with what it holds.
struct Job {
  JobId id;
  QuotaId queue;
  QuotaId pool;  // the lowest node of its path that states a guarantee, else the root
  QuotaId team;
  UserId user;
  std::shared_ptr<const Shape> request;
  std::shared_ptr<const NodeSet> listed;   // N1, N2; null: all nodes
  std::shared_ptr<const NodeSet> allowed;  // of those the ones that are not marked; null: all nodes
  std::vector<NodeIndex> marks;            // N4, oldest first
  Reason parked = Reason::kNone;           // N5, as of State::parked_at
  std::int32_t priority{};
  bool preemptible = true;
  bool inside = false;        // runs in an open reservation that it names (R3)
  bool assumed_gone = false;  // a victim of the plan in the making
  bool treated = false;       // in this pass
  Stage stage = Stage::kPending;
  Duration grace{};
  std::optional<ReservationId> reservation;
  std::string name;
  std::optional<ArrayId> array;
  bool held = false;         // W6
  bool has_started = false;  // once
  std::optional<Time> begin;
  std::optional<Time> deadline;
  std::optional<Duration> max_wait;
  std::vector<Dependency> missing;  // what it waits for; empty: nothing
  bool any_is_enough = false;       // of that (D2)
  std::optional<Time> wait_end;     // as in State::wait_ends
  Time submitted;
  Time ready;          // W2
  Time pending_since;  // O2
  Time retry_at;       // not before (Z1, Requeued)
  Time start;
  std::optional<Time> limit_end;
  Time saved_at;
  Time grace_end;
  std::uint64_t claim{};  // number, in the order of claims
  std::vector<Share> shares;
  std::size_t needed{};  // nodes that the ranks of the run are on (H1)
  Charge charge;
  std::uint32_t evictions{};
  Time backoff_until;
  std::optional<Time> evicted_at;  // A7
  Wait wait;
  std::uint32_t plans_before{};  // how many plans of the last pass its reason knows of
};

/// A job on a node, with what it holds there.
struct Holder {
  Job* job{};
  Share share;
};

struct Node {
  std::string name;
  std::uint32_t rank{};   // in the order of names: its place in State::by_name
  std::uint32_t leaf{};   // in the order of names
  std::uint32_t block{};  // in the order of names
  FlavorId flavor;
  std::int64_t gpus{};
  std::int64_t cores{};
  std::int64_t memory{};
  std::optional<QuotaId> owner;
  std::vector<std::string> features;
  bool shared = false;
  bool healthy = true;
  bool in_maintenance = false;  // running: it leaves the capacity (R3)
  std::vector<Holder> holders;  // running, signalled, claiming
  std::int64_t free_gpus{};     // that nobody holds or claims
  std::int64_t free_cores{};
  std::int64_t free_memory{};
  std::uint32_t exclusive{};     // holders that let nobody else in (X2)
  std::uint32_t reservations{};  // that have it in their list
};

struct Held {
  std::int64_t jobs{};
  std::int64_t gpus{};
};

struct Quota {
  QuotaId parent;
  std::vector<QuotaId> children;
  std::vector<QuotaId> path;  // itself first, the first level last; empty for the root
  std::uint32_t depth{};
  bool is_team = false;
  bool states = false;  // a guarantee, its own or its children's
  QuotaFacts facts;
  Amounts guarantee;
  Amounts jobs;                  // use by active jobs
  Amounts reserved;              // use by open reservations of owners below
  Amounts fixed;                 // use by active non-preemptible jobs
  Amounts dedicated;             // healthy nodes of its own
  Amounts kept;                  // never lent: max(G - lend, dedicated up to G) (X1)
  Amounts star;                  // use* of Q3
  Amounts star_below;            // sum over the children
  double past{};                 // F2
  double used_gpu_ms{};          // thousandths of GPUs x ms of ended runs (Q5)
  std::map<UserId, Held> users;  // active, where there are limits per user
};

struct Reservation {
  ReservationId id;
  ReservationFacts facts;
  std::vector<NodeIndex> nodes;  // in the order of names
  bool open = false;
};

/// Tasks that belong together (J), from the first to the last that is not over.
struct Array {
  std::optional<std::uint32_t> throttle;
  std::uint32_t holding{};              // tasks that hold something (J2)
  std::uint32_t taken{};                // in this pass: those, and planned starts
  std::uint32_t left{};                 // tasks that are not over,
  std::uint32_t unstarted{};            // and of those the ones that have never started
  Outcome worst = Outcome::kCompleted;  // of those that are over
  std::set<JobId> dependents;
};

/// A planned start of B2.
struct Planned {
  const Job* job{};
  Time start;
  std::optional<Time> end;
  std::vector<Share> shares;
};

/// A planned start after the walk that made it.
struct KeptPlan {
  JobId job;
  Time start;
  std::optional<Time> end;
  std::vector<Share> shares;
};

struct State {
  explicit State(const Setup& setup, Time begin);

  Policy policy;
  std::size_t flavors{};
  std::vector<Node> nodes;
  std::vector<NodeIndex> by_name;
  std::vector<std::vector<NodeIndex>> leaves;  // members in the order of names
  std::vector<std::vector<NodeIndex>> blocks;
  std::vector<std::set<std::uint32_t>> blocks_of_leaf;  // mostly one
  std::vector<Quota> quotas;
  Amounts capacity;                        // of nodes in service
  std::vector<NodeIndex> out_of_service;   // the others
  bool has_owners = false;                 // some node is dedicated (X1)
  std::vector<std::int64_t> largest_node;  // GPUs, by flavor
  std::vector<std::int64_t> licences;
  std::vector<std::int64_t> licences_active;     // held by active jobs
  std::vector<std::int64_t> licences_signalled;  // still held by signalled ones
  std::map<JobId, Job> jobs;
  std::map<JobId, Job*> waiting;             // pending and not held: what a pass looks at
  std::set<JobId> active;                    // running, claiming, signalled
  std::vector<std::vector<Job*>> active_of;  // the same by queue, ascending
  std::uint32_t assumed{};                   // victims of the plan in the making
  /// Covers (C2) that still hold; see shares.h.
  mutable std::map<QuotaId, KnownCover> covers;
  std::set<JobId> signalled;
  std::vector<Reservation> reservations;
  std::map<UserId, Amounts> user_use;
  std::map<UserId, double> user_past;
  std::map<std::size_t, std::vector<std::weak_ptr<const Shape>>> requests;  // by hash
  std::size_t shapes_kept{};                                                // in `requests`, about,
  std::size_t shapes_most = 1024;  // and how many before those that nobody has are forgotten
  std::uint64_t last_shape{};
  std::shared_ptr<const State> blank;  // empty and healthy, for Q6; null: to be made
  mutable Openings openings;           // which nodes could take what now
  std::set<std::string> words;         // features that some node has
  std::map<NodeSetKey, std::weak_ptr<const NodeSet>> node_sets;
  std::size_t most_node_sets = 64;  // then the unused ones are dropped
  std::map<StandingKey, Standing> standings;
  std::uint64_t node_changes = 1;  // of health and features
  std::uint64_t recoveries = 1;    // of those the ones that may unpark a job
  std::uint64_t parked_at{};       // node_changes when N5 was looked at for all jobs;
  std::vector<JobId> unparked;     // since then for all but these
  std::map<ArrayId, Array> arrays;
  std::map<JobId, std::set<JobId>> dependents;                      // by what they wait for
  std::map<std::pair<UserId, std::string>, std::set<JobId>> names;  // jobs of one user and name
  std::set<std::pair<Time, JobId>> wait_ends;                       // T1, W4
  std::set<JobId> to_resolve;     // their dependencies are to be looked at again
  std::vector<GivenUp> given_up;  // not told yet
  std::vector<KeptPlan> plans;    // of the last pass, in the order in which they were made
  std::uint64_t claims{};
  std::uint32_t last_reservation{};
  Time now;
  Time settled;  // up to when the past of F2 is counted

  [[nodiscard]] std::size_t cores() const { return flavors; }
  Quota& at(QuotaId id) { return quotas[id.value]; }
  [[nodiscard]] const Quota& at(QuotaId id) const { return quotas[id.value]; }
  [[nodiscard]] const std::vector<QuotaId>& path(QuotaId id) const { return at(id).path; }
};

/// Rebuilds what points into the copied parts.
std::unique_ptr<State> copy_state(const State& from);

/// Guarantees, `states`, pools and sums that follow from the stated values.
void derive_tree(State& state);
/// Sums over nodes, after a change of health, maintenance or the tree.
void derive_capacity(State& state);

/// The lowest node of the path that states a guarantee, else the root.
[[nodiscard]] QuotaId pool_of(const State& state, QuotaId queue);
[[nodiscard]] bool is_below(const State& state, QuotaId quota, QuotaId ancestor);
[[nodiscard]] QuotaId common_ancestor(const State& state, QuotaId a, QuotaId b);
/// The child of `ancestor` on the way to `quota`; nullopt if they are one.
[[nodiscard]] std::optional<QuotaId> child_towards(const State& state, QuotaId ancestor,
                                                   QuotaId quota);

[[nodiscard]] std::int64_t use(const Quota& quota, std::size_t resource);
[[nodiscard]] inline bool is_active(const Job& job) {
  return (job.stage == Stage::kRunning || job.stage == Stage::kClaiming) && !job.assumed_gone;
}
/// Whether an eviction may take it at all (V1, V2), as far as the job itself goes.
[[nodiscard]] inline bool is_displaceable(const Job& job) {
  return job.stage == Stage::kRunning && job.preemptible && !job.inside;
}
/// Since when it waits in earnest (O2, F3).
[[nodiscard]] inline Time waits_since(const Job& job) {
  return std::max(job.ready, job.pending_since);
}
[[nodiscard]] bool is_starving(const State& state, const Job& job);
/// B2: with fewer planned starts its team has one for this job.
[[nodiscard]] std::uint32_t most_plans(const State& state, const Job& job);
/// GPUs x time since the last save or the start (thousandths x ms).
[[nodiscard]] std::int64_t lost_work(const State& state, const Job& job);

[[nodiscard]] inline bool admits(const Job& job, NodeIndex node) {
  return !job.allowed || job.allowed->has[node];
}
/// The nodes that the job may use (N3), in the order of names.
[[nodiscard]] inline const std::vector<NodeIndex>& nodes_for(const State& state, const Job& job) {
  return job.allowed ? job.allowed->nodes : state.by_name;
}

[[nodiscard]] std::uint32_t largest_size(const Request& request);
[[nodiscard]] std::uint32_t smallest_size(const Request& request);
/// How many nodes a size takes: its spares too (H1).
[[nodiscard]] std::uint32_t nodes_of(const Request& request, std::uint32_t size);
/// From large to small (G3).
[[nodiscard]] std::vector<std::uint32_t> sizes_of(const Request& request);
[[nodiscard]] std::vector<Part> parts_of(const Request& request, std::uint32_t size);
[[nodiscard]] Charge charge_of(const State& state, const Request& request, std::uint32_t size,
                               FlavorId flavor);
/// What the job's shares cost, as they are: an exclusive job is charged for the nodes that it got.
/// Cores that were not stated are charged to nobody (M4).
[[nodiscard]] Charge charge_of_shares(const State& state, const Job& job);
[[nodiscard]] std::optional<Time> end_of_run(const Job& job, Time start);

/// Calls `visit(resource, amount)` for what is charged.
template <typename Visit>
void for_each(const State& state, const Charge& charge, Visit visit) {
  if (charge.gpus > 0) visit(std::size_t{charge.flavor.value}, charge.gpus);
  if (charge.cores > 0) visit(state.cores(), charge.cores);
}

}  // namespace artel::sched
