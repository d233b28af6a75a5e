// artel simulate: a workload in virtual time under one policy or two; nothing of it touches a
// cluster.
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/commands.h"
#include "cli/json.h"
#include "cli/simulate_options.h"
#include "cli/simulate_table.h"
#include "sim/scenario/play.h"
#include "sim/trace/artel_policy.h"
#include "sim/trace/cluster.h"
#include "sim/trace/policy.h"
#include "sim/trace/read.h"
#include "sim/trace/replay.h"

namespace artel::cli {
namespace {

using SteadyClock = std::chrono::steady_clock;

std::int64_t steady_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(SteadyClock::now().time_since_epoch())
      .count();
}

/// A line on standard error that is written over, only where that is a terminal.
class Progress {
 public:
  Progress(std::string policy, std::size_t all) : policy_(std::move(policy)), all_(all) {}

  void tell(std::size_t over) {
    constexpr std::int64_t kPause = 100'000'000;
    const std::int64_t now = steady_ns();
    if (!is_terminal_ || now - last_ < kPause) return;
    last_ = now;
    put(fmt::format("\r\x1b[K{}: {} % of {} jobs", policy_, over * 100 / all_, all_));
  }
  void clear() const {
    if (last_ != 0) put("\r\x1b[K");
  }

 private:
  static void put(const std::string& text) {
    if (auto written = write_to(STDERR_FILENO, text); !written) return;
  }

