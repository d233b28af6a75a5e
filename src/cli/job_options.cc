#include "cli/job_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/hostlist.h"
#include "base/text.h"
#include "cli/when.h"
#include "model/output_path.h"

namespace artel::cli {
namespace {

using Kind = Option::Kind;

constexpr std::uint64_t kMostNodes = kMaxHosts;
constexpr std::uint64_t kMostRanksPerNode = 4096;
constexpr std::uint64_t kMostGpus = 1024;
constexpr std::uint64_t kMostCpus = 65536;

std::unexpected<Error> refuse(const Given& given, const std::string& text) {
  return fail(ErrorCode::kInvalidArgument, given.where + ": " + text);
}

template <typename T>
std::unexpected<Error> refuse(const Given& given, const Result<T>& failed) {
  return refuse(given, failed.error().text);
}

/// Reads the options one by one into a spec.
class SpecReader {
 public:
  SpecReader(const GivenOptions& given, const EnvironmentLookup& environment, Time now,
             JobSpec& spec)
      : given_(given),
        environment_(environment),
        now_(now),
        spec_(spec),
        here_(spec.working_directory) {}

  Result<> read() {
    for (auto step :
         {&SpecReader::names, &SpecReader::shape, &SpecReader::per_node, &SpecReader::limits,
          &SpecReader::hosts, &SpecReader::array, &SpecReader::files, &SpecReader::variables}) {
      if (auto done = (this->*step)(); !done) return done;
    }
    return {};
  }

 private:
  [[nodiscard]] const Given* find(const std::string& name) const {
    const auto found = given_.find(name);
    return found == given_.end() ? nullptr : &found->second;
  }

  /// The number of an option, or nullopt where it is not given.
  Result<std::optional<std::uint32_t>> number(const std::string& name, std::uint64_t most) {
    const Given* given = find(name);
    if (given == nullptr) return std::optional<std::uint32_t>{};
    const auto value = parse_number(given->where, given->values.front(), 1, most);
    if (!value) return fail(value);
    return std::optional<std::uint32_t>(static_cast<std::uint32_t>(*value));
  }

  Result<> names() {
    const std::pair<const char*, std::string*> fields[] = {{"name", &spec_.name},
                                                           {"team", &spec_.team},
                                                           {"queue", &spec_.queue},
                                                           {"project", &spec_.project},
                                                           {"class", &spec_.job_class},
                                                           {"features", &spec_.features},
                                                           {"chdir", &spec_.working_directory}};
    for (const auto& [name, field] : fields) {
      const Given* given = find(name);
      if (given == nullptr) continue;
      *field = given->values.front();
      if (field->empty()) return refuse(*given, "the value is empty");
      const bool has_control = std::ranges::any_of(
          *field, [](char c) { return static_cast<unsigned char>(c) < 0x20U || c == 0x7F; });
      if (has_control) return refuse(*given, "the value has control characters");
    }
    if (!spec_.working_directory.starts_with('/')) {
      spec_.working_directory = here_ + "/" + spec_.working_directory;
    }
    return {};
  }

  Result<> shape() {
    ComponentSpec& part = spec_.components.front();
    const auto nodes = number("nodes", kMostNodes);
    if (!nodes) return fail(nodes);
    const auto ranks = number("ranks", kMostNodes * kMostRanksPerNode);
    if (!ranks) return fail(ranks);
    const auto per_node = number("tasks-per-node", kMostRanksPerNode);
    if (!per_node) return fail(per_node);
    part.nodes = nodes->value_or(1);
    part.ranks_per_node = per_node->value_or(1);
    if (*ranks) {
      const Given& given = *find("ranks");
      if (**ranks % part.nodes != 0) {
        return refuse(given,
                      fmt::format("{} ranks cannot be spread evenly over {} nodes; ask for a "
                                  "multiple of {}",
                                  **ranks, part.nodes, part.nodes));
      }
      const std::uint32_t spread = **ranks / part.nodes;
      if (*per_node && spread != **per_node) {
        return refuse(given,
                      fmt::format("{} ranks on {} nodes are {} on each, but {} says {}", **ranks,
                                  part.nodes, spread, find("tasks-per-node")->where, **per_node));
      }
      if (spread > kMostRanksPerNode) {
        return refuse(given, fmt::format("{} ranks on each node; at most {} are possible", spread,
                                         kMostRanksPerNode));
      }
      part.ranks_per_node = spread;
    }
    return launch();
  }

