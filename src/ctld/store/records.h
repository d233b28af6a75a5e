// What readers of the store get: jobs with all their attempts, and sums of what was held.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/units.h"
#include "model/job.h"

namespace artel::ctld {

/// An attempt with the names of its nodes as they were then; the configuration may have changed
/// since. `attempt.parts[i].share.node` is NodeId{i}: the index into `nodes`.
struct HistoryAttempt {
  Attempt attempt;
  std::vector<std::string> nodes;
};

/// `job.attempt` is null and `job.excluded` is empty here.
struct HistoryJob {
  Job job;
  std::vector<HistoryAttempt> attempts;  // oldest first
};

/// Jobs whose time between submission and end meets [from, to).
struct HistoryFilter {
  std::string user;  // empty: all
  std::string team;  // empty: all
  Time from;
  Time to = Time::max();
  std::vector<JobId> jobs;    // empty: all
  std::uint32_t limit = 100;  // newest first
};

/// Some of the jobs, by ascending number, that ended before a time.
struct EndedJobs {
  std::vector<HistoryJob> jobs;
  JobId last;           // that was looked at
  bool is_end = false;  // no later job can have ended before
};

/// Something that a start could not read: its rows stay in the file and are left out of memory.
struct SetAside {
  std::string kind;  // "job", "node", "token", "past", "claim", "index", "usage"
  std::string name;  // the job's number, the node's name, ...
  std::string why;

  bool operator==(const SetAside&) const = default;
};

enum class UsageBy : std::uint8_t { kTeam, kUser, kQueue, kNode, kDay };

/// "team", "user", "queue", "node", "day"; nullopt for other words.
std::optional<UsageBy> parse_usage_by(std::string_view word);

struct UsageFilter {
  Time from;
  Time to;
  Time now;  // what is still held counts until now
  UsageBy by = UsageBy::kTeam;
};

/// What was held inside [from, to) under one key. A job or attempt counts under every key it
/// touches, so only the amounts add up to the same sum whatever the cut.
struct UsageRow {
  std::string key;  // a day is "2026-11-30", UTC
  std::uint64_t jobs{};
  std::uint64_t attempts{};
  std::uint64_t gpu_ms{};
  std::uint64_t cpu_ms{};
  std::uint64_t node_ms{};

  bool operator==(const UsageRow&) const = default;
};

}  // namespace artel::ctld
