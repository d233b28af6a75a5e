// What the scheduling core is told: nodes, quota tree, jobs, reservations. The rules that are named
// here (G1, Q3, ...) are those of RULES.md.
//
// Amounts are integers: GPUs in thousandths of a device, cores, bytes. Ids of nodes, quota nodes,
// flavors and licences are indexes into the lists of Setup; names only decide between equals.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/units.h"
#include "sched/dependency.h"

namespace artel::sched {

/// Index into Setup::flavors: a type of GPU.
using FlavorId = StrongId<struct FlavorIdTag, std::uint16_t>;
/// Index into Setup::tree; 0 is the root.
using QuotaId = StrongId<struct QuotaIdTag, std::uint32_t>;
using LicenceId = StrongId<struct LicenceIdTag, std::uint16_t>;
/// Any number that stands for one person.
using UserId = StrongId<struct UserIdTag, std::uint32_t>;
/// Given by add_reservation, never used again.
using ReservationId = StrongId<struct ReservationIdTag, std::uint32_t>;

/// Amounts by resource: one for each flavor, cores last. An absent optional is no bound.
using Amounts = std::vector<std::int64_t>;
using Bounds = std::vector<std::optional<std::int64_t>>;

struct NodeFacts {
  std::string name;
  std::string leaf;
  std::string block;
  FlavorId flavor;
  std::int64_t gpus{};
  std::int64_t cores{};
  std::int64_t memory{};
  std::optional<QuotaId> owner;         // X1: the team that alone may use it
  std::vector<std::string> features{};  // N1: words
  bool shared = false;                  // U2: its devices are open for shares
};

/// A node of the quota tree. Empty vectors: nothing is stated.
struct QuotaFacts {
  std::string name;
  QuotaId parent;
  bool is_team = false;
  std::optional<Amounts> guarantee;
  Bounds limit;
  Bounds borrow;
  Bounds lend;
  double weight = 1;
  std::optional<std::vector<UserId>> users;  // ascending
  std::vector<std::pair<UserId, double>> user_weights;
  std::optional<std::int64_t> max_jobs_per_user;
  std::optional<std::int64_t> max_gpus_per_user;
  std::optional<double> budget;  // GPU-hours
  bool strict_fifo = false;
  double past = 0;  // F2: decayed use above the guarantee at the begin, as a share of the cluster
  double used_gpu_ms = 0;  // Q5: thousandths of GPUs x ms that were used before the begin
};

/// U4: who may sit together on a device.
enum class ShareBetween : std::uint8_t { kUser, kTeam, kAll };

/// Section "Defaults of the product" in README.md.
struct Policy {
  Duration protect_reclaim{};
  Duration protect_fair{std::chrono::minutes{60}};
  Duration protect_priority{std::chrono::minutes{10}};
  Duration requeue_backoff{std::chrono::minutes{5}};
  std::uint32_t most_backoffs = 60;  // the back-off grows to so many times the first one
  bool fair_preemption = false;
  Duration fair_patience{std::chrono::minutes{30}};
  double fair_waste_factor = 2;
  Duration half_life{std::chrono::hours{168}};
  double kappa = 1;
  std::uint32_t reservations_per_team = 4;
  std::uint32_t starving_per_team = 16;  // so many where the job starves, if that is more
  Duration starve_after{std::chrono::hours{24}};
  ShareBetween share_between = ShareBetween::kUser;
};

struct Setup {
  std::vector<std::string> flavors;
  std::vector<NodeFacts> nodes;
  std::vector<QuotaFacts> tree;  // parents before children; the root first
  std::vector<std::int64_t> licences;
  Policy policy;
  std::vector<std::pair<UserId, double>> user_past;  // F2, at the begin
};

/// The smallest share of a device (U1), in thousandths.
inline constexpr std::int64_t kSmallestShare = 25;
inline constexpr std::int64_t kWholeDevice = 1000;

/// So many different nodes with so much on each (G5).
///
/// `gpus` is a number of whole devices, a multiple of 1000, or one share of one device, 25 to 999
/// (U1). Cores or memory of 0 are not stated: the job gets the node's by share of its GPUs, else a
/// core for each rank and memory by share of the cores (M2). Where the request is exclusive, what
/// is stated are floors, and the job gets all that the node has (M3). On a node of 0 cores or 0
/// memory these are not looked at unless they are stated.
struct Part {
  std::uint32_t nodes = 1;
  std::int64_t gpus{};
  std::int64_t cores{};
  std::int64_t memory{};
  std::uint32_t ranks = 1;  // on each node

  bool operator==(const Part&) const = default;
};

enum class Locality : std::uint8_t { kAny, kBlock, kLeaf };

/// The shape of a job: what it asks for. Equal shapes are kept once.
struct Request {
  std::vector<Part> parts{Part{}};
  std::optional<std::uint32_t> min_nodes;  // of a single part (G3)
  std::uint32_t segment = 1;               // P5
  Locality locality = Locality::kAny;
  bool exclusive = false;                     // X2
  std::vector<FlavorId> flavors{FlavorId{}};  // in the order of preference (G4)
  std::vector<std::pair<LicenceId, std::int64_t>> licences;
  std::optional<Duration> limit;  // of one run; nullopt: no end is known
  std::string features{};         // N1: an expression, see features.h; empty: any node
  /// N2, ascending: these only; empty: any. One behind the last node stands for one that is gone.
  std::vector<NodeId> nodes_wanted{};
  std::vector<NodeId> nodes_avoided{};  // N2, ascending
  std::uint32_t spares = 0;  // H1: so many nodes more than its ranks run on; of a single part

  bool operator==(const Request&) const = default;
};

/// A job, or one task of an array (J1). Classes are resolved before (K1).
struct JobFacts {
  JobId id;  // order of submission among equals; of an array: of the indexes (O4)
  QuotaId queue;
  UserId user;
  Request request;
  std::int32_t priority{};
  bool preemptible = true;
  Duration grace{};
  std::optional<ReservationId> reservation;
  std::string name;                  // of the job, for kSingleton
  std::optional<ArrayId> array;      // whose task it is
  bool held = false;                 // W6
  std::optional<Time> begin;         // W3
  std::optional<Time> deadline;      // W4; needs a limit
  std::optional<Duration> max_wait;  // T1: for the first start, from the submit
  Dependencies after;                // rules D

  // Of a job that the core is told of again, after a restart of the driver. Dependencies that were
  // met are left out (D4).

  bool has_started = false;           // once, in whichever attempt
  std::optional<Time> submitted;      // nullopt: now
  std::optional<Time> ready;          // W2; nullopt: found out by the core
  std::optional<Time> pending_since;  // O2; nullopt: now
};

/// R1: named nodes, or a count of nodes that the core chooses. Maintenance has no owner. Standing
/// spares (H3) have an owner, a count and a flavor, and neither start nor end.
struct ReservationFacts {
  std::optional<QuotaId> owner;
  std::vector<UserId> users;  // ascending; empty: all of the owner
  Time start;
  Time end;
  std::vector<NodeId> nodes;
  std::optional<std::uint32_t> count;
  bool one_leaf = false;
  std::optional<FlavorId> flavor;
  bool maintenance = false;
  bool flex = false;
  bool spares = false;
};

/// New values for a node of the tree; what is absent stays.
struct QuotaChange {
  std::optional<Amounts> guarantee;
  std::optional<Bounds> limit;
  std::optional<Bounds> borrow;
  std::optional<Bounds> lend;
  std::optional<double> weight;
};

}  // namespace artel::sched