  Result<> launch() {
    const Given* given = find("launch");
    if (given == nullptr) return {};
    const std::string& word = given->values.front();
    const auto kind = parse_launch_kind(word);
    if (!kind || *kind == LaunchKind::kScript) {
      return refuse(*given, fmt::format("'{}' is unknown{}; accepted are auto, plain and pmix",
                                        word, did_you_mean(word, {"auto", "plain", "pmix"})));
    }
    spec_.components.front().launch = *kind;
    return {};
  }

  Result<> per_node() {
    NodeRequest& request = spec_.components.front().per_node;
    if (auto done = gpus(request); !done) return done;
    const auto cpus = number("cpus-per-node", kMostCpus);
    if (!cpus) return fail(cpus);
    request.cpus = cpus->value_or(0);
    if (const Given* given = find("mem")) {
      const auto memory = parse_bytes(given->values.front());
      if (!memory) return refuse(*given, memory);
      if (memory->value == 0) return refuse(*given, "no memory at all; the least is 1");
      request.memory = *memory;
    }
    const bool has_amounts = find("gpus-per-node") != nullptr || find("cpus-per-node") != nullptr ||
                             find("mem") != nullptr;
    request.whole_node = !has_amounts || find("exclusive") != nullptr;
    return {};
  }

  /// "4" or "h100:4"; 0 asks for none.
  Result<> gpus(NodeRequest& request) {
    const Given* given = find("gpus-per-node");
    if (given == nullptr) return {};
    const std::string& text = given->values.front();
    const auto colon = text.find(':');
    if (colon == 0) return refuse(*given, fmt::format("'{}' has no type before the colon", text));
    const std::string count = colon == std::string::npos ? text : text.substr(colon + 1);
    const auto number = parse_number(given->where, count, 0, kMostGpus);
    if (!number) return fail(number);
    request.gpus.value = *number * GpuMilli::kPerDevice;
    if (colon != std::string::npos) request.gpu_type = text.substr(0, colon);
    return {};
  }

  Result<> limits() {
    if (const Given* given = find("time")) {
      const auto limit = parse_limit(given->values.front());
      if (!limit) return refuse(*given, limit);
      spec_.time_limit = *limit;
    }
    if (const Given* given = find("grace")) {
      const auto grace = parse_duration(given->values.front());
      if (!grace) return refuse(*given, grace);
      spec_.grace = *grace;
    }
    if (auto done = times(); !done) return done;
    if (find("hold") != nullptr) spec_.held = true;
    if (find("preemptible") != nullptr) spec_.preemptible = true;
    if (find("no-requeue") != nullptr) spec_.requeue = false;
    return closeness();
  }

  Result<> times() {
    for (const auto& [name, field] :
         {std::pair("begin", &spec_.begin), std::pair("deadline", &spec_.deadline)}) {
      const Given* given = find(name);
      if (given == nullptr) continue;
      const auto time = parse_future(given->values.front(), now_);
      if (!time) return refuse(*given, time);
      *field = *time;
    }
    const Given* given = find("max-wait");
    if (given == nullptr) return {};
    const auto wait = parse_duration(given->values.front());
    if (!wait) return refuse(*given, wait);
    spec_.max_wait = *wait;
    return {};
  }

