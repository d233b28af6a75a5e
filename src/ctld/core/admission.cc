// What clients ask: submit and cancel.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "base/text.h"
#include "ctld/core/state.h"
#include "model/output_path.h"

namespace artel::ctld {
namespace {

constexpr std::size_t kMaxName = 128;
constexpr std::uint32_t kMaxRanksPerNode = 4096;
constexpr std::size_t kMaxScript = 1U << 20U;
constexpr std::size_t kMaxArguments =
    2U << 20U;                          // arguments and environment together, as usual for exec
constexpr std::size_t kMaxPath = 4096;  // PATH_MAX
constexpr std::uint32_t kMaxRetries = 100;

bool has_control_characters(const std::string& text) {
  return std::ranges::any_of(
      text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

std::size_t size_of_arguments(const JobSpec& spec) {
  std::size_t size = 0;
  for (const std::string& word : spec.argv) size += word.size() + 1;
  for (const auto& [name, value] : spec.environment) size += name.size() + value.size() + 2;
  return size;
}

// What one job may cost the controller and the nodes.
Result<> check_sizes(const JobSpec& spec) {
  const auto too_long = [](std::string_view what, std::size_t has, std::size_t most) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{}: {} bytes, at most {} are possible", what, has, most));
  };
  if (spec.script.size() > kMaxScript) return too_long("script", spec.script.size(), kMaxScript);
  if (const std::size_t size = size_of_arguments(spec); size > kMaxArguments) {
    return too_long("arguments and environment", size, kMaxArguments);
  }
  if (spec.working_directory.size() > kMaxPath) {
    return too_long("working directory", spec.working_directory.size(), kMaxPath);
  }
  const AttemptKey longest{JobId{UINT64_MAX}, TaskIndex{UINT32_MAX}, AttemptNo{UINT32_MAX}};
  for (const std::string* pattern : {&spec.output, &spec.error}) {
    if (pattern->size() > kMaxPath) return too_long("output", pattern->size(), kMaxPath);
    const std::size_t size = expand_pattern(*pattern, spec, longest).size();
    if (size > kMaxPath) return too_long("output", size, kMaxPath);
  }
  for (const std::string* name :
       {&spec.team, &spec.queue, &spec.project, &spec.client_token, &spec.job_class}) {
    if (name->size() > kMaxName) return too_long("a name", name->size(), kMaxName);
  }
  return {};
}

// What no user may set, or nobody yet.
Result<> check_offers(const Caller& caller, const JobSpec& spec) {
  if (std::abs(spec.priority) > kMostOwnPriority) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("priority: {}, possible are {} to {}; the class gives the rest",
                            spec.priority, -kMostOwnPriority, kMostOwnPriority));
  }
  if (spec.priority > 0 && !caller.is_operator) {
    return fail(
        ErrorCode::kPermissionDenied,
        fmt::format("priority: {} is for operators, others may set 0 or less", spec.priority));
  }
  const auto invalid = [](std::string text) {
    return fail(ErrorCode::kInvalidArgument, std::move(text));
  };
  if (!spec.acting_for.empty()) return invalid("acting for another user is not offered yet");
  if (!spec.shared_with.empty()) return invalid("sharing a job is not offered yet");
  for (const std::uint32_t retries :
       {spec.retries.application, spec.retries.node, spec.retries.launch}) {
    if (retries > kMaxRetries)
      return invalid(fmt::format("retries: {}, at most {} are possible", retries, kMaxRetries));
  }
  return {};
}

Result<> check_array(const JobSpec& spec) {
  const auto invalid = [](std::string text) {
    return fail(ErrorCode::kInvalidArgument, std::move(text));
  };
  if (!spec.array) return {};
  if (spec.array->indexes.empty()) return invalid("array: it has no task");
  if (const std::size_t runs = spec.array->indexes.runs().size(); runs > kMaxArrayRuns)
    return invalid(
        fmt::format("array: {} ranges and single indexes, at most {} are possible; number the "
                    "tasks in ranges, or cut the list in several arrays",
                    runs, kMaxArrayRuns));
  if (spec.kind != JobKind::kBatch || spec.attached)
    return invalid("array: for batch jobs only; use artel submit");
  for (const std::string* pattern : {&spec.output, &spec.error}) {
    if (spec.array->indexes.size() > 1 && !pattern->empty() && !tells_tasks_apart(*pattern)) {
      return invalid(
          fmt::format("output: '{}' is one file for all tasks of the array; put %t "
                      "(task) or %j (job) into it",
                      *pattern));
    }
  }
  return {};
}

Result<> check_form(const JobSpec& spec) {
  const auto invalid = [](std::string text) {
    return fail(ErrorCode::kInvalidArgument, std::move(text));
  };
  if (auto array = check_array(spec); !array) return array;
  if (spec.components.size() != 1) return invalid("a job has exactly one component");
  if (spec.max_wait && *spec.max_wait <= Duration::zero())
    return invalid("longest wait: it must be more than nothing");
  if (!spec.licences.empty()) return invalid("licences are not offered yet");
  const ComponentSpec& part = spec.component();
  if (part.nodes == 0) return invalid("nodes: 0 is too few, ask for 1 or more");
  if (part.ranks_per_node == 0 || part.ranks_per_node > kMaxRanksPerNode) {
    return invalid(
        fmt::format("tasks per node: {} is not in 1..{}", part.ranks_per_node, kMaxRanksPerNode));
  }
  if (part.per_node.gpus.value % GpuMilli::kPerDevice != 0) {
    return invalid("gpus per node: shares of a GPU are not offered yet, ask for whole ones");
  }
  if (spec.name.size() > kMaxName || has_control_characters(spec.name)) {
    return invalid(fmt::format("name: at most {} characters, no control characters", kMaxName));
  }
  if (spec.time_limit &&
      (*spec.time_limit <= Duration::zero() || *spec.time_limit > kMaxDuration)) {
    return invalid(fmt::format("time: not between 1ms and {}", format_duration(kMaxDuration)));
  }
  if (spec.grace && (*spec.grace < Duration::zero() || *spec.grace > kMaxGrace)) {
    return invalid(fmt::format("grace: not between 0 and {}", format_duration(kMaxGrace)));
  }
  if (!spec.working_directory.starts_with('/')) {
    return invalid(fmt::format("working directory: '{}' is not absolute", spec.working_directory));
  }
  if (spec.script.empty() && (spec.argv.empty() || spec.argv.front().empty())) {
    return invalid("no program: give a script, or a command after '--'");
  }
  if (!spec.script.empty() && !spec.script.starts_with("#!")) {
    return invalid("script: the first line must name an interpreter, for example #!/bin/bash");
  }
  for (const std::string* pattern : {&spec.output, &spec.error}) {
    if (const std::string unknown = unknown_placeholder(*pattern); !unknown.empty()) {
      return invalid(fmt::format("output: '{}' in '{}' is unknown; known are %j %A %t %a %x %u %%",
                                 unknown, *pattern));
    }
  }
  if (spec.output.empty() && !spec.attached) return invalid("output: no file is named");
  return {};
}

// The only name where there is one, the given one where it is known.
Result<std::string> choose_name(std::string_view what, const std::string& given,
                                const std::vector<std::string>& known) {
  if (known.empty()) return given.empty() ? "default" : given;
  if (given.empty()) {
    if (known.size() == 1) return known.front();
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{}: name one of: {}", what, fmt::join(known, ", ")));
  }
  if (std::ranges::find(known, given) != known.end()) return given;
  const std::vector<std::string_view> words(known.begin(), known.end());
  return fail(ErrorCode::kInvalidArgument,
              fmt::format("{}: '{}' does not exist{}", what, given, did_you_mean(given, words)));
}

Error numbered(Error error, std::size_t index, std::size_t count) {
  if (count > 1) error.text = fmt::format("job {} of {}: {}", index + 1, count, error.text);
  return error;
}

// Access lists, rule Q6.
bool may_use(const AccessList& access, const Caller& caller) {
  if (access.users.empty() && access.groups.empty()) return true;
  const auto in = [](const std::vector<std::string>& list, const std::string& name) {
    return std::ranges::find(list, name) != list.end();
  };
  return in(access.users, caller.owner.user) ||
         std::ranges::any_of(caller.groups,
                             [&](const std::string& group) { return in(access.groups, group); });
}

std::unexpected<Error> no_access(std::string_view what, const std::string& name,
                                 const AccessList& access, const Caller& caller) {
  std::string who;
  if (!access.groups.empty()) who = fmt::format("members of {}", fmt::join(access.groups, ", "));
  if (!access.users.empty())
    who += fmt::format("{}{}", who.empty() ? "" : " and for ", fmt::join(access.users, ", "));
  return fail(ErrorCode::kPermissionDenied,
              fmt::format("{}: '{}' is for {}, not for {}", what, name, who, caller.owner.user));
}

// K1, K2, K4: what the class gives, as far as the job does not ask for less.
Result<> resolve_class(const TeamsConfig& teams, const QueueConfig* queue, JobSpec& spec) {
  if (spec.job_class.empty())
    spec.job_class = queue == nullptr || queue->job_class.empty() ? std::string(kDefaultClass)
                                                                  : queue->job_class;
  const ClassConfig* found = teams.find_class(spec.job_class);
  if (found == nullptr) {
    std::vector<std::string_view> words;
    words.reserve(teams.classes.size());
    for (const ClassConfig& one : teams.classes) words.push_back(one.name);
    const std::string near = did_you_mean(spec.job_class, words);
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("class: '{}' does not exist{}", spec.job_class,
                            near.empty() ? fmt::format("; name one of: {}", fmt::join(words, ", "))
                                         : near));
  }
  if (queue != nullptr && !queue->classes.empty() &&
      std::ranges::find(queue->classes, spec.job_class) == queue->classes.end()) {
    return fail(ErrorCode::kPermissionDenied,
                fmt::format("class: queue '{}' does not admit '{}'; it admits {}", queue->name,
                            spec.job_class, fmt::join(queue->classes, ", ")));
  }
  if (spec.grace && *spec.grace > found->grace) {
    return fail(
        ErrorCode::kInvalidArgument,
        fmt::format("grace: asked {}, class '{}' gives at most {}", format_duration(*spec.grace),
                    found->name, format_duration(found->grace)));
  }
  if (found->preemptible && spec.preemptible == false) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("preemptible: jobs of class '{}' may be evicted; a class that may not "
                            "is needed",
                            found->name));
  }
  spec.class_priority = found->priority;
  spec.preemptible = found->preemptible || spec.preemptible.value_or(false);
  if (!spec.grace) spec.grace = found->grace;
  return {};
}

