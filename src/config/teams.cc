// teams.d: teams and queues. The grammar already has the quota tree; what is not acted on yet is
// refused.
#include <fmt/format.h>

#include "config/files.h"

namespace artel::config {
namespace {

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

void read_team(const Source& source, const Value& table, TeamNames& names, SiteConfig& config) {
  Section team(source, "team", table);
  const std::string name = read_name(team);
  for (const char* key : {"weight", "guarantee", "limit", "lend", "cohort", "groups", "leads"})
    team.not_yet(key);
  team.end();
  if (!name.empty() && names.teams.add(source, table, "team.name", name))
    config.teams.push_back(name);
}

void read_queue(const Source& source, const Value& table, TeamNames& names, SiteConfig& config) {
  Section queue(source, "queue", table);
  QueueConfig one;
  one.name = read_name(queue);
  if (queue.text("team", one.team) && one.team.empty())
    queue.mistake("team", "is empty; leave it out for a queue of all teams");
  for (const char* key : {"class", "max_time", "max_jobs_per_user"}) queue.not_yet(key);
  queue.end();
  if (!one.name.empty() && names.queues.add(source, table, "queue.name", one.name))
    config.queues.push_back(std::move(one));
}

}  // namespace

void read_teams(const Source& source, const Value& document, TeamNames& names, SiteConfig& config) {
  Section top(source, "", document);
  for (const Value* team : top.tables("team")) read_team(source, *team, names, config);
  for (const Value* queue : top.tables("queue")) read_queue(source, *queue, names, config);
  top.not_yet("cohort");
  top.end();
}

}  // namespace artel::config
