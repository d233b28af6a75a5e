#include "ctld/main/daemon.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/text.h"
#include "config/config.h"
#include "ctld/core/controller.h"
#include "ctld/main/housekeeping.h"
#include "ctld/services/server.h"
#include "ctld/store/disk_space.h"
#include "ctld/store/reader.h"
#include "ctld/store/sqlite_store.h"
#include "rpc/identity.h"
#include "rpc/node_key.h"

namespace artel::ctld {
namespace {

constexpr std::size_t kReaders = 2;
constexpr std::size_t kStepKeyBytes = 32;

/// Signals that end the daemon or make it read its teams again, blocked in all threads and taken by
/// wait().
class Signals {
 public:
  Signals() {
    sigemptyset(&signals_);
    sigaddset(&signals_, SIGHUP);
    sigaddset(&signals_, SIGTERM);
    sigaddset(&signals_, SIGINT);
    pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
    std::signal(SIGPIPE, SIG_IGN);
  }

  /// The signal that came. After one that ends the daemon, another one ends the process at once.
  [[nodiscard]] int wait() const {
    int signal = 0;
    while (sigwait(&signals_, &signal) != 0) {
    }
    if (signal != SIGHUP) pthread_sigmask(SIG_UNBLOCK, &signals_, nullptr);
    return signal;
  }

 private:
  sigset_t signals_{};
};

/// One descriptor for each agent and client.
void raise_descriptor_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

Result<> make_state_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (!error) return {};
  return fail(ErrorCode::kStorage, fmt::format("cannot make the state folder '{}': {}",
                                               folder.string(), error.message()));
}

std::filesystem::path store_path(const config::SiteConfig& site) {
  return site.ctld_state / "state.db";
}

struct OpenStore {
  std::unique_ptr<DiskSpace> space;
  std::unique_ptr<SqliteStore> store;
  StoredState state;
  std::vector<std::unique_ptr<StoreReader>> readers;
  std::unique_ptr<StoreReader> own_reader;  // of housekeeping
};

Result<OpenStore> open_all(const config::SiteConfig& site, bool first_start) {
  if (first_start) {
    if (auto made = make_state_folder(site.ctld_state); !made) return fail(made);
  }
  const std::filesystem::path path = store_path(site);
  OpenStore out;
  const bool has_budgets = std::ranges::any_of(
      site.teams.teams, [](const TeamConfig& team) { return team.budget.has_value(); });
  out.space =
      std::make_unique<DiskSpace>(site.ctld_state, SpaceLimits{site.min_free, site.reserve});
  auto store = open_store(
      path, {.first_start = first_start, .count_used = has_budgets, .space = out.space.get()});
  if (!store) return fail(store);
  out.store = std::move(*store);
  std::vector<std::string> names;
  for (const NodeConfig& node : site.nodes) names.push_back(node.name);
  out.store->set_node_names(std::move(names));
  auto state = out.store->load();
  if (!state) return fail(state);
  out.state = std::move(*state);
  for (const SetAside& one : out.store->set_aside())
    spdlog::error("set aside: {} {}: {}", one.kind, one.name, one.why);
  if (const std::size_t count = out.store->set_aside().size(); count > 0)
    spdlog::error("{} records of the store were set aside; 'artel admin lost-and-found' lists them",
                  count);
  for (std::size_t i = 0; i < kReaders; ++i) {
    auto reader = open_reader(path);
    if (!reader) return fail(reader);
    out.readers.push_back(std::move(*reader));
  }
  auto reader = open_reader(path);
  if (!reader) return fail(reader);
  out.own_reader = std::move(*reader);
  return out;
}

ControllerConfig core_config(const config::SiteConfig& site) {
  ControllerConfig out;
  out.cluster = site.cluster;
  out.nodes = site.nodes;
  out.teams = site.teams;
  out.policy = site.policy;
  out.master_port_first = site.master_port_first;
  out.master_port_last = site.master_port_last;
  out.prepare_timeout = site.prepare_timeout;
  out.strikes_to_drain = site.strikes_to_drain;
  out.max_array_tasks = site.max_array_tasks;
  out.strike_window = site.strike_window;
  return out;
}

/// Made at the first start. Lost, a new one only means that probes fail until all agents have it.
Result<std::string> probe_secret(const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / "probe.key";
  auto key = rpc::read_key_file(file);
  if (!key && key.error().code == ErrorCode::kNotFound) {
    if (auto made = rpc::generate_key_file(file); !made) return fail(made);
    key = rpc::read_key_file(file);
  }
  if (!key) return fail(key);
  return std::string(key->data(), key->data() + rpc::kKeyBytes);
}

ServerOptions server_options(const config::SiteConfig& site, Incarnation incarnation) {
  ServerOptions out;
  out.listen = site.listen;
  out.cluster = site.cluster;
  out.version = ARTEL_VERSION;
  out.incarnation = incarnation;
  for (const NodeConfig& node : site.nodes) out.nodes.push_back(node.name);
  out.node_keys = site.node_keys;
  out.operators = site.operators;
  out.default_output = site.output;
  return out;
}

/// A store that could not commit may have lost what memory holds: only a restart tells what is
/// there.
[[noreturn]] void end_for(const Error& error) {
  spdlog::critical("{}; the controller ends, jobs go on", error.text);
  spdlog::shutdown();
  ::_exit(error_exit_code(error.code));
}

/// The store stays with the caller; state and readers move on.
ServerParts server_parts(OpenStore& opened, const config::SiteConfig& site) {
  SqliteStore* store = opened.store.get();
  const Time now = std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
  ServerParts out;
  out.controller = std::make_unique<Controller>(
      core_config(site), std::move(opened.state), [] { return rpc::random_bytes(kStepKeyBytes); },
      now);
  if (const Duration ahead = out.controller->begin() - now; ahead > Duration::zero()) {
    spdlog::warn(
        "the clock is {} behind what the store has seen; times go on from there, at half "
        "speed until the clock has caught up",
        format_duration(ahead));
  }
  out.store = store;
  out.readers = std::move(opened.readers);
  out.set_aside = store->set_aside();
  out.identify = [socket = site.munge_socket](const std::string& credential) {
    return rpc::identify(credential, socket);
  };
  out.groups = rpc::groups_of;
  out.room = [space = opened.space.get()] { return space->check(); };
  out.fatal = end_for;
  out.idle = [store] { return store->idle(); };
  return out;
}

HousekeepingOptions housekeeping_options(const config::SiteConfig& site) {
  HousekeepingOptions out;
  out.store = store_path(site);
  out.backups = site.backups;
  out.backup_every = site.backup_every;
  out.backup_keep = site.backup_keep;
  out.exports = site.history_export;
  out.history = site.history;
  return out;
}

HousekeepingParts housekeeping_parts(OpenStore& opened, Server& server) {
  HousekeepingParts out;
  out.store = opened.store.get();
  out.space = opened.space.get();
  out.reader = std::move(opened.own_reader);
  out.on_writer = [&server](std::move_only_function<Result<>()> work) {
    server.chore(std::move(work));
  };
  out.pause_starts = [&server](bool paused) { server.pause_starts(paused); };
  return out;
}

/// For programs that must find a port that was chosen by the kernel.
Result<> write_port_file(const std::filesystem::path& folder, std::uint16_t port) {
  const std::filesystem::path path = folder / "port";
  const std::filesystem::path temporary = folder / "port.new";
  {
    std::ofstream file(temporary, std::ios::trunc);
    file << port << '\n';
    file.close();
    if (!file) {
      return fail(ErrorCode::kStorage, fmt::format("cannot write '{}'", temporary.string()));
    }
  }
  std::error_code error;
  std::filesystem::rename(temporary, path, error);
  if (!error) return {};
  return fail(ErrorCode::kStorage,
              fmt::format("cannot write '{}': {}", path.string(), error.message()));
}

void tell_ready(const config::SiteConfig& site, const Server& server, Incarnation incarnation) {
  fmt::print(stderr,
             "ready: artel-ctld {} of cluster {}, {} nodes, listens on {} (port {}), start {}\n",
             ARTEL_VERSION, site.cluster, site.nodes.size(), site.listen, server.port(),
             incarnation.value);
  sd_notify(0, "READY=1");
}

void tell_reloading() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  const auto micros = std::chrono::duration_cast<std::chrono::microseconds>(now).count();
  sd_notify(0, fmt::format("RELOADING=1\nMONOTONIC_USEC={}", micros).c_str());
}

