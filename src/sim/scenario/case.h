// A scenario case: a small cluster, a quota tree, a timeline of events and the states that must
// hold at given times. The format is artel-scenario(5).
//
// Plain values that the parser fills, the player plays and the printer writes. All times are whole
// minutes since the start of the case. Not shared between threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace artel::scenario {

using Minute = std::int64_t;
/// Amounts by resource: a GPU type, or kCores.
using Amounts = std::map<std::string, std::int64_t>;

inline constexpr const char* kCores = "cpu";
inline constexpr const char* kDefaultFlavor = "gpu";

struct Node {
  std::string name;
  std::int64_t gpus = 8;
  std::int64_t cpus = 0;
  std::string leaf;
  std::string block;
  std::string flavor = kDefaultFlavor;
  std::string owner;  // path of the team that alone may use it
};

enum class QuotaKind : std::uint8_t { kPlain, kTeam };

/// A node of the quota tree. `parent` and `children` index Case::tree; the first is the root.
struct Quota {
  std::string path;  // "X.A"; empty for the root
  std::size_t parent = 0;
  std::vector<std::size_t> children;
  QuotaKind kind = QuotaKind::kPlain;
  std::optional<Amounts> guarantee;
  std::optional<Amounts> limit;
  std::optional<Amounts> borrow;
  std::optional<Amounts> lend;
  double weight = 1;
  std::optional<std::vector<std::string>> users;
  std::optional<std::int64_t> max_jobs_per_user;
  std::optional<std::int64_t> max_gpus_per_user;
  std::map<std::string, double> user_weights;
  std::optional<double> budget;  // GPU-hours
  bool strict_fifo = false;
  std::optional<Minute> idle_timeout;
  std::optional<Minute> grace;
};

struct Policy {
  Minute grace = 0;
  Minute protect_reclaim = 0;
  Minute protect_fair = 0;
  Minute protect_priority = 0;
  Minute requeue_backoff = 0;
  bool fair_preemption = false;
  Minute fair_patience = 0;
  double fair_waste_factor = 2;
  double half_life = 10080;
  double kappa = 1;
  std::int64_t reservations_per_team = 1;
  Minute starve_after = 1440;
};

enum class JobKind : std::uint8_t { kBatch, kInteractive, kService };
enum class Topology : std::uint8_t { kNone, kLeaf, kBlock };

/// `nodes` different nodes with so much on each.
struct Component {
  std::int64_t nodes = 1;
  std::int64_t gpus = 8;
  std::int64_t cpus = 0;
};

struct Job {
  std::string id;
  std::string queue;
  std::string user;
  JobKind kind = JobKind::kBatch;
  std::vector<Component> components{Component{}};
  std::optional<std::int64_t> min_nodes;
  std::optional<Minute> duration;  // none: it never ends by itself
  std::optional<Minute> walltime;  // none: no limit is known
  std::int64_t priority = 0;
  bool preemptible = true;
  Topology topology = Topology::kNone;
  std::int64_t segment = 1;
  bool exclusive = false;
  std::vector<std::string> flavors{kDefaultFlavor};
  std::map<std::string, std::int64_t> licenses;
  std::string reservation;
  std::optional<Minute> max_wait;
  bool requeue = true;
  std::optional<Minute> grace;
  std::optional<Minute> checkpoint_every;
  std::optional<Minute> idle_from;
};

struct Reservation {
  std::string name;
  std::string owner;
  std::vector<std::string> users;
  Minute start = 0;
  Minute end = 0;
  std::vector<std::string> nodes;     // named nodes, or
  std::optional<std::int64_t> count;  // so many of any
  bool one_leaf = false;
  std::string flavor;  // empty: any
  bool maintenance = false;
  bool flex = false;
};

struct Submit {
  Job job;
};
struct Cancel {
  std::string job;
};
struct Checkpoint {
  std::string job;
};
struct NodeDown {
  std::string node;
};
struct NodeUp {
  std::string node;
};
/// New values for a node of the quota tree; what is absent stays.
struct SetQuota {
  std::string quota;
  std::optional<Amounts> guarantee;
  std::optional<Amounts> limit;
  std::optional<Amounts> borrow;
  std::optional<Amounts> lend;
  std::optional<double> weight;
};
struct Reserve {
  Reservation reservation;
};

struct Event {
  Minute t = 0;
  std::variant<Submit, Cancel, Checkpoint, NodeDown, NodeUp, SetQuota, Reserve> fact;
};

/// Where a running job must be. Any of the members that are set must hold.
struct Place {
  std::vector<std::string> nodes;
  std::optional<std::int64_t> count;
  std::string leaf;
  std::string flavor;
};

/// What must hold at a time. An absent member is not checked; empty codes match any code.
struct Expectation {
  Minute t = 0;
  int line = 0;
  std::optional<std::map<std::string, Place>> running;
  std::optional<std::map<std::string, std::string>> pending;
  std::vector<std::string> terminating;
  std::optional<std::map<std::string, std::string>> done;
  std::optional<std::map<std::string, std::string>> cancelled;
  std::optional<std::map<std::string, std::string>> rejected;
  std::optional<std::map<std::string, std::int64_t>> preempts;
  std::optional<std::map<std::string, Minute>> planned;
  std::optional<std::vector<std::string>> borrowed;
  std::optional<std::map<std::string, double>> entitlement;
  std::optional<std::map<std::string, double>> score;
  std::optional<std::map<std::string, double>> user_usage;
  std::optional<std::map<std::string, std::vector<std::string>>> reservations;
  std::optional<std::map<std::string, std::string>> refused_reservations;
  std::string note;
};

struct Case {
  std::string id;
  std::string title;
  std::vector<std::string> features;
  std::string origin;
  std::string why;
  std::vector<Node> nodes;
  std::map<std::string, std::int64_t> licenses;
  Policy policy;
  std::map<std::string, double> team_usage;  // over-guarantee history at time 0, by path
  std::map<std::string, double> user_usage;
  std::vector<Quota> tree{Quota{}};
  std::vector<Event> timeline;
  std::vector<Expectation> expect;
};

/// The index of the quota node of that path in the tree, or nullopt.
std::optional<std::size_t> find_quota(const Case& scenario, const std::string& path);
/// The job's own grace, else the nearest one on its path, else the policy's.
Minute grace_of(const Case& scenario, const Job& job);
/// The nearest idle timeout on the job's path.
std::optional<Minute> idle_timeout_of(const Case& scenario, const Job& job);

}  // namespace artel::scenario
