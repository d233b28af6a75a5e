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
  std::int64_t cpus = 0;    // 0: cores are not looked at
  std::int64_t memory = 0;  // GB; 0: memory is not looked at
  std::string leaf;
  std::string block;
  std::string flavor = kDefaultFlavor;
  std::string owner;  // path of the team that alone may use it
  std::vector<std::string> features;
  bool shared = false;  // devices open for shares
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
  std::optional<std::vector<std::string>> classes;  // that it admits
  std::string default_class;
  std::optional<Minute> idle_timeout;
  std::optional<Minute> grace;
};

/// A preset (rules K).
struct JobClass {
  std::int64_t priority = 0;
  bool preemptible = true;
  std::optional<Minute> grace;
};

/// Who may sit together on a device (rule U4).
enum class ShareBetween : std::uint8_t { kUser, kTeam, kAll };

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
  std::int64_t starving_per_team = 16;
  Minute starve_after = 1440;
  ShareBetween share_between = ShareBetween::kUser;
  std::map<std::string, JobClass> classes;
};

enum class JobKind : std::uint8_t { kBatch, kInteractive, kService };
enum class Topology : std::uint8_t { kNone, kLeaf, kBlock };

/// `nodes` different nodes with so much on each.
struct Component {
  std::int64_t nodes = 1;
  std::int64_t gpus = 8;
  std::int64_t gpu_milli = 0;  // of one device, instead of gpus
  std::int64_t cpus = 0;       // 0: by share (rule M2)
  std::int64_t memory = 0;     // GB; 0: by share
};

enum class Depends : std::uint8_t { kAfter, kAfterAny, kAfterOk, kAfterNotOk, kSingleton };

struct Dependency {
  Depends kind = Depends::kAfter;
  std::string job;  // a job, a task or a whole array
};

struct Job {
  std::string id;
  std::string queue;
  std::string user;
  std::string name;       // for singleton; empty: the id
  std::string job_class;  // resolved into priority, preemptible and grace
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
  bool fails = false;  // at the end of its duration
  bool held = false;
  std::optional<Minute> begin;
  std::optional<Minute> deadline;
  std::vector<Dependency> after;
  bool any_is_enough = false;         // of `after`
  std::optional<std::int64_t> array;  // so many tasks
  std::optional<std::int64_t> throttle;
  std::string array_id;  // of a task: the array's, and
  std::int64_t index = 0;
  std::string features;  // an expression, see features.h
  std::vector<std::string> nodes_wanted;
  std::vector<std::string> nodes_avoided;
  std::int64_t spares = 0;
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
  bool spare = false;  // a standing one without start and end (rule H3)
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

struct Hold {
  std::string job;
};
struct Release {
  std::string job;
};
struct Throttle {
  std::string array;
  std::int64_t limit = 0;
};
struct SetFeatures {
  std::string node;
  std::vector<std::string> features;
};
/// The node refuses the job's attempt (rule E3).
struct NodeRefuses {
  std::string job;
  std::string node;
};

using Fact = std::variant<Submit, Cancel, Checkpoint, NodeDown, NodeUp, SetQuota, Reserve, Hold,
                          Release, Throttle, SetFeatures, NodeRefuses>;

struct Event {
  Minute t = 0;
  Fact fact;
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
  std::map<std::string, std::map<std::string, std::int64_t>> devices;  // by job and node
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
/// The tasks of an array, named w_0, w_1, ...; a job that is none alone.
std::vector<Job> tasks_of(const Job& job);
/// Whether the nearest list of classes on its path admits the job's.
bool admits_class(const Case& scenario, const Job& job);
/// The last minute at which it can start and still make its deadline.
std::optional<Minute> latest_start(const Job& job);
/// The job's own grace, else the nearest one on its path, else the policy's.
Minute grace_of(const Case& scenario, const Job& job);
/// The nearest idle timeout on the job's path.
std::optional<Minute> idle_timeout_of(const Case& scenario, const Job& job);

}  // namespace artel::scenario
