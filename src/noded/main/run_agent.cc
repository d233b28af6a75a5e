#include "noded/main/run_agent.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <sys/resource.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <csignal>
#include <system_error>
#include <utility>

#include "base/text.h"
#include "config/config.h"
#include "noded/main/node_daemon.h"
#include "noded/main/peer_file.h"
#include "noded/os/inventory.h"
#include "noded/os/record_store.h"
#include "noded/os/state_lock.h"
#include "rpc/node_key.h"

namespace artel::noded {
namespace {

Result<NodeConfig> find_node(const config::SiteConfig& site, const std::string& name) {
  const auto node = std::find_if(site.nodes.begin(), site.nodes.end(),
                                 [&](const NodeConfig& known) { return known.name == name; });
  if (node != site.nodes.end()) return *node;
  std::vector<std::string_view> names;
  for (const NodeConfig& known : site.nodes) names.emplace_back(known.name);
  return fail(ErrorCode::kConfig,
              fmt::format("node '{}' is not in '{}'{}; give the name with --node", name,
                          (site.folder / "cluster.d").string(), did_you_mean(name, names)));
}

/// Each attempt holds a connection; the helper, and with it all step daemons, keeps the old limit.
void allow_many_files() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

Result<NodeSetup> set_up(const AgentOptions& options) {
  if (::geteuid() != 0) {
    return fail(ErrorCode::kPermissionDenied,
                "the agent must run as root: it starts processes as the users who own the jobs");
  }
  const auto site = config::load_config(options.config);
  if (!site) return fail(site);
  auto node = find_node(*site, options.node);
  if (!node) return fail(node);
  auto inventory = take_inventory(*node, options.version);
  if (!inventory) return fail(inventory);
  const auto key_file = config::for_node(site->node_key, node->name);
  if (const auto key = rpc::read_key_file(key_file); !key) return fail(key);
  NodeSetup setup;
  setup.state = std::filesystem::absolute(config::for_node(site->node_state, node->name));
  setup.stream.address = site->controller;
  setup.stream.node = node->name;
  setup.stream.key_file = key_file;
  setup.stream.version = options.version;
  setup.inventory = std::move(*inventory);
  // Several agents of simulated nodes run on one machine.
  setup.probe_port = node->simulated ? std::uint16_t{0} : site->probe_port;
  setup.node = std::move(*node);
  return setup;
}

}  // namespace

Result<std::filesystem::path> find_stepd(const std::string& option) {
  std::error_code error;
  std::filesystem::path path = option;
  if (option.empty()) {
    path = std::filesystem::read_symlink("/proc/self/exe", error).parent_path() / "artel-stepd";
  } else {
    path = std::filesystem::absolute(path, error);
  }
  if (error || ::access(path.c_str(), X_OK) != 0) {
    return fail(ErrorCode::kConfig,
                fmt::format("'{}' cannot be started; name the step daemon's program with --stepd",
                            path.string()));
  }
  return path;
}

Result<> run_agent(const AgentOptions& options, SpawnServer helper) {
  auto setup = set_up(options);
  if (!setup) return fail(setup);
  if (auto made = make_folder(setup->state, Passage::kAll); !made) return made;
  const auto lock = lock_state(setup->state);
  if (!lock) return fail(lock);
  allow_many_files();
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGHUP, SIG_IGN);

  RecordStore store(setup->state, setup->node.name);
  const auto now = std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
  auto loaded = store.load(setup->inventory.boot_id, now);
  if (!loaded) return fail(loaded);
  for (const std::string& warning : loaded->warnings) spdlog::error("{}", warning);
  spdlog::info("artel-noded {} of node {}{}: {} attempts from before{}", options.version,
               setup->node.name, setup->node.simulated ? " (simulated)" : "",
               loaded->records.size(), loaded->rebooted ? ", ended by a reboot" : "");
  auto peers = load_peers(setup->state);
  // Until the controller has given new ones, a node that is cut off then would not stop by itself.
  if (!peers) spdlog::error("list of probe peers: {}; it begins without any", peers.error().text);
  if (peers) setup->peers = std::move(*peers);
  auto kept = load_contacts(setup->state);
  if (!kept) spdlog::error("{}; the agent's lease begins anew", kept.error().text);
  if (kept) setup->kept = std::move(*kept);
  auto folder = StepFolder::open(setup->state);
  if (!folder) return fail(folder);

  boost::asio::io_context loop(1);
  NodeDaemon daemon(loop, std::move(*setup), std::move(store), std::move(loaded->records),
                    std::move(*folder), std::move(helper));
  const auto outcome = daemon.run([] { ::sd_notify(0, "READY=1"); });
  ::sd_notify(0, "STOPPING=1");
  return outcome;
}

}  // namespace artel::noded
