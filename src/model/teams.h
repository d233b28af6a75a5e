// Cohorts, teams, queues and classes as the site configures them: the quota tree by names.
//
// Amounts are whole GPUs by type and CPU cores. What they mean is said by the rules of scheduling
// (src/sched/RULES.md); here they are only values.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"

namespace artel {

/// The key of CPU cores among GPU types.
inline constexpr std::string_view kCoresKey = "cores";

/// Whole GPUs by type, and cores. A type that is not there: 0 of a guarantee, no bound otherwise.
using QuotaAmounts = std::map<std::string, std::int64_t>;

/// What a cohort or team is promised and allowed (rules Q).
struct QuotaTerms {
  std::optional<QuotaAmounts> guarantee;
  QuotaAmounts limit;
  QuotaAmounts borrow;
  QuotaAmounts lend;
  double weight = 1;

  bool operator==(const QuotaTerms&) const = default;
};

/// Users, and members of directory groups. Both empty: everybody.
struct AccessList {
  std::vector<std::string> users;
  std::vector<std::string> groups;

  bool operator==(const AccessList&) const = default;
};

struct CohortConfig {
  std::string name;
  std::string parent;  // a cohort; empty: none
  QuotaTerms terms;

  bool operator==(const CohortConfig&) const = default;
};

struct TeamConfig {
  std::string name;
  std::string cohort;  // empty: none
  QuotaTerms terms;
  AccessList access;
  std::optional<double> budget;  // GPU-hours (Q5)

  bool operator==(const TeamConfig&) const = default;
};

struct QueueConfig {
  std::string name;
  std::string team;                  // empty: each team has one of this name
  std::string job_class;             // of jobs that name none; empty: kDefaultClass
  std::vector<std::string> classes;  // that it admits; empty: all
  std::optional<Duration> max_time;  // also the limit of jobs that state none
  std::optional<std::int64_t> max_jobs_per_user;
  std::optional<std::int64_t> max_gpus_per_user;
  bool strict_fifo = false;
  AccessList access;

  bool operator==(const QueueConfig&) const = default;
};

/// A named preset that is resolved at submit (K1).
struct ClassConfig {
  std::string name;
  std::int32_t priority{};
  bool preemptible = true;
  Duration grace{};

  bool operator==(const ClassConfig&) const = default;
};

/// The class of jobs that name none in queues that name none (K2).
inline constexpr std::string_view kDefaultClass = "development";
/// Priorities of two classes differ by at least so much, and a job's own lies closer to 0 than half
/// of it, so that no wish of a user puts a job before one of a higher class (K3).
inline constexpr std::int32_t kClassDistance = 100;
inline constexpr std::int32_t kMostOwnPriority = 49;

/// The presets of rule K4.
std::vector<ClassConfig> default_classes();

struct TeamsConfig {
  std::vector<CohortConfig> cohorts;  // parents before children
  std::vector<TeamConfig> teams;      // empty: any name is accepted
  std::vector<QueueConfig> queues;    // empty: any name is accepted
  std::vector<ClassConfig> classes = default_classes();

  [[nodiscard]] const TeamConfig* find_team(std::string_view name) const;
  [[nodiscard]] const QueueConfig* find_queue(std::string_view name) const;
  [[nodiscard]] const ClassConfig* find_class(std::string_view name) const;
};

}  // namespace artel
