// The teams file: what each team is guaranteed, in the grammar of teams.d.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "sim/trace/workload.h"

namespace artel::trace {

/// A team; amounts by GPU type, the empty name where the file gives one number for all types.
struct Team {
  std::string name;
  std::string cohort;
  std::optional<std::map<std::string, std::uint64_t>> guarantee;
  std::optional<std::uint64_t> limit;
  std::optional<std::uint64_t> borrow;
  std::optional<std::uint64_t> lend;
  std::uint64_t weight = 1;
};

struct Teams {
  std::vector<Team> teams;           // in written order
  std::vector<std::string> cohorts;  // in written order

  [[nodiscard]] const Team* find(const std::string& name) const;
};

/// The sum over all types in thousandths; nullopt: the team is guaranteed nothing in particular.
std::optional<Milli> guarantee_of(const Team& team);

/// Error: kConfig with one line per mistake, "file:line: key: what".
Result<Teams> read_teams_file(const std::filesystem::path& file);

}  // namespace artel::trace