  Result<> closeness() {
    const Given* given = find("within");
    if (given == nullptr) return {};
    const std::string& word = given->values.front();
    const auto closeness = parse_closeness(word);
    if (!closeness) {
      return refuse(*given, fmt::format("'{}' is unknown{}; accepted are leaf, block and any", word,
                                        did_you_mean(word, {"leaf", "block", "any"})));
    }
    spec_.closeness = *closeness;
    return {};
  }

  Result<> hosts() {
    const std::pair<const char*, std::vector<std::string>*> fields[] = {
        {"nodelist", &spec_.nodes_wanted}, {"exclude", &spec_.nodes_avoided}};
    for (const auto& [name, field] : fields) {
      const Given* given = find(name);
      if (given == nullptr) continue;
      auto names = unfold_hosts(given->values.front());
      if (!names) return refuse(*given, names);
      if (names->empty()) return refuse(*given, "no node is named");
      *field = std::move(*names);
    }
    return {};
  }

  Result<> array() {
    const Given* given = find("array");
    if (given == nullptr) return {};
    auto array = parse_array(given->values.front(), kMostArrayTasks);
    if (!array) return refuse(*given, array);
    spec_.array = std::move(*array);
    if (find("output") != nullptr) return {};
    // By the name under which a task is known, instead of by its number.
    if (const auto at = spec_.output.find("%j"); at != std::string::npos)
      spec_.output.replace(at, 2, "%A_%t");
    return {};
  }

  Result<> files() {
    for (const auto& [name, field] :
         {std::pair("output", &spec_.output), std::pair("error", &spec_.error)}) {
      const Given* given = find(name);
      if (given == nullptr) continue;
      *field = given->values.front();
      if (field->empty()) return refuse(*given, "the value is empty");
      if (field->ends_with('/')) return refuse(*given, fmt::format("'{}' is a directory", *field));
      if (const std::string unknown = unknown_placeholder(*field); !unknown.empty()) {
        return refuse(
            *given, fmt::format("'{}' is unknown; known are %j job, %A array, %t task, %a attempt, "
                                "%x name, %u user and %%",
                                unknown));
      }
    }
    return {};
  }

  Result<> variables() {
    const Given* given = find("env");
    if (given == nullptr) return {};
    for (const std::string& word : given->values) {
      const auto equals = word.find('=');
      const std::string name = word.substr(0, equals);
      if (!is_variable_name(name)) {
        return refuse(*given,
                      fmt::format("'{}' is not a variable; write NAME=VALUE, or NAME to copy "
                                  "it from here",
                                  word));
      }
      std::optional<std::string> value;
      if (equals == std::string::npos) {
        value = environment_(name);
        if (!value)
          return refuse(*given, fmt::format("{} is not set here, so it cannot be copied", name));
      } else {
        value = word.substr(equals + 1);
      }
      set_variable(name, *value);
    }
    return {};
  }

  static bool is_variable_name(const std::string& name) {
    const auto is_letter = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    };
    return !name.empty() && is_letter(name.front()) && std::ranges::all_of(name, [&](char c) {
      return is_letter(c) || (c >= '0' && c <= '9');
    });
  }

  void set_variable(const std::string& name, const std::string& value) {
    const auto same =
        std::ranges::find(spec_.environment, name, &std::pair<std::string, std::string>::first);
    if (same != spec_.environment.end()) {
      same->second = value;
    } else {
      spec_.environment.emplace_back(name, value);
    }
  }

  const GivenOptions& given_;
  const EnvironmentLookup& environment_;
  const Time now_;
  JobSpec& spec_;
  const std::string here_;
};

}  // namespace

