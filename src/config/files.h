// The grammar of each kind of file. Mistakes are told through the source; what was right is kept.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "config/config.h"
#include "config/document.h"
#include "config/section.h"

namespace artel::config {

/// Where each name was defined, as "file:line"; tells a second definition.
class Names {
 public:
  explicit Names(std::string_view what) : what_(what) {}
  /// False: it was there already, and the mistake is told.
  bool add(const Source& source, const Value& table, std::string_view key, const std::string& name);
  [[nodiscard]] const std::map<std::string, std::string>& places() const { return places_; }

 private:
  std::string_view what_;
  std::map<std::string, std::string> places_;
};

/// artel.toml
void read_site(const Source& source, const Value& document, SiteConfig& config);
/// cluster.d/*.toml
void read_cluster(const Source& source, const Value& document, Names& names, SiteConfig& config);

/// [scheduler] of artel.toml
void read_scheduler(Section section, sched::Policy& policy);

/// Where the parts of the quota tree were defined, and which GPU types amounts may name.
struct TeamNames {
  Names cohorts{"cohort"};
  Names teams{"team"};
  Names queues{"queue"};
  Names classes{"class"};
  std::optional<std::vector<std::string>> gpu_types;  // nullopt: any
  std::map<std::string, std::string> owners;          // of nodes, as the teams say
};
/// teams.d/*.toml
void read_teams(const Source& source, const Value& document, TeamNames& names, TeamsConfig& teams);

/// guarantee, limit, borrow, lend, weight of a cohort or team.
void read_terms(Section& section, const TeamNames& names, QuotaTerms& terms);

/// Checks what must fit together between the files of teams.d, and orders the cohorts.
void check_teams(const TeamNames& names, TeamsConfig& teams, Mistakes& mistakes);
/// Checks and resolves who owns which node.
void check_owners(const Names& nodes, const TeamNames& names, SiteConfig& config,
                  Mistakes& mistakes);

}  // namespace artel::config
