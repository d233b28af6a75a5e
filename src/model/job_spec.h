// What a user asks for. Immutable once acknowledged; shared by all views of the job.
//
// Shape: one task or an array of them x ordered phases x components. One phase and one component
// are offered today; the types, the store and the wire carry the general form.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/units.h"
#include "model/index_set.h"
#include "model/resources.h"

namespace artel {

enum class JobKind : std::uint8_t { kBatch, kInteractive, kService };

/// How the processes of a step are started. kAuto: PMIx ranks with torchrun-style variables.
enum class LaunchKind : std::uint8_t {
  kAuto,    // pmix where a step has more than one rank, else plain
  kPlain,   // one process per rank, torchrun-style variables
  kPmix,    // plain plus a PMIx server for MPI
  kScript,  // one process on the first node
};

/// How close together the nodes of a gang must be.
enum class Closeness : std::uint8_t { kAny, kBlock, kLeaf };

/// The account that the job runs as, taken from the kernel or MUNGE, never from the message.
struct Owner {
  std::uint32_t uid{};
  std::uint32_t gid{};
  std::string user;

  bool operator==(const Owner&) const = default;
};

using Environment = std::vector<std::pair<std::string, std::string>>;

/// One set of equal nodes of a gang.
struct ComponentSpec {
  std::uint32_t nodes = 1;
  std::uint32_t ranks_per_node = 1;
  NodeRequest per_node;
  LaunchKind launch = LaunchKind::kAuto;

  bool operator==(const ComponentSpec&) const = default;
};

/// How often a run may be repeated after ends of each kind. Preemption is never charged.
struct RetryBudgets {
  std::uint32_t application = 0;
  std::uint32_t node = 3;
  std::uint32_t launch = 3;

  bool operator==(const RetryBudgets&) const = default;
};

/// So many ranges and single numbers the list of an array may have.
inline constexpr std::size_t kMaxArrayRuns = 1000;

/// Tasks that differ by their index only. Their job numbers follow the array's own, in the order of
/// indexes.
struct ArraySpec {
  IndexSet indexes;                       // not empty
  std::optional<std::uint32_t> throttle;  // so many run at once; nullopt: any number

  bool operator==(const ArraySpec&) const = default;
};

/// The longest grace that a job may have.
inline constexpr Duration kMaxGrace{std::chrono::hours{1}};

struct JobSpec {
  std::string name;
  Owner owner;
  std::string acting_for;                // user on whose behalf a service account submits
  std::vector<std::string> shared_with;  // users and groups who may look at the job
  std::string team;
  std::string queue;
  std::string project;
  JobKind kind = JobKind::kBatch;
  std::string job_class;            // empty: the queue's; named once acknowledged
  std::int32_t class_priority = 0;  // of the class when the job was acknowledged (K1)
  std::int32_t priority = 0;        // the job's own, added to the class's (K3)
  std::optional<bool> preemptible;  // nullopt: the class's; set once acknowledged
  bool requeue = true;              // after a preemption
  bool held = false;
  std::optional<ArraySpec> array;
  std::vector<ComponentSpec> components;  // one today
  std::vector<LicenceRequest> licences;
  std::vector<std::string> nodes_wanted;   // names; empty: any
  std::vector<std::string> nodes_avoided;  // names
  std::string features;                    // expression of words of nodes; empty: any (N1)
  Closeness closeness = Closeness::kAny;
  std::optional<Duration> time_limit;  // nullopt: none
  std::optional<Time> begin;           // not before (W3)
  std::optional<Time> deadline;        // must have ended by then (W4); needs a time limit
  std::optional<Duration> max_wait;    // cancelled if it has not started by then (T1)
  std::optional<Duration> grace;       // TERM to KILL; nullopt: the class's; set later
  RetryBudgets retries;
  std::string script;             // whole text; empty where `argv` is the program
  std::vector<std::string> argv;  // program and arguments, or the arguments of the script
  Environment environment;        // exactly what the user asked to pass
  std::string working_directory;  // absolute
  std::string output;             // pattern, see output_path.h; relative to the working directory
  std::string error;              // empty: the same file as output
  bool attached = false;          // output is spooled on the first node for the client that waits
  std::string client_token;       // unique per submission; repeats give the same job

  bool operator==(const JobSpec&) const = default;

  [[nodiscard]] const ComponentSpec& component() const { return components.front(); }
  /// When a run that begins at `start` has to end; nullopt: never.
  [[nodiscard]] std::optional<Time> limit_end(Time start) const;
  /// Of an acknowledged job.
  [[nodiscard]] Duration time_to_end() const { return grace.value_or(Duration::zero()); }
};

/// "0-99%5"
std::string array_text(const ArraySpec& array);
/// What array_text() writes. Errors as of IndexSet::parse(), and for a throttle that is no number
/// from 1 on.
Result<ArraySpec> parse_array(std::string_view text, std::uint32_t most_tasks);

/// The number of a task of array `array`; nullopt: it has none with this index.
std::optional<JobId> task_number(JobId array, const ArraySpec& spec, TaskIndex index);
/// The number of the array whose task has this number and index.
JobId array_number(JobId task, const ArraySpec& spec, TaskIndex index);

std::string_view job_kind_name(JobKind kind);
/// "any", "block", "leaf"
std::string_view closeness_name(Closeness closeness);
std::optional<Closeness> parse_closeness(std::string_view name);
std::string_view launch_kind_name(LaunchKind kind);
std::optional<JobKind> parse_job_kind(std::string_view name);
std::optional<LaunchKind> parse_launch_kind(std::string_view name);

/// The kind with kAuto resolved for this component and program.
LaunchKind resolved_launch(const ComponentSpec& component, bool is_script);

}  // namespace artel
