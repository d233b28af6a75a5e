// artel-ctld: the controller of a cluster. Options here, everything else in daemon.cc,
// node_keys.cc and restoring.cc.
#include <fmt/format.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "config/config.h"
#include "ctld/main/daemon.h"
#include "ctld/main/node_keys.h"
#include "ctld/main/restoring.h"

namespace {

constexpr int kUsageError = 2;

struct Options {
  std::string config;
  bool first_start = false;
  std::string log_level = "info";
  std::vector<std::string> make_node_keys;
  std::string restore;
};

void add_options(CLI::App& app, Options& options) {
  app.add_option("--config", options.config, "Configuration folder ($ARTEL_CONFIG, /etc/artel)")
      ->type_name("DIR");
  app.add_flag("--first-start", options.first_start,
               "Make the store where there is none; without it a missing store is an error");
  app.add_option("--log-level", options.log_level, "Least severity that is logged")
      ->type_name("LEVEL")
      ->check(CLI::IsMember({"debug", "info", "warn", "error"}));
  app.add_option("--make-node-key", options.make_node_keys,
                 "Make the keys of these nodes where they are missing, print their paths, and end")
      ->type_name("NAME");
  app.add_option("--restore", options.restore,
                 "Put a copy of this backup in the place of the store, keep the present one beside "
                 "it, and end")
      ->type_name("FILE")
      ->excludes("--first-start")
      ->excludes("--make-node-key");
  app.set_version_flag("--version", std::string("artel-ctld ") + ARTEL_VERSION);
  app.footer("Example: artel-ctld --config /etc/artel");
}

void start_log(const std::string& level) {
  const auto logger = spdlog::stderr_logger_mt("artel-ctld");
  logger->set_pattern("%Y-%m-%dT%H:%M:%S.%e %l: %v");
  logger->set_level(spdlog::level::from_str(level));
  spdlog::set_default_logger(logger);
}

artel::Result<> run(const Options& options) {
  const auto config = artel::config::config_folder(options.config);
  if (!options.make_node_keys.empty()) {
    return artel::ctld::make_node_keys(config, options.make_node_keys);
  }
  if (!options.restore.empty()) return artel::ctld::restore_backup(config, options.restore);
  return artel::ctld::run_daemon({config, options.first_start});
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("The controller of an Artel cluster: holds its state, decides, stores, serves.");
  Options options;
  add_options(app, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsageError;
  }
  start_log(options.log_level);
  const auto done = run(options);
  if (done) return 0;
  fmt::print(stderr, "artel-ctld: {}\n", done.error().text);
  return artel::error_exit_code(done.error().code);
}
