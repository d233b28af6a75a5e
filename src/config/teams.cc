// teams.d: cohorts, teams, queues and classes. What a version does not act on is refused.
#include <fmt/format.h>

#include <algorithm>

#include "base/hostlist.h"
#include "base/text.h"
#include "config/files.h"
#include "model/job_spec.h"

namespace artel::config {
namespace {

constexpr std::uint64_t kMostPerUser = 1'000'000;
constexpr double kMostBudget = 1e12;

std::string read_name(Section& section) {
  std::string name;
  section.require("name");
  if (!section.text("name", name)) return {};
  const bool is_word = !name.empty() && name.front() != '-' &&
                       name.find_first_of(" \t\n\"',;/") == std::string::npos;
  if (is_word) return name;
  section.mistake("name", fmt::format("'{}' must be one word that does not begin with '-'", name));
  return {};
}

void read_access(Section& section, AccessList& access) {
  section.texts("users", access.users);
  section.texts("groups", access.groups);
}

void read_count(Section& section, std::string_view key, std::optional<std::int64_t>& out) {
  if (std::uint64_t count = 0; section.number(key, 0, kMostPerUser, count))
    out = static_cast<std::int64_t>(count);
}

void read_cohort(const Source& source, const Value& table, TeamNames& names, TeamsConfig& teams) {
  Section section(source, "cohort", table);
  CohortConfig cohort;
  cohort.name = read_name(section);
  if (section.text("parent", cohort.parent) && cohort.parent.empty())
    section.mistake("parent", "is empty; leave it out for a cohort at the top");
  read_terms(section, names, cohort.terms);
  section.end();
  if (!cohort.name.empty() && names.cohorts.add(source, table, "cohort.name", cohort.name))
    teams.cohorts.push_back(std::move(cohort));
}

/// Which nodes are the team's alone: the other way round than `owner` of a node.
void read_owned(Section& section, const std::string& team, TeamNames& names) {
  std::string list;
  if (!section.text("nodes", list)) return;
  const auto nodes = unfold_hosts(list);
  if (!nodes) return section.mistake("nodes", nodes.error().text);
  for (const std::string& node : *nodes) {
    const auto [owner, is_new] = names.owners.emplace(node, team);
    if (!is_new && owner->second != team)
      section.mistake("nodes", fmt::format("'{}' is team '{}''s already", node, owner->second));
  }
}

void read_team(const Source& source, const Value& table, TeamNames& names, TeamsConfig& teams) {
  Section section(source, "team", table);
  TeamConfig team;
  team.name = read_name(section);
  section.text("cohort", team.cohort);
  read_terms(section, names, team.terms);
  read_access(section, team.access);
  if (double budget = 0; section.real("budget", 0, kMostBudget, budget)) team.budget = budget;
  if (!team.name.empty()) read_owned(section, team.name, names);
  for (const char* key : {"leads", "spares"}) section.not_yet(key);
  section.end();
  if (!team.name.empty() && names.teams.add(source, table, "team.name", team.name))
    teams.teams.push_back(std::move(team));
}

void read_queue(const Source& source, const Value& table, TeamNames& names, TeamsConfig& teams) {
  Section section(source, "queue", table);
  QueueConfig queue;
  queue.name = read_name(section);
  if (section.text("team", queue.team) && queue.team.empty())
    section.mistake("team", "is empty; leave it out for a queue of all teams");
  section.text("class", queue.job_class);
  section.texts("classes", queue.classes);
  section.duration("max_time", queue.max_time);
  read_count(section, "max_jobs_per_user", queue.max_jobs_per_user);
  read_count(section, "max_gpus_per_user", queue.max_gpus_per_user);
  section.flag("strict_fifo", queue.strict_fifo);
  read_access(section, queue.access);
  // The jobs of one team form one line, whatever their queues: a weight would say nothing.
  for (const char* key : {"weight", "spares", "idle_timeout"}) section.not_yet(key);
  section.end();
  if (!queue.name.empty() && names.queues.add(source, table, "queue.name", queue.name))
    teams.queues.push_back(std::move(queue));
}

/// False: no priority is given.
bool read_class_values(Section& section, ClassConfig& out) {
  constexpr std::uint64_t kMostPriority = 1'000'000;
  std::uint64_t priority = 0;
  const bool has_priority = section.number("priority", 0, kMostPriority, priority);
  if (has_priority) out.priority = static_cast<std::int32_t>(priority);
  section.flag("preemptible", out.preemptible);
  if (section.span("grace", out.grace) && out.grace > kMaxGrace)
    section.mistake("grace", fmt::format("is more than {}, the most that a job may have",
                                         format_duration(kMaxGrace)));
  return has_priority;
}

/// A class of that name is changed where there is one already, else made.
void read_class(const Source& source, const Value& table, TeamNames& names, TeamsConfig& teams) {
  Section section(source, "class", table);
  const std::string name = read_name(section);
  const auto known = std::ranges::find(teams.classes, name, &ClassConfig::name);
  const bool is_new = known == teams.classes.end();
  ClassConfig made{.name = name, .grace = std::chrono::seconds{60}};
  if (is_new) section.require("priority");
  const bool has_priority = read_class_values(section, is_new ? made : *known);
  section.end();
  if (name.empty() || !names.classes.add(source, table, "class.name", name)) return;
  if (is_new && has_priority) teams.classes.push_back(std::move(made));
}

}  // namespace

void read_teams(const Source& source, const Value& document, TeamNames& names, TeamsConfig& teams) {
  Section top(source, "", document);
  for (const Value* table : top.tables("cohort")) read_cohort(source, *table, names, teams);
  for (const Value* table : top.tables("team")) read_team(source, *table, names, teams);
  for (const Value* table : top.tables("queue")) read_queue(source, *table, names, teams);
  for (const Value* table : top.tables("class")) read_class(source, *table, names, teams);
  top.end();
}

}  // namespace artel::config
