// artel-noded: the agent of one node. Options here, everything else in run_agent.cc.
#include <fmt/format.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cstdio>
#include <string>
#include <utility>

#include "base/result.h"
#include "config/config.h"
#include "noded/main/run_agent.h"
#include "noded/os/spawner.h"

namespace {

constexpr int kUsageError = 2;

struct Options {
  std::string config;
  std::string node;
  std::string stepd;
  std::string log_level = "info";
};

/// The first part of the machine's name.
std::string host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return {};
  const std::string text(name.data());
  return text.substr(0, text.find('.'));
}

void add_options(CLI::App& app, Options& options) {
  app.add_option("--config", options.config, "Configuration folder ($ARTEL_CONFIG, /etc/artel)")
      ->type_name("DIR");
  app.add_option("--node", options.node, "Node that this agent speaks for (this host's name)")
      ->type_name("NAME");
  app.add_option("--stepd", options.stepd, "The step daemon's program (beside this one)")
      ->type_name("PATH");
  app.add_option("--log-level", options.log_level, "Least severity that is logged")
      ->type_name("LEVEL")
      ->check(CLI::IsMember({"debug", "info", "warn", "error"}));
  app.set_version_flag("--version", std::string("artel-noded ") + ARTEL_VERSION);
  app.footer("Example: artel-noded --config /etc/artel --node hgx01");
}

void start_log(const std::string& level, const std::string& node) {
  const auto logger = spdlog::stderr_logger_mt("artel-noded");
  logger->set_pattern("%Y-%m-%dT%H:%M:%S.%e " + node + " %l: %v");
  logger->set_level(spdlog::level::from_str(level));
  logger->flush_on(spdlog::level::trace);
  spdlog::set_default_logger(logger);
}

artel::Result<artel::noded::SpawnServer> fork_step_server(const std::string& option) {
  const auto stepd = artel::noded::find_stepd(option);
  if (!stepd) return artel::fail(stepd);
  return artel::noded::fork_spawn_helper(
      [&](int channel) { return artel::noded::become_step_server(*stepd, channel); });
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("The agent of a node of an Artel cluster: prepares, starts and watches jobs.");
  Options options;
  add_options(app, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsageError;
  }
  // Before any thread, lock or socket exists that step daemons must not inherit.
  auto helper = fork_step_server(options.stepd);
  artel::Result<> done = helper ? artel::Result<>{} : artel::fail(helper);
  if (done) {
    if (options.node.empty()) options.node = host_name();
    start_log(options.log_level, options.node);
    done = artel::noded::run_agent({.config = artel::config::config_folder(options.config),
                                    .node = options.node,
                                    .version = ARTEL_VERSION},
                                   std::move(*helper));
  }
  if (done) return 0;
  fmt::print(stderr, "artel-noded: {}\n", done.error().text);
  return artel::error_exit_code(done.error().code);
}