Result<> apply_max_time(const QueueConfig* queue, JobSpec& spec) {
  if (queue == nullptr || !queue->max_time) return {};
  if (!spec.time_limit) spec.time_limit = queue->max_time;
  if (*spec.time_limit <= *queue->max_time) return {};
  return fail(ErrorCode::kNeverFits, fmt::format("time: asked {}, queue '{}' allows at most {}",
                                                 format_duration(*spec.time_limit), queue->name,
                                                 format_duration(*queue->max_time)));
}

/// An array's own number and those of its tasks.
std::uint64_t numbers_of(const JobSpec& spec) {
  return 1 + (spec.array ? std::uint64_t{spec.array->indexes.size()} : 0);
}

}  // namespace

void ControllerState::submit(RequestId request, const Caller& caller, std::vector<JobSpec> specs,
                             Time now) {
  auto admitted = admit_all(caller, std::move(specs));
  if (!admitted) return effects_.replies.push_back({request, fail(admitted)});
  if (const auto entered = enter_all(*admitted, now); !entered)
    return effects_.replies.push_back({request, fail(entered)});
  Submitted submitted;
  for (auto& [known, spec] : *admitted) {
    if (!known) {
      // Twice in one call: the first of them has just been added.
      known = find_repeated({.owner = spec.owner}, spec);
    }
    if (known) {
      submitted.jobs.push_back(*known);
      continue;
    }
    const JobId id{last_job_.value + 1};
    last_job_.value += numbers_of(spec);
    submitted.jobs.push_back(id);
    spec.array ? add_array(id, std::move(spec), now) : add_job(id, std::move(spec), now);
  }
  effects_.replies.push_back({request, std::move(submitted)});
}

