#include "cli/simulate_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <limits>

#include "base/text.h"
#include "cli/context.h"
#include "sim/trace/policy.h"

namespace artel::cli {
namespace {

constexpr std::uint64_t kMostJobs = 10'000'000;
constexpr std::uint64_t kMostUnits = 100'000'000;

std::unexpected<Error> bad(const std::string& what) {
  return fail(ErrorCode::kInvalidArgument, what);
}

Result<std::uint64_t> number_of(const Parsed& parsed, const std::string& name,
                                std::uint64_t otherwise, std::uint64_t most) {
  if (!parsed.has(name)) return otherwise;
  return parse_number("--" + name, parsed.value(name), 1, most);
}

/// "0.85"
Result<double> load_of(const std::string& text) {
  double load = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), load);
  if (error == std::errc{} && end == text.data() + text.size() && load > 0 && load <= 100)
    return load;
  return bad(fmt::format("--load: '{}' must be a number above 0, at most 100, such as 0.85", text));
}

Result<> read_source(const Parsed& parsed, SimulateOptions& options) {
  if (parsed.operands.size() > 1)
    return bad(fmt::format("one workload at a time; {} are named", parsed.operands.size()));
  if (!parsed.operands.empty()) options.trace = parsed.operands.front();
  options.scenario = parsed.value("scenario");
  if (parsed.has("generate")) {
    options.generate = true;
    if (const std::string model = parsed.value("generate"); model != "lublin")
      return bad(fmt::format("--generate: there is no model '{}'; there is lublin", model));
  }
  const int sources = (options.trace.empty() ? 0 : 1) + (options.generate ? 1 : 0) +
                      (parsed.has("scenario") ? 1 : 0);
  if (sources == 1) return {};
  return bad(sources == 0
                 ? "no workload; name a file, or give --generate lublin, or --scenario FILE"
                 : "give one of: a file with a workload, --generate, --scenario");
}

/// A scenario brings all that the other options of this command say.
Result<> check_scenario_alone(const Parsed& parsed) {
  const std::vector<Option> common = with_common({});
  for (const Option& option : simulate_option_list()) {
    const bool is_common = std::ranges::find(common, option.names, &Option::names) != common.end();
    if (is_common || option.names == "--scenario") continue;
    const std::string name = option.names.substr(option.names.rfind("--") + 2);
    if (parsed.has(name)) {
      return bad(fmt::format("--{} has no meaning for a scenario, which brings its own", name));
    }
  }
  return {};
}

/// Options that say nothing beside the others are mistakes, not decoration.
Result<> check_together(const Parsed& parsed, const SimulateOptions& options) {
  const auto refuse = [&parsed](std::initializer_list<const char*> names,
                                std::string_view why) -> Result<> {
    for (const char* name : names) {
      if (parsed.has(name)) return bad(fmt::format("--{} {}", name, why));
    }
    return {};
  };
  if (!options.scenario.empty()) return check_scenario_alone(parsed);
  if (!options.generate) {
    if (auto checked =
            refuse({"jobs", "seed", "load", "limits"},
                   "belongs to --generate; a trace has its own jobs (--first N takes the "
                   "first ones)");
        !checked)
      return checked;
  } else if (auto checked = refuse({"first", "resource"}, "has no meaning beside --generate");
             !checked) {
    return checked;
  }
  if (parsed.has("cluster"))
    return refuse({"capacity", "node-size"}, "and --cluster both say how large the machine is");
  return {};
}

Result<> read_model(const Parsed& parsed, trace::LublinOptions& model) {
  const auto jobs = number_of(parsed, "jobs", model.jobs, kMostJobs);
  if (!jobs) return fail(jobs);
  model.jobs = *jobs;
  if (parsed.has("seed")) {
    const auto seed =
        parse_number("--seed", parsed.value("seed"), 0, std::numeric_limits<std::uint64_t>::max());
    if (!seed) return fail(seed);
    model.seed = *seed;
  }
  if (parsed.has("load")) {
    const auto load = load_of(parsed.value("load"));
    if (!load) return fail(load);
    model.load = *load;
  }
  const std::string limits = parsed.value("limits", "exact");
  if (limits != "exact" && limits != "round") {
    return bad(fmt::format("--limits: '{}' is unknown{}; accepted are exact and round", limits,
                           did_you_mean(limits, {"exact", "round"})));
  }
  model.limits =
      limits == "exact" ? trace::GeneratedLimits::kExact : trace::GeneratedLimits::kRound;
  return {};
}

