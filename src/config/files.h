// The grammar of each kind of file. Mistakes are told through the source; what was right is kept.
#pragma once

#include <map>
#include <string>

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

struct TeamNames {
  Names teams{"team"};
  Names queues{"queue"};
};
/// teams.d/*.toml
void read_teams(const Source& source, const Value& document, TeamNames& names, SiteConfig& config);

}  // namespace artel::config
