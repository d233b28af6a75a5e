// The benchmark of the whole system: rates and times through the client library, beside the floors
// of the same minute. `tests/bench/run` starts a cluster for it.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

#include "config/config.h"
#include "floors.h"
#include "load.h"

namespace {

using namespace artel;
using namespace artel::bench;

void row(std::string_view what, double value, std::string_view unit, double floor,
         std::string_view floor_name) {
  fmt::print("{:<52} {:>10.1f} {:<7}", what, value, unit);
  if (floor > 0) fmt::print(" {:>5.0f} % of {} ({:.1f})", 100 * value / floor, floor_name, floor);
  fmt::print("\n");
  std::fflush(stdout);
}

int usage() {
  fmt::print(stderr,
             "usage: artel_bench --config DIR --scratch DIR --artel PROGRAM [--seconds N] "
             "[--only submits|jobs|commands]\n");
  return 2;
}

void bench_submits(const Target& target, double seconds, double commits) {
  row("floor: gRPC calls that are refused at once, 1 client",
      refused_calls_per_second(target, seconds), "/s", 0, "");
  row("durable submits, 1 persistent client", submits_per_second(target, 1, seconds), "/s", commits,
      "commit rate");
  row("durable submits, 8 persistent clients", submits_per_second(target, 8, seconds), "/s",
      std::min(2000.0, 0.7 * 8 * commits), "min(2000, 70 % of 8 x commit rate)");
  row("durable submits, one call with 1,000 jobs", bulk_submits_per_second(target, 1000), "/s",
      20'000, "20,000");
}

void bench_jobs(const Target& target, double spawns) {
  row("no-op jobs end to end, many per node", noop_jobs_per_second(target, 1000, false), "/s",
      spawns / 2, "half the spawn rate");
  row("no-op whole-node jobs end to end, 4 nodes", noop_jobs_per_second(target, 200, true), "/s", 0,
      "");
  const auto starts = start_ms(target, 50);
  row("submit to first process, idle: median", starts[starts.size() / 2], "ms", 0, "");
  row("submit to first process, idle: p95", starts[starts.size() * 95 / 100], "ms", 0, "");
}

void bench_commands(const std::string& artel, const std::string& config_dir, double empty_ms) {
  row("start-up of 'artel --version' over /bin/true",
      command_ms({artel, "--version"}, 100) - empty_ms, "ms", 0, "");
  row("one 'artel nodes' over /bin/true",
      command_ms({artel, "nodes", "--config", config_dir}, 50) - empty_ms, "ms", 0, "");
}

}  // namespace

int main(int argc, char** argv) {
  std::string config_dir;
  std::filesystem::path scratch;
  std::string artel;
  double seconds = 3;
  std::string_view only;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view option = argv[i];
    if (option == "--config")
      config_dir = argv[i + 1];
    else if (option == "--scratch")
      scratch = argv[i + 1];
    else if (option == "--artel")
      artel = argv[i + 1];
    else if (option == "--only")
      only = argv[i + 1];
    else if (option == "--seconds")
      seconds = std::atof(argv[i + 1]);
    else
      return usage();
  }
  if (config_dir.empty() || scratch.empty() || artel.empty()) return usage();
  const auto site = config::load_config(config_dir);
  if (!site) {
    fmt::print(stderr, "artel_bench: {}\n", site.error().text);
    return 1;
  }
  const Target target{.client = {.address = site->controller,
                                 .munge_socket = site->munge_socket,
                                 .version = "bench"},
                      .working_directory = scratch.string()};

  const double commits = sqlite_commits_per_second(scratch, seconds);
  const double spawns = spawns_per_second(seconds);
  row("floor: SQLite commits of one row", commits, "/s", 0, "");
  row("floor: 4 KiB append + fdatasync", synced_appends_per_second(scratch, seconds), "/s", 0, "");
  row("floor: posix_spawn of /bin/true", spawns, "/s", 0, "");
  const double empty_ms = command_ms({"/bin/true"}, 100);
  row("floor: run /bin/true", empty_ms, "ms", 0, "");

  const auto wanted = [&](std::string_view group) { return only.empty() || only == group; };
  if (wanted("submits")) bench_submits(target, seconds, commits);
  if (wanted("jobs")) bench_jobs(target, spawns);
  if (wanted("commands")) bench_commands(artel, config_dir, empty_ms);
}