std::vector<Option> job_options(JobOptions kind) {
  std::vector<Option> options = {
      {"-N,--nodes", Kind::kValue, "COUNT", "number of nodes (1)"},
      {"-n,--ranks", Kind::kValue, "COUNT", "ranks in all, a multiple of the nodes"},
      {"--tasks-per-node", Kind::kValue, "COUNT", "ranks on each node (1)"},
      {"--gpus-per-node", Kind::kValue, "[TYPE:]COUNT",
       "GPUs on each node; the node may be shared"},
      {"--cpus-per-node", Kind::kValue, "COUNT", "CPUs on each node; the node may be shared"},
      {"--mem", Kind::kValue, "SIZE", "memory on each node: 64G, 1.5T; the node may be shared"},
      {"--exclusive", Kind::kFlag, "", "whole nodes, with the amounts above as the least"},
      {"-t,--time", Kind::kValue, "LIMIT",
       "run time limit: 90 (minutes), 1:30:00, 1d2h, unlimited"},
      {"-J,--name", Kind::kValue, "NAME", "name of the job (that of the program)"},
      {"-A,--team", Kind::kValue, "TEAM", "team that the usage counts for"},
      {"-p,--queue", Kind::kValue, "QUEUE", "queue"},
      {"--class", Kind::kValue, "CLASS", "production, development, test, experiment (the queue's)"},
      {"--preemptible", Kind::kFlag, "", "may be evicted although its class says no"},
      {"--no-requeue", Kind::kFlag, "", "ends when it is evicted, instead of waiting again"},
      {"--project", Kind::kValue, "NAME", "project, for reports"},
      {"-w,--nodelist", Kind::kValue, "NODES", "use only these: hgx[01-04,07]"},
      {"-x,--exclude", Kind::kValue, "NODES", "use none of these"},
      {"--features", Kind::kValue, "EXPR", "only nodes with these words: 'ib&!old', 'a|b'"},
      {"--within", Kind::kValue, "LEVEL", "all nodes in one leaf or block (any)"},
  };
  if (kind == JobOptions::kSubmit) {
    options.push_back({"-H,--hold", Kind::kFlag, "", "waits for artel release"});
    options.push_back(
        {"--begin", Kind::kValue, "TIME", "not before: 2026-12-01T08:00 (UTC), +2h (from now)"});
    options.push_back({"--deadline", Kind::kValue, "TIME",
                       "must have ended by then; needs a time limit. Forms as of --begin"});
    options.push_back(
        {"--max-wait", Kind::kValue, "TIME", "cancelled if it has not started by then: 12h"});
    options.push_back({"-a,--array", Kind::kValue, "LIST[%MOST]",
                       "a task for each index: 0-99, 1,3,5-9:2; 0-99%5: at most 5 at once"});
    options.push_back({"-o,--output", Kind::kValue, "FILE",
                       "standard output (artel-%j.out); %j job, %A array, %t task, %a attempt, %x "
                       "name, %u user"});
    options.push_back({"-e,--error", Kind::kValue, "FILE", "standard error, else with the output"});
  }
  options.push_back(
      {"--env", Kind::kList, "NAME[=VALUE]",
       "variable for the job, or one to copy; may be repeated. Nothing else is passed"});
  options.push_back({"-D,--chdir", Kind::kValue, "DIR", "working directory (the present one)"});
  options.push_back({"--launch", Kind::kValue, "KIND", "auto, plain or pmix (auto)"});
  options.push_back({"--grace", Kind::kValue, "TIME",
                     "between TERM and KILL, at most the class's (the class's)"});
  return options;
}

GivenOptions merge(GivenOptions script, const GivenOptions& command_line) {
  for (const auto& [name, given] : command_line) {
    const auto old = script.find(name);
    if (name != "env" || old == script.end()) {
      script.insert_or_assign(name, given);
      continue;
    }
    old->second.values.insert(old->second.values.end(), given.values.begin(), given.values.end());
    old->second.where = given.where;
  }
  return script;
}

Result<JobSpec> job_spec(const GivenOptions& given, const JobDefaults& defaults,
                         const EnvironmentLookup& environment) {
  JobSpec spec;
  spec.name = defaults.name;
  spec.output = defaults.output;
  spec.working_directory = defaults.working_directory;
  spec.components.emplace_back();
  if (auto read = SpecReader(given, environment, defaults.now, spec).read(); !read)
    return fail(read);
  return spec;
}

}  // namespace artel::cli