void tell_reloaded(const Result<std::size_t>& changed) {
  if (changed) {
    spdlog::info("teams.d is read again: {} cohorts and teams have new terms", *changed);
  } else {
    spdlog::error("teams.d is not taken over, the teams stay as they are: {}",
                  changed.error().text);
  }
  sd_notify(0, "READY=1");
}

/// What the files say of teams counts from now on, or nothing of it does.
void reload_teams(const config::SiteConfig& running, Server& server) {
  tell_reloading();
  auto site = config::load_config(running.folder);
  if (!site) return tell_reloaded(fail(site));
  // Amounts count GPUs of the types that the controller knows.
  if (site->nodes != running.nodes) {
    return tell_reloaded(
        fail(ErrorCode::kConfig,
             "cluster.d has changed too, which needs a restart of artel-ctld; jobs outlive it"));
  }
  server.change_teams(std::move(site->teams), tell_reloaded);
}

}  // namespace

Result<> run_daemon(const DaemonOptions& options) {
  const Signals signals;
  ::umask(077);
  raise_descriptor_limit();
  const auto site = config::load_config(options.config);
  if (!site) return fail(site);
  auto opened = open_all(*site, options.first_start);
  if (!opened) return fail(opened);
  const Incarnation incarnation = opened->state.incarnation;
  auto secret = probe_secret(site->ctld_state);
  if (!secret) return fail(secret);
  ServerOptions options_of_server = server_options(*site, incarnation);
  options_of_server.probe_secret = std::move(*secret);
  Server server(std::move(options_of_server), server_parts(*opened, *site));
  if (auto started = server.start(); !started) return started;
  if (auto written = write_port_file(site->ctld_state, server.port()); !written) return written;
  Housekeeping housekeeping(housekeeping_options(*site), housekeeping_parts(*opened, server));
  housekeeping.start();
  tell_ready(*site, server, incarnation);
  int signal = signals.wait();
  for (; signal == SIGHUP; signal = signals.wait()) reload_teams(*site, server);
  spdlog::info("stopping: {}; jobs go on", signal == SIGTERM ? "SIGTERM" : "SIGINT");
  sd_notify(0, "STOPPING=1");
  housekeeping.stop();
  server.stop();
  spdlog::info("stopped");
  return {};
}

}  // namespace artel::ctld