Result<> read_machine(const Parsed& parsed, SimulateOptions& options) {
  if (parsed.has("resource")) {
    const auto resource = trace::parse_resource(parsed.value("resource"));
    if (!resource) return bad("--resource: " + resource.error().text);
    options.resource = *resource;
  }
  if (parsed.has("capacity")) {
    const auto units = parse_number("--capacity", parsed.value("capacity"), 1, kMostUnits);
    if (!units) return fail(units);
    options.capacity = static_cast<trace::Milli>(*units) * trace::kMilli;
    options.model.units = *units;
  }
  if (parsed.has("node-size")) {
    const auto size = parse_number("--node-size", parsed.value("node-size"), 1, kMostUnits);
    if (!size) return fail(size);
    options.node_size = options.model.node_size = *size;
  }
  options.cluster = parsed.value("cluster");
  options.teams = parsed.value("teams");
  return {};
}

Result<> read_policies(const Parsed& parsed, SimulateOptions& options) {
  const auto& known = trace::policy_names();
  const auto add = [&](const std::string& option, const std::string& name) -> Result<> {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      return bad(fmt::format("{}: there is no policy '{}'{}; there are {}", option, name,
                             did_you_mean(name, known), fmt::join(known, ", ")));
    }
    options.policies.push_back(name);
    return {};
  };
  if (auto added = add("--policy", parsed.value("policy", std::string(known.back()))); !added)
    return added;
  if (!parsed.has("compare")) return {};
  if (auto added = add("--compare", parsed.value("compare")); !added) return added;
  if (options.policies.front() == options.policies.back())
    return bad(fmt::format("--compare: {} would be compared with itself", options.policies.back()));
  return {};
}

Result<> read_replay(const Parsed& parsed, SimulateOptions& options) {
  if (parsed.has("first")) {
    const auto first = parse_number("--first", parsed.value("first"), 1, kMostJobs);
    if (!first) return fail(first);
    options.first = *first;
  }
  if (parsed.has("checkpoint")) {
    const auto every = parse_duration(parsed.value("checkpoint"));
    if (!every) return bad("--checkpoint: " + every.error().text);
    options.checkpoint_every = std::chrono::ceil<std::chrono::seconds>(*every).count();
  }
  if (parsed.has("grace")) {
    const auto grace = parse_duration(parsed.value("grace"));
    if (!grace) return bad("--grace: " + grace.error().text);
    options.grace = std::chrono::ceil<std::chrono::seconds>(*grace).count();
  }
  options.csv = parsed.value("csv");
  options.html = parsed.value("html");
  return {};
}

}  // namespace

std::vector<Option> simulate_option_list() {
  using Kind = Option::Kind;
  return with_common({
      {"--policy", Kind::kValue, "NAME", "who decides; the manual lists them all (artel)"},
      {"--compare", Kind::kValue, "NAME", "a second policy, shown beside the first"},
      {"--capacity", Kind::kValue, "N", "units of the machine, where the workload does not say"},
      {"--resource", Kind::kValue, "WHAT",
       "what is counted: cpus, gpus or nodes (what jobs ask for)"},
      {"--cluster", Kind::kValue, "FILE", "the machine: a file as in cluster.d"},
      {"--teams", Kind::kValue, "FILE", "guarantees of teams: a file as in teams.d"},
      {"--first", Kind::kValue, "N", "only the first so many jobs"},
      {"--generate", Kind::kValue, "MODEL", "jobs of a model in place of a file: lublin"},
      {"--jobs", Kind::kValue, "N", "how many jobs are generated (1000)"},
      {"--seed", Kind::kValue, "N", "another seed, another workload (1)"},
      {"--load", Kind::kValue, "X",
       "offered load of generated jobs, such as 0.85 (the model's own)"},
      {"--limits", Kind::kValue, "HOW",
       "of generated jobs: exact, or round as people give them (exact)"},
      {"--node-size", Kind::kValue, "N",
       "units of a node, where there is no --cluster (GPUs 8, else 1)"},
      {"--grace", Kind::kValue, "TIME", "how long a preempted job may still run (60s)"},
      {"--checkpoint", Kind::kValue, "TIME", "jobs save their work so often (never)"},
      {"--scenario", Kind::kValue, "FILE", "play a scenario and compare it with what it expects"},
      {"--csv", Kind::kValue, "FILE", "write a line for each job"},
      {"--html", Kind::kValue, "FILE", "write a page with tables and plots"},
  });
}

Result<SimulateOptions> read_simulate_options(const Parsed& parsed) {
  SimulateOptions options;
  if (auto read = read_source(parsed, options); !read) return fail(read);
  if (auto checked = check_together(parsed, options); !checked) return fail(checked);
  if (auto read = read_machine(parsed, options); !read) return fail(read);
  if (auto read = read_model(parsed, options.model); !read) return fail(read);
  if (auto read = read_policies(parsed, options); !read) return fail(read);
  if (auto read = read_replay(parsed, options); !read) return fail(read);
  return options;
}

}  // namespace artel::cli