Result<ControllerState::Admitted> ControllerState::admit_all(const Caller& caller,
                                                             std::vector<JobSpec> specs) const {
  // A repetition is answered before anything is checked: the first time decided.
  Admitted admitted;
  std::size_t fresh = 0;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    if (const auto known = find_repeated(caller, specs[i])) {
      admitted.emplace_back(known, JobSpec{});
      continue;
    }
    auto spec = admit(caller, std::move(specs[i]));
    if (!spec) return std::unexpected(numbered(spec.error(), i, specs.size()));
    admitted.emplace_back(std::nullopt, std::move(*spec));
    ++fresh;
  }
  if (jobs_.size() + arrays_.size() + fresh > config_.max_jobs) {
    return fail(ErrorCode::kTryAgain,
                fmt::format("{} jobs wait or run, the limit is {}; try again in 60 s",
                            jobs_.size() + arrays_.size(), config_.max_jobs));
  }
  return admitted;
}

Result<> ControllerState::enter_all(Admitted& admitted, Time now) {
  std::set<std::string> tokens;
  JobId id = last_job_;
  std::vector<JobId> told;  // the core knows them
  for (std::size_t i = 0; i < admitted.size(); ++i) {
    const auto& [known, spec] = admitted[i];
    if (known || (!spec.client_token.empty() && !tokens.insert(spec.client_token).second)) continue;
    ++id.value;
    // Of an array the core hears when the next pass is due; each of its tasks is as the first.
    const auto entered =
        spec.array ? core_->check(facts_of(id, spec)) : core_->submit(now, facts_of(id, spec));
    id.value += numbers_of(spec) - 1;
    if (entered) {
      if (!spec.array) told.push_back(id);
      continue;
    }
    for (const JobId other : told) core_->end(now, other, sched::Ended::kOtherwise);
    Error error = entered.error();
    // What no node has is said by nodes; the rest by limits.
    const bool of_size =
        error.code == ErrorCode::kNeverFits || error.code == ErrorCode::kInvalidArgument;
    if (const auto fit = check_fit(spec); !fit && of_size) error = fit.error();
    return std::unexpected(numbered(std::move(error), i, admitted.size()));
  }
  return {};
}

