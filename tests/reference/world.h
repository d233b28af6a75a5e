// The state that the interpreter keeps, as flat lists. Every rule reads it afresh; nothing is
// cached.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "reference/reference.h"
#include "sim/scenario/engine.h"

namespace artel::reference {

using scenario::Amounts;
using scenario::Minute;
using scenario::Share;

inline constexpr std::size_t kRoot = 0;
inline constexpr std::int64_t kDevice = 1000;  // GPUs count in thousandths

struct Node {
  scenario::Node spec;
  std::optional<std::size_t> owner;  // quota
  bool healthy = true;
};

struct Quota {
  scenario::Quota spec;  // parent and children
  bool states = false;   // a guarantee, its own or its children's
  Amounts guarantee;
  std::size_t depth = 0;
  double history = 0;  // rule F2
};

enum class Stage {
  kPending,
  kClaiming,  // pending with a claim (A1)
  kRunning,
  kSignalled,  // inside its grace
  kGone        // over; or evicted in this pass, not reported back yet
};

struct Job {
  scenario::Job spec;
  std::size_t number = 0;
  std::size_t quota = 0;  // its queue
  std::size_t pool = 0;
  std::size_t team = 0;
  Minute grace = 0;
  bool is_held = false;
  bool depends = false;
  std::vector<std::string> marks;  // nodes that failed or refused it, oldest first (N4)
  std::int64_t needed = 0;         // nodes that its ranks run on (H1)
  Minute evicted_at = -1;
  bool was_just_evicted = false;  // gone at once, in this pass
  Stage stage = Stage::kPending;
  bool assumed_gone = false;  // while a plan is made: a victim of it
  Minute submitted = 0;
  Minute ready = 0;  // W2
  Minute pending_since = 0;
  Minute start = 0;
  std::optional<Minute> limit_end;  // of a run; none: it never ends
  Minute saved_at = 0;
  Minute grace_end = 0;
  std::int64_t claim_number = 0;
  std::vector<Share> shares;  // held, or claimed
  Amounts charge;             // of the run or claim
  std::int64_t evictions = 0;
  Minute backoff_until = 0;
  std::string reason;
  std::optional<Minute> planned;
};

struct Reservation {
  scenario::Reservation spec;
  std::optional<std::size_t> owner;
  std::vector<std::string> nodes;
  bool is_open = false;  // in its window
};

/// A planned start of rule B2.
struct Planned {
  std::size_t job = 0;
  Minute start = 0;
  std::optional<Minute> end;  // none: never
  std::vector<Share> shares;
};

struct World {
  scenario::Policy policy;
  std::map<std::string, std::int64_t> licenses;
  std::vector<Node> nodes;
  std::vector<Quota> quotas;
  std::vector<Job> jobs;
  std::vector<Reservation> reservations;
  std::map<std::string, double> user_history;
  std::map<std::size_t, double> gpu_minutes_used;  // by quota: ended runs (Q5)
  std::map<std::string, std::int64_t> throttles;   // by array
  std::int64_t claims_made = 0;
  Minute now = 0;
};

/// One way to start a job: so many nodes of this flavor.
struct Variant {
  std::int64_t size = 0;
  std::string flavor;
};

const Node& node_named(const World& world, const std::string& name);
Reservation* find_reservation(World& world, const std::string& name);
const Reservation* find_reservation(const World& world, const std::string& name);

/// Queue first, the first level last.
std::vector<std::size_t> path_of(const World& world, std::size_t quota);
bool is_below(const World& world, std::size_t quota, std::size_t ancestor);
std::size_t common_ancestor(const World& world, std::size_t a, std::size_t b);
/// The child of `ancestor` on the way to `quota`; nullopt if they are one.
std::optional<std::size_t> child_towards(const World& world, std::size_t ancestor,
                                         std::size_t quota);

std::int64_t amount(const Amounts& amounts, const std::string& resource);

/// Runs inside an open reservation that it names (R3): such work does not count as use.
bool is_inside(const World& world, const Job& job);
/// Active: running or holding a claim, and not a victim of the plan in the making.
bool is_active(const Job& job);
/// Since when it waits in earnest: O2, F3.
Minute waits_since(const Job& job);
/// Tasks of the job's array that hold something (J2).
std::int64_t tasks_holding(const World& world, const Job& job);
/// Rule O2.
bool is_starving(const World& world, const Job& job);

/// The nodes and amounts that a job of that size asks for.
std::vector<scenario::Component> parts_of(const Job& job, std::int64_t size);
std::int64_t largest_size(const Job& job);
std::int64_t smallest_size(const Job& job);
/// Thousandths of GPUs on one node.
std::int64_t milli_of(const scenario::Component& part);
std::int64_t milli_of(const Share& share);
/// Sizes from large to small, rule G3.
std::vector<std::int64_t> sizes_of(const Job& job);
/// What a start would be charged (X2: an exclusive job for whole nodes). Zero amounts are left out.
Amounts charge_of(const World& world, const Job& job, const Variant& variant);
std::int64_t gpus_of(const Amounts& amounts);
/// GPUs x (now - last checkpoint or start).
std::int64_t lost_work(const World& world, const Job& job);

}  // namespace artel::reference
