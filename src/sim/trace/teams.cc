#include "sim/trace/teams.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "config/files.h"

namespace artel::trace {
namespace {

using config::Entry;
using config::Section;
using config::Source;
using config::Value;

constexpr std::uint64_t kMostUnits = 100'000'000;
constexpr std::uint64_t kMostWeight = 1'000'000;

std::string read_name(Section& section) {
  std::string name;
  section.require("name");
  if (section.text("name", name) && name.empty()) section.mistake("name", "is empty");
  return name;
}

void read_units(Section& section, std::string_view key, std::optional<std::uint64_t>& out) {
  if (std::uint64_t units = 0; section.number(key, 0, kMostUnits, units)) out = units;
}

/// 16, or { h100 = 16, a100 = 8 }.
void read_guarantee(Section& section, Team& team) {
  const Value* value = section.any("guarantee");
  if (value == nullptr) return;
  if (std::holds_alternative<std::int64_t>(value->content)) {
    if (std::uint64_t units = 0; section.number("guarantee", 0, kMostUnits, units))
      team.guarantee = {{"", units}};
    return;
  }
  const auto* types = std::get_if<std::vector<Entry>>(&value->content);
  if (types == nullptr || types->empty())
    return section.mistake("guarantee", "must be a number, or a table such as { h100 = 16 }");
  std::map<std::string, std::uint64_t> amounts;
  for (const Entry& type : *types) {
    const auto* units = std::get_if<std::int64_t>(&type.value.content);
    if (units == nullptr || *units < 0 || static_cast<std::uint64_t>(*units) > kMostUnits) {
      return section.mistake(
          "guarantee", fmt::format("the amount of '{}' must be 0 to {}", type.key, kMostUnits));
    }
    amounts[type.key] = static_cast<std::uint64_t>(*units);
  }
  team.guarantee = std::move(amounts);
}

void read_team(const Source& source, const Value& table, config::Names& names, Teams& teams) {
  Section section(source, "team", table);
  Team team;
  team.name = read_name(section);
  section.text("cohort", team.cohort);
  read_guarantee(section, team);
  read_units(section, "limit", team.limit);
  read_units(section, "borrow", team.borrow);
  read_units(section, "lend", team.lend);
  section.number("weight", 0, kMostWeight, team.weight);
  // Who is in a team, and who leads it, says nothing to a replay.
  std::vector<std::string> ignored;
  section.texts("groups", ignored);
  section.texts("leads", ignored);
  section.end();
  if (!team.name.empty() && names.add(source, table, "team.name", team.name))
    teams.teams.push_back(std::move(team));
}

void check_cohorts(const Source& source, const config::Names& places, const Teams& teams) {
  const std::vector<std::string_view> known(teams.cohorts.begin(), teams.cohorts.end());
  for (const Team& team : teams.teams) {
    if (team.cohort.empty() || std::ranges::find(known, team.cohort) != known.end()) continue;
    source.mistakes.add(fmt::format("{}: team.cohort: there is no cohort '{}'{}",
                                    places.places().at(team.name), team.cohort,
                                    did_you_mean(team.cohort, known)));
  }
}

}  // namespace

const Team* Teams::find(const std::string& name) const {
  const auto at =
      std::ranges::find_if(teams, [&name](const Team& team) { return team.name == name; });
  return at == teams.end() ? nullptr : &*at;
}

std::optional<Milli> guarantee_of(const Team& team) {
  if (!team.guarantee) return std::nullopt;
  Milli sum = 0;
  for (const auto& [type, units] : *team.guarantee) sum += static_cast<Milli>(units) * kMilli;
  return sum;
}

Result<Teams> read_teams_file(const std::filesystem::path& file) {
  const auto document = config::read_document(file);
  if (!document) return fail(document);
  config::Mistakes mistakes;
  const std::string name = file.string();
  const Source source{name, mistakes};
  Teams teams;
  config::Names cohorts("cohort");
  config::Names names("team");
  Section top(source, "", *document);
  for (const Value* table : top.tables("cohort")) {
    Section section(source, "cohort", *table);
    const std::string cohort = read_name(section);
    section.end();
    if (!cohort.empty() && cohorts.add(source, *table, "cohort.name", cohort))
      teams.cohorts.push_back(cohort);
  }
  for (const Value* table : top.tables("team")) read_team(source, *table, names, teams);
  top.end();
  check_cohorts(source, names, teams);
  if (mistakes.none() && teams.teams.empty())
    mistakes.add(fmt::format("{}: has no [[team]]", name));
  if (!mistakes.none()) return fail(ErrorCode::kConfig, mistakes.text());
  return teams;
}

}  // namespace artel::trace