std::optional<JobId> ControllerState::find_repeated(const Caller& caller,
                                                    const JobSpec& spec) const {
  if (spec.client_token.empty()) return std::nullopt;
  const auto known = tokens_.find(std::pair(caller.owner.uid, spec.client_token));
  if (known == tokens_.end()) return std::nullopt;
  return known->second;
}

Result<JobSpec> ControllerState::admit(const Caller& caller, JobSpec spec) const {
  spec.owner = caller.owner;
  if (spec.array && spec.array->indexes.size() > config_.max_array_tasks) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("array: {} tasks, at most {} are possible (ctld.max_array_tasks); cut "
                            "it in several",
                            spec.array->indexes.size(), config_.max_array_tasks));
  }
  for (const auto& ok : {check_form(spec), check_sizes(spec), check_offers(caller, spec)}) {
    if (!ok) return fail(ok);
  }
  if (auto ok = choose_line(caller, spec); !ok) return fail(ok);
  const QueueConfig* queue = config_.teams.find_queue(spec.queue);
  if (auto ok = resolve_class(config_.teams, queue, spec); !ok) return fail(ok);
  if (auto ok = apply_max_time(queue, spec); !ok) return fail(ok);
  if (auto ok = check_names(spec); !ok) return fail(ok);
  return spec;
}

