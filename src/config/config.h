// The site's configuration: artel.toml, cluster.d/*.toml, teams.d/*.toml of one folder.
//
// Lookup of the folder: --config, $ARTEL_CONFIG, /etc/artel. Unknown keys and wrong types are
// errors with file, line and key, and all of them are reported at once.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "model/node.h"
#include "model/teams.h"
#include "sched/facts.h"

namespace artel::config {

struct SiteConfig {
  std::filesystem::path folder;

  // [cluster]
  std::string cluster = "artel";
  std::string controller = "localhost:7817";  // where agents and clients reach artel-ctld

  // [munge]
  std::string munge_socket;  // empty: munge's default

  // [ctld]
  std::string listen = "0.0.0.0:7817";
  std::filesystem::path ctld_state = "/var/lib/artel/ctld";
  std::filesystem::path node_keys = "/var/lib/artel/ctld/node-keys";  // <node>.key, 32 bytes in hex
  std::vector<std::string> operators = {"root"};  // users who may act on all jobs
  Duration prepare_timeout{std::chrono::seconds{60}};
  std::uint32_t strikes_to_drain = 3;  // 0: never
  std::uint32_t max_array_tasks = 1'000'000;
  Duration strike_window{std::chrono::hours{24}};
  std::uint16_t master_port_first = 29400;
  std::uint16_t master_port_last = 30399;
  std::filesystem::path backups = "/var/lib/artel/ctld/backups";  // <ctld_state>/backups
  Duration backup_every{std::chrono::hours{1}};                   // 0: never
  std::uint64_t backup_keep = 24;
  Bytes min_free{std::uint64_t{256} << 20U};  // on the disk of ctld_state; below it nothing new
  Bytes reserve{std::uint64_t{32} << 20U};    // kept for the ends of what runs
  Duration history{std::chrono::days{365}};   // 0: for ever
  std::filesystem::path history_export = "/var/lib/artel/ctld/history";  // <ctld_state>/history

  // [noded]; %n is the node's name
  std::string node_state = "/var/lib/artel/node/%n";
  std::string node_key = "/etc/artel/node-keys/%n.key";
  std::uint16_t probe_port = 7819;  // UDP, for other agents; 0: any

  // [jobs]
  std::string output = "artel-%j.out";

  sched::Policy policy;  // [scheduler]

  std::vector<NodeConfig> nodes;  // cluster.d, in file and written order
  TeamsConfig teams;              // teams.d
};

/// --config if not empty, else $ARTEL_CONFIG, else /etc/artel.
std::filesystem::path config_folder(const std::string& option);

/// Reads and checks the folder. Error: kConfig with one line per mistake, "file:line: key: what,
/// nearest valid word".
Result<SiteConfig> load_config(const std::filesystem::path& folder);

/// The node's own pattern with %n replaced.
std::filesystem::path for_node(const std::string& pattern, const std::string& node);

}  // namespace artel::config