  std::string policy_;
  std::size_t all_;
  bool is_terminal_ = ::isatty(STDERR_FILENO) == 1;
  std::int64_t last_ = 0;
};

/// All that a replay needs.
struct Scene {
  trace::Workload workload;
  trace::Problem problem;
  trace::Site site;
};

Result<> write_file(const std::string& name, const std::string& text) {
  std::ofstream file(name, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  if (file) return {};
  return fail(ErrorCode::kIo, fmt::format("{}: cannot be written: {}", name,
                                          std::generic_category().message(errno)));
}

Result<trace::Workload> load_workload(const SimulateOptions& options, const Scene& scene) {
  if (!options.generate) return trace::read_workload(options.trace);
  trace::LublinOptions model = options.model;
  if (!scene.site.nodes.empty()) {
    const trace::Milli gpus = trace::capacity_of(scene.site.nodes, trace::Resource::kGpus);
    if (gpus == 0) {
      return fail(
          ErrorCode::kInvalidArgument,
          fmt::format("{}: its nodes have no GPUs; generated jobs ask for GPUs", options.cluster));
    }
    model.units = static_cast<std::uint64_t>(gpus / trace::kMilli);
    model.node_size = 1;
    for (const NodeConfig& node : scene.site.nodes)
      model.node_size = std::max<std::uint64_t>(model.node_size, node.resources.gpus);
  }
  for (const trace::Team& team : scene.site.teams.teams) model.teams.push_back(team.name);
  return trace::generate_lublin(model);
}

Result<> read_machine(const Context& context, const SimulateOptions& options, Scene& scene) {
  if (!options.cluster.empty()) {
    auto nodes = trace::read_cluster_file(options.cluster);
    if (!nodes) return fail(nodes);
    scene.site.nodes = std::move(*nodes);
  } else if (!context.config_folder.empty() && !options.capacity) {
    auto site = load_site(context);
    if (!site) return fail(site);
    scene.site.nodes = std::move(site->nodes);
  }
  if (options.teams.empty()) return {};
  auto teams = trace::read_teams_file(options.teams);
  if (!teams) return fail(teams);
  scene.site.teams = std::move(*teams);
  return {};
}

/// Fills the scene in place: the problem points at its workload.
Result<> set_scene(const Context& context, const SimulateOptions& options, Scene& scene) {
  if (auto machine = read_machine(context, options, scene); !machine) return machine;
  auto workload = load_workload(options, scene);
  if (!workload) return fail(workload);
  scene.workload = std::move(*workload);
  trace::ProblemOptions wanted{options.resource, options.capacity, options.first};
  auto problem = trace::make_problem(scene.workload, wanted, scene.site.nodes);
  if (!problem) return fail(problem);
  scene.problem = std::move(*problem);
  constexpr std::uint64_t kGpusOfNode = 8;
  const bool is_gpus = scene.problem.resource == trace::Resource::kGpus;
  scene.site.node_size = options.node_size.value_or(is_gpus ? kGpusOfNode : 1);
  scene.site.grace = options.grace;
  scene.site.checkpoint_every = options.checkpoint_every;
  return {};
}

Result<trace::Metrics> run_policy(const std::string& name, const SimulateOptions& options,
                                  const Scene& scene, std::string& csv) {
  const std::int64_t begin = steady_ns();
  const auto policy = trace::make_policy(name, scene.problem, scene.site);
  if (!policy) return fail(policy);
  Progress progress(name, scene.problem.tasks.size());
  trace::ReplayOptions replay;
  replay.checkpoint_every = options.checkpoint_every;
  replay.clock_ns = steady_ns;
  replay.progress = [&progress](std::size_t over) { progress.tell(over); };
  const auto outcome = trace::replay(scene.problem, **policy, replay);
  progress.clear();
  if (!outcome) return fail(outcome);
  trace::Metrics metrics = trace::measure(scene.problem, *outcome, scene.site.teams);
  metrics.policy = name;
  metrics.run_s = static_cast<double>(steady_ns() - begin) * 1e-9;
  if (!options.csv.empty()) csv += trace::jobs_csv(scene.problem, *outcome, name);
  return metrics;
}

int simulate_workload(const Context& context, const SimulateOptions& options) {
  Scene scene;
  if (auto set = set_scene(context, options, scene); !set) return report(set.error());
  trace::Report figures{&scene.problem, {}};
  std::string csv = trace::jobs_csv_head();
  for (const std::string& policy : options.policies) {
    auto metrics = run_policy(policy, options, scene, csv);
    if (!metrics) return report(metrics.error());
    figures.runs.push_back(std::move(*metrics));
  }
  if (!options.csv.empty()) {
    if (auto written = write_file(options.csv, csv); !written) return report(written.error());
  }
  if (!options.html.empty()) {
    if (auto written = write_file(options.html, trace::html_report(figures)); !written)
      return report(written.error());
  }
  return finish(context.json ? trace::json_report(figures)
                             : simulate_table(figures, context.terminal));
}

/// 0 where all states were as the file expects, else 1.
int simulate_scenario(const Context& context, const std::string& file) {
  const auto played = scenario::play_file(file);
  if (!played) return report(played.error());
  const int code = played->passed() ? 0 : 1;
  if (!context.json) return finish(played->text, code);
  nlohmann::json differences = nlohmann::json::array();
  for (const scenario::Difference& one : played->differences) {
    differences.push_back({{"at_min", one.t},
                           {"line", one.line},
                           {"what", one.what},
                           {"expected", one.expected},
                           {"got", one.got}});
  }
  return finish(json_line({{"scenario", played->id},
                           {"title", played->title},
                           {"states", played->states},
                           {"passed", played->passed()},
                           {"differences", std::move(differences)}}),
                code);
}

}  // namespace

Syntax simulate_syntax() {
  Syntax syntax;
  syntax.command = "simulate";
  syntax.summary = "replay a workload under scheduling policies";
  syntax.usage = "WORKLOAD [options]\n--generate lublin [options]\n--scenario FILE";
  syntax.operands = Operands::kList;
  syntax.options = simulate_option_list();
  syntax.examples =
      "  artel simulate kth-sp2.swf.gz --policy easy --compare conservative\n"
      "  artel simulate philly.csv.gz --capacity 640 --resource gpus --html philly.html\n"
      "  artel simulate --generate lublin --jobs 5000 --load 0.9 --teams teams.toml\n";
  return syntax;
}

int simulate_command(const Context& context, const Parsed& parsed) {
  const auto options = read_simulate_options(parsed);
  if (!options) return report(options.error());
  if (!options->scenario.empty()) return simulate_scenario(context, options->scenario);
  return simulate_workload(context, *options);
}

}  // namespace artel::cli