Result<> ControllerState::check_names(const JobSpec& spec) const {
  for (const auto& [option, names] :
       {std::pair("nodelist", &spec.nodes_wanted), std::pair("exclude", &spec.nodes_avoided)}) {
    for (const std::string& name : *names) {
      if (!find_node(name)) {
        return fail(ErrorCode::kInvalidArgument,
                    fmt::format("{}: there is no node '{}'", option, name));
      }
    }
  }
  return {};
}

// The team and the queue of the job: the named ones, else the only ones that there can be.
Result<> ControllerState::choose_line(const Caller& caller, JobSpec& spec) const {
  const TeamsConfig& teams = config_.teams;
  if (const QueueConfig* named = teams.find_queue(spec.queue); named && spec.team.empty())
    spec.team = named->team;
  if (const TeamConfig* named = teams.find_team(spec.team);
      named != nullptr && !may_use(named->access, caller))
    return no_access("team", named->name, named->access, caller);
  std::vector<std::string> mine;
  std::vector<std::string> all;
  for (const TeamConfig& team : teams.teams) {
    all.push_back(team.name);
    if (may_use(team.access, caller)) mine.push_back(team.name);
  }
  auto team = choose_name("team", spec.team, spec.team.empty() && !mine.empty() ? mine : all);
  if (!team) return fail(team);
  spec.team = std::move(*team);
  return choose_queue(caller, spec);
}

Result<> ControllerState::choose_queue(const Caller& caller, JobSpec& spec) const {
  std::vector<std::string> open;
  for (const QueueConfig& queue : config_.teams.queues) {
    const bool is_teams = queue.team.empty() || queue.team == spec.team;
    const bool is_open = is_teams && may_use(queue.access, caller);
    if (is_open) open.push_back(queue.name);
    if (queue.name != spec.queue || is_open) continue;
    if (is_teams) return no_access("queue", queue.name, queue.access, caller);
    return fail(ErrorCode::kPermissionDenied,
                fmt::format("queue: '{}' takes the jobs of team '{}' only, not of '{}'", queue.name,
                            queue.team, spec.team));
  }
  if (open.empty() && !config_.teams.queues.empty()) {
    return fail(ErrorCode::kPermissionDenied,
                fmt::format("queue: team '{}' has none that {} may use; teams.d must give it one",
                            spec.team, caller.owner.user));
  }
  auto queue = choose_name("queue", spec.queue, open);
  if (!queue) return fail(queue);
  spec.queue = std::move(*queue);
  return {};
}

// What no set of nodes has, even when empty and healthy (Q6), naming what is possible.
Result<> ControllerState::check_fit(const JobSpec& spec) const {
  const ComponentSpec& part = spec.component();
  std::uint32_t allowed = 0;
  std::uint32_t fitting = 0;
  NodeResources most;
  bool type_exists = false;
  for (const NodeEntry& entry : nodes_) {
    const NodeConfig& node = entry.node.config;
    const auto listed = [&](const std::vector<std::string>& names) {
      return std::ranges::find(names, node.name) != names.end();
    };
    if ((!spec.nodes_wanted.empty() && !listed(spec.nodes_wanted)) || listed(spec.nodes_avoided))
      continue;
    ++allowed;
    most.cpus = std::max(most.cpus, node.resources.cpus);
    most.memory = std::max(most.memory, node.resources.memory);
    if (part.per_node.gpu_type.empty() || part.per_node.gpu_type == node.resources.gpu_type) {
      type_exists = true;
      most.gpus = std::max(most.gpus, node.resources.gpus);
    }
    const bool fits =
        part.per_node.gpus.devices() <= node.resources.gpus &&
        (part.per_node.gpu_type.empty() || part.per_node.gpu_type == node.resources.gpu_type) &&
        part.per_node.cpus <= node.resources.cpus &&
        (part.per_node.whole_node || part.per_node.gpus.value > 0 ||
         part.ranks_per_node <= node.resources.cpus) &&
        part.per_node.memory <= node.resources.memory;
    if (fits) ++fitting;
  }
  const auto never = [](std::string text) { return fail(ErrorCode::kNeverFits, std::move(text)); };
  if (part.nodes > allowed) {
    return never(fmt::format("nodes: asked {}, possible {}", part.nodes, allowed));
  }
  if (!type_exists)
    return never(fmt::format("gpu type: no allowed node has '{}'", part.per_node.gpu_type));
  const std::uint64_t gpus = part.per_node.gpus.devices();
  if (gpus > most.gpus)
    return never(fmt::format("gpus per node: asked {}, possible {}", gpus, most.gpus));
  if (part.per_node.cpus > most.cpus) {
    return never(
        fmt::format("cpus per node: asked {}, possible {}", part.per_node.cpus, most.cpus));
  }
  if (part.per_node.memory > most.memory) {
    return never(fmt::format("memory per node: asked {}, possible {}",
                             format_bytes(part.per_node.memory), format_bytes(most.memory)));
  }
  if (part.nodes > fitting) {
    return never(fmt::format("nodes: asked {}, possible {} with these GPUs, CPUs and memory",
                             part.nodes, fitting));
  }
  return {};
}

Result<JobSpec> ControllerState::admit_change(const Caller& caller, const LiveJob& live,
                                              const JobChange& change) {
  JobSpec spec = *live.job.spec;
  if (change.name) spec.name = *change.name;
  if (change.priority) spec.priority = *change.priority;
  if (change.time_limit) spec.time_limit = change.time_limit;
  if (change.nodes) spec.components.front().nodes = *change.nodes;
  if (change.nodes_wanted) spec.nodes_wanted = *change.nodes_wanted;
  if (change.nodes_avoided) spec.nodes_avoided = *change.nodes_avoided;
  // What is as it was needs no right any more.
  if (change.priority) {
    if (auto ok = check_offers(caller, spec); !ok) return fail(ok);
  }
  if (auto ok = check_form(spec); !ok) return fail(ok);
  if (auto ok = check_sizes(spec); !ok) return fail(ok);
  if (!change.is_of_request()) return spec;
  // What it has named before may have left the configuration since.
  if (change.nodes_wanted || change.nodes_avoided) {
    if (auto ok = check_names(spec); !ok) return fail(ok);
  }
  if (auto ok = apply_max_time(config_.teams.find_queue(spec.queue), spec); !ok) return fail(ok);
  if (auto ok = check_fit(spec); !ok) return fail(ok);
  if (auto ok = core_->check(facts_of(live.job.id, spec)); !ok) return fail(ok);
  return spec;
}

void ControllerState::add_job(JobId id, JobSpec spec, Time now) {
  if (!spec.client_token.empty()) {
    tokens_.emplace(std::pair(spec.owner.uid, spec.client_token), id);
    token_ages_.push_back({now, spec.owner.uid, spec.client_token});
  }
  event(now, "submit", id, spec.owner.user, spec.name);
  LiveJob live;
  live.job.id = id;
  live.job.state = spec.held ? JobState::kHeld : JobState::kPending;
  live.job.wait.code = spec.held ? WaitCode::kHeld : WaitCode::kNotConsidered;
  live.job.wait.nodes_wanted = spec.component().nodes;
  live.job.submitted_at = now;
  live.job.spec = std::make_shared<const JobSpec>(std::move(spec));
  new_jobs_.insert(id);
  touch(jobs_.emplace(id, std::move(live)).first->second);
  pass_due_ = true;
}

Result<LiveJob*> ControllerState::find_own(const Caller& caller, JobId id) {
  const auto it = jobs_.find(id);
  if (it == jobs_.end() || is_final(it->second.job.state)) {
    return fail(ErrorCode::kNotFound, fmt::format("job {} does not exist or has ended", id.value));
  }
  const Owner& owner = it->second.job.spec->owner;
  if (!caller.is_operator && caller.owner.uid != owner.uid) {
    return fail(ErrorCode::kPermissionDenied,
                fmt::format("job {} belongs to {}", id.value, owner.user));
  }
  return &it->second;
}

}  // namespace artel::ctld
