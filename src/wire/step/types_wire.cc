// The shared messages field by field. What arrives is checked here, so that the rest of the program
// can rely on it.
#include "wire/step/types_wire.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace artel::wire {
namespace {

// Limits of the protocol, far above what any cluster has: they keep sums inside 64 bits and memory
// bounded. What the present cluster can do is checked by the controller.
constexpr int kMostComponents = 64;
constexpr int kMostListItems = 1 << 20;
constexpr std::uint64_t kMostGpuMilli = 1024 * GpuMilli::kPerDevice;
constexpr std::uint64_t kMostBytes = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMostMs = std::int64_t{100} * 365 * 24 * 3600 * 1000;
constexpr std::uint32_t kMostShort = std::numeric_limits<std::uint16_t>::max();

std::unexpected<Error> refused(std::string text) {
  return fail(ErrorCode::kProtocol, std::move(text));
}

/// The first complaint of several checks.
class Check {
 public:
  explicit Check(std::string_view what) : what_(what) {}

  void at_most(std::string_view field, std::uint64_t value, std::uint64_t most) {
    if (value > most) note(fmt::format("{} is {}, at most {} is allowed", field, value, most));
  }
  void time(std::string_view field, std::int64_t ms) {
    if (ms < 0 || ms > kMostMs)
      note(fmt::format("{} is {} ms, 0 to {} are allowed", field, ms, kMostMs));
  }
  /// Text that becomes a path, an argument or a variable ends at its first NUL.
  void no_nul(std::string_view field, std::string_view text) {
    if (text.find('\0') != std::string_view::npos) note(fmt::format("{} has a NUL in it", field));
  }
  template <typename Texts>
  void no_nuls(std::string_view field, const Texts& texts) {
    at_most(field, static_cast<std::uint64_t>(texts.size()), kMostListItems);
    for (const auto& text : texts) no_nul(field, text);
  }
  void variables(const google::protobuf::RepeatedPtrField<v1::Variable>& variables) {
    at_most("environment", static_cast<std::uint64_t>(variables.size()), kMostListItems);
    for (const auto& variable : variables) {
      no_nul("environment", variable.name());
      no_nul("environment", variable.value());
      if (variable.name().empty() || variable.name().find('=') != std::string::npos)
        note(fmt::format("'{}' cannot be the name of a variable", variable.name()));
    }
  }
  void that(bool holds, std::string_view complaint) {
    if (!holds) note(std::string(complaint));
  }
  [[nodiscard]] Result<> verdict() const {
    if (!complaint_.empty()) return refused(fmt::format("{}: {}", what_, complaint_));
    return {};
  }

 private:
  void note(std::string complaint) {
    if (complaint_.empty()) complaint_ = std::move(complaint);
  }

  std::string_view what_;
  std::string complaint_;
};

// The switches name every enumerator, so that the compiler asks for new ones.

Actor known_actor(std::uint32_t value) {
  if (value > UINT8_MAX) return Actor::kSystem;
  switch (static_cast<Actor>(value)) {
    case Actor::kNone:
    case Actor::kApplication:
    case Actor::kUser:
    case Actor::kLimit:
    case Actor::kPreemption:
    case Actor::kNode:
    case Actor::kHealth:
    case Actor::kLaunch:
    case Actor::kSystem:
      return static_cast<Actor>(value);
  }
  return Actor::kSystem;
}

CauseCode known_code(std::uint32_t value) {
  if (value > UINT8_MAX) return CauseCode::kUnknown;
  switch (static_cast<CauseCode>(value)) {
    case CauseCode::kNone:
    case CauseCode::kExit:
    case CauseCode::kSignal:
    case CauseCode::kAbort:
    case CauseCode::kLeftEarly:
    case CauseCode::kCancel:
    case CauseCode::kTimeLimit:
    case CauseCode::kOutOfMemory:
    case CauseCode::kNodeLost:
    case CauseCode::kStepLost:
    case CauseCode::kPrepareRefused:
    case CauseCode::kPrepareTimeout:
    case CauseCode::kExecFailed:
    case CauseCode::kOutputFailed:
    case CauseCode::kRetriesSpent:
    case CauseCode::kUnknown:
    case CauseCode::kPreempted:
    case CauseCode::kDependencyNeverMet:
    case CauseCode::kDeadline:
    case CauseCode::kMaxWait:
    case CauseCode::kHold:
    case CauseCode::kRequeue:
      return static_cast<CauseCode>(value);
  }
  return CauseCode::kUnknown;
}

template <typename Field>
std::vector<std::string> strings(const Field& field) {
  return {field.begin(), field.end()};
}

template <typename Field>
void set_strings(const std::vector<std::string>& texts, Field& field) {
  field.Reserve(static_cast<int>(texts.size()));
  for (const auto& text : texts) *field.Add() = text;
}

void set_environment(const Environment& environment,
                     google::protobuf::RepeatedPtrField<v1::Variable>& out) {
  out.Reserve(static_cast<int>(environment.size()));
  for (const auto& [name, value] : environment) {
    auto& variable = *out.Add();
    variable.set_name(name);
    variable.set_value(value);
  }
}

Environment get_environment(const google::protobuf::RepeatedPtrField<v1::Variable>& in) {
  Environment environment;
  environment.reserve(static_cast<std::size_t>(in.size()));
  for (const auto& variable : in) environment.emplace_back(variable.name(), variable.value());
  return environment;
}

void to_proto(const ComponentSpec& component, v1::Component& out) {
  out.set_nodes(component.nodes);
  out.set_ranks_per_node(component.ranks_per_node);
  out.set_launch(static_cast<std::uint32_t>(component.launch));
  auto& per_node = *out.mutable_per_node();
  per_node.set_whole_node(component.per_node.whole_node);
  per_node.set_gpu_milli(component.per_node.gpus.value);
  per_node.set_gpu_type(component.per_node.gpu_type);
  per_node.set_cpus(component.per_node.cpus);
  per_node.set_memory_bytes(component.per_node.memory.value);
}

ComponentSpec component_from(const v1::Component& in) {
  ComponentSpec component;
  component.nodes = in.nodes();
  component.ranks_per_node = in.ranks_per_node();
  component.launch = static_cast<LaunchKind>(in.launch());
  component.per_node.whole_node = in.per_node().whole_node();
  component.per_node.gpus = GpuMilli{in.per_node().gpu_milli()};
  component.per_node.gpu_type = in.per_node().gpu_type();
  component.per_node.cpus = in.per_node().cpus();
  component.per_node.memory = Bytes{in.per_node().memory_bytes()};
  return component;
}

Result<> check(const v1::JobSpec& in) {
  Check check("job");
  check.that(in.components_size() > 0, "it has no component");
  check.at_most("components", static_cast<std::uint64_t>(in.components_size()), kMostComponents);
  for (const auto& component : in.components()) {
    check.at_most("launch kind", component.launch(),
                  static_cast<std::uint64_t>(LaunchKind::kScript));
    check.at_most("GPUs in thousandths per node", component.per_node().gpu_milli(), kMostGpuMilli);
    check.at_most("memory per node", component.per_node().memory_bytes(), kMostBytes);
  }
  check.at_most("kind", in.kind(), static_cast<std::uint64_t>(JobKind::kService));
  if (in.has_time_limit_ms()) check.time("time limit", in.time_limit_ms());
  if (in.has_grace_ms()) check.time("grace", in.grace_ms());
  if (in.has_begin_ms()) check.time("begin", in.begin_ms());
  if (in.has_deadline_ms()) check.time("deadline", in.deadline_ms());
  if (in.has_max_wait_ms()) check.time("longest wait", in.max_wait_ms());
  check.at_most("locality", in.locality(), static_cast<std::uint64_t>(Closeness::kLeaf));
  check.at_most("licences", static_cast<std::uint64_t>(in.licences_size()), kMostListItems);
  check.no_nuls("arguments", in.argv());
  check.no_nuls("wanted nodes", in.nodes_wanted());
  check.no_nuls("avoided nodes", in.nodes_avoided());
  check.no_nuls("shared with", in.shared_with());
  check.variables(in.environment());
  for (const auto* text :
       {&in.name(), &in.team(), &in.queue(), &in.project(), &in.output(), &in.error(),
        &in.working_directory(), &in.client_token(), &in.job_class(), &in.features()})
    check.no_nul("name, team, queue, project, path or token", *text);
  return check.verdict();
}

Result<> check(const v1::LaunchSpec& in) {
  Check check("launch");
  check.that(in.key().job() != 0 && in.key().attempt() != 0, "its attempt has no number");
  check.that(in.node_index() < static_cast<std::uint32_t>(in.nodes_size()),
             "the receiver is not in its list of nodes");
  check.at_most("nodes", static_cast<std::uint64_t>(in.nodes_size()), kMostListItems);
  check.at_most("launch kind", in.launch(), static_cast<std::uint64_t>(LaunchKind::kScript));
  check.that(in.launch() != static_cast<std::uint32_t>(LaunchKind::kAuto),
             "its launch kind is not resolved");
  if (in.has_time_limit_ms()) check.time("time limit", in.time_limit_ms());
  check.time("grace", in.grace_ms());
  for (const std::uint32_t gpu : in.gpus()) check.at_most("GPU index", gpu, kMostShort);
  check.at_most("memory", in.memory_bytes(), kMostBytes);
  check.at_most("port", in.master_port(), kMostShort);
  check.no_nuls("nodes", in.nodes());
  check.no_nuls("arguments", in.argv());
  check.variables(in.environment());
  for (const auto* text : {&in.working_directory(), &in.output(), &in.error()})
    check.no_nul("path", *text);
  return check.verdict();
}

}  // namespace

void to_proto(const AttemptKey& key, v1::AttemptKey& out) {
  out.set_job(key.job.value);
  out.set_task(key.task.value);
  out.set_attempt(key.attempt.value);
}

AttemptKey from_proto(const v1::AttemptKey& in) {
  return {JobId{in.job()}, TaskIndex{in.task()}, AttemptNo{in.attempt()}};
}

void to_proto(const Owner& owner, v1::Owner& out) {
  out.set_uid(owner.uid);
  out.set_gid(owner.gid);
  out.set_user(owner.user);
}

Owner from_proto(const v1::Owner& in) { return {in.uid(), in.gid(), in.user()}; }

void to_proto(const Cause& cause, v1::Cause& out) {
  out.set_actor(static_cast<std::uint32_t>(cause.actor));
  out.set_code(static_cast<std::uint32_t>(cause.code));
  out.set_actor_name(cause.actor_name);
  out.set_node(cause.node);
  if (cause.rank) {
    out.set_rank(*cause.rank);
  } else {
    out.clear_rank();
  }
  out.set_exit_code(cause.exit_code);
  out.set_signal(cause.signal);
  out.set_text(cause.text);
}

Cause from_proto(const v1::Cause& in) {
  Cause cause;
  cause.actor = known_actor(in.actor());
  cause.code = known_code(in.code());
  cause.actor_name = in.actor_name();
  cause.node = in.node();
  if (in.has_rank()) cause.rank = in.rank();
  cause.exit_code = in.exit_code();
  cause.signal = in.signal();
  cause.text = in.text();
  return cause;
}

void to_proto(const NodeResources& resources, v1::NodeResources& out) {
  out.set_cpus(resources.cpus);
  out.set_memory_bytes(resources.memory.value);
  out.set_gpu_type(resources.gpu_type);
  out.set_gpus(resources.gpus);
}

NodeResources from_proto(const v1::NodeResources& in) {
  return {in.cpus(), Bytes{in.memory_bytes()}, in.gpu_type(), in.gpus()};
}

void to_proto(const NodeEnd& end, v1::NodeEnd& out) {
  out.set_started_ms(to_ms(end.started));
  out.set_ended_ms(to_ms(end.ended));
  to_proto(end.cause, *out.mutable_cause());
  out.set_is_origin(end.is_origin);
  out.set_cpu_ms(end.cpu_ms);
  out.set_max_rss_bytes(end.max_rss.value);
  out.set_leftovers(end.leftovers);
}

NodeEnd from_proto(const v1::NodeEnd& in) {
  NodeEnd end;
  end.started = time_from_ms(in.started_ms());
  end.ended = time_from_ms(in.ended_ms());
  end.cause = from_proto(in.cause());
  end.is_origin = in.is_origin();
  end.cpu_ms = in.cpu_ms();
  end.max_rss = Bytes{in.max_rss_bytes()};
  end.leftovers = in.leftovers();
  return end;
}

void to_proto(const StepPeer& peer, v1::StepPeer& out) {
  out.set_node(peer.node);
  out.set_address(peer.address);
  out.set_port(peer.port);
}

StepPeer from_proto(const v1::StepPeer& in) {
  // A port that cannot be is none: dialling it fails with the peer's name.
  const auto port = in.port() <= kMostShort ? static_cast<std::uint16_t>(in.port()) : 0;
  return {in.node(), in.address(), static_cast<std::uint16_t>(port)};
}

void to_proto(const LaunchSpec& spec, v1::LaunchSpec& out) {
  out.Clear();
  to_proto(spec.key, *out.mutable_key());
  out.set_cluster(spec.cluster);
  out.set_job_name(spec.job_name);
  to_proto(spec.owner, *out.mutable_owner());
  out.set_launch(static_cast<std::uint32_t>(spec.launch));
  set_strings(spec.nodes, *out.mutable_nodes());
  out.set_node_index(spec.node_index);
  out.set_ranks_per_node(spec.ranks_per_node);
  out.set_script(spec.script);
  set_strings(spec.argv, *out.mutable_argv());
  set_environment(spec.environment, *out.mutable_environment());
  out.set_working_directory(spec.working_directory);
  out.set_output(spec.output);
  out.set_error(spec.error);
  out.set_attached(spec.attached);
  if (spec.time_limit) out.set_time_limit_ms(spec.time_limit->count());
  out.set_grace_ms(spec.grace.count());
  for (const std::uint16_t gpu : spec.gpus) out.add_gpus(gpu);
  out.set_cpus(spec.cpus);
  out.set_memory_bytes(spec.memory.value);
  out.set_master_port(spec.master_port);
  out.set_step_key(spec.step_key);
}

Result<LaunchSpec> from_proto(const v1::LaunchSpec& in) {
  if (auto checked = check(in); !checked) return fail(checked);
  LaunchSpec spec;
  spec.key = from_proto(in.key());
  spec.cluster = in.cluster();
  spec.job_name = in.job_name();
  spec.owner = from_proto(in.owner());
  spec.launch = static_cast<LaunchKind>(in.launch());
  spec.nodes = strings(in.nodes());
  spec.node_index = in.node_index();
  spec.ranks_per_node = in.ranks_per_node();
  spec.script = in.script();
  spec.argv = strings(in.argv());
  spec.environment = get_environment(in.environment());
  spec.working_directory = in.working_directory();
  spec.output = in.output();
  spec.error = in.error();
  spec.attached = in.attached();
  if (in.has_time_limit_ms()) spec.time_limit = Duration{in.time_limit_ms()};
  spec.grace = Duration{in.grace_ms()};
  for (const std::uint32_t gpu : in.gpus()) spec.gpus.push_back(static_cast<std::uint16_t>(gpu));
  spec.cpus = in.cpus();
  spec.memory = Bytes{in.memory_bytes()};
  spec.master_port = static_cast<std::uint16_t>(in.master_port());
  spec.step_key = in.step_key();
  return spec;
}

void to_proto(const JobSpec& spec, v1::JobSpec& out) {
  to_proto_outline(spec, out);
  out.set_script(spec.script);
  set_environment(spec.environment, *out.mutable_environment());
  out.set_client_token(spec.client_token);
}

void to_proto_outline(const JobSpec& spec, v1::JobSpec& out) {
  out.Clear();
  out.set_name(spec.name);
  to_proto(spec.owner, *out.mutable_owner());
  out.set_acting_for(spec.acting_for);
  set_strings(spec.shared_with, *out.mutable_shared_with());
  out.set_team(spec.team);
  out.set_queue(spec.queue);
  out.set_project(spec.project);
  out.set_kind(static_cast<std::uint32_t>(spec.kind));
  out.set_priority(spec.priority);
  out.set_held(spec.held);
  out.set_array_size(spec.array ? spec.array->indexes.size() : 1);
  if (spec.array) out.set_array(array_text(*spec.array));
  for (const auto& component : spec.components) to_proto(component, *out.add_components());
  for (const auto& licence : spec.licences) {
    auto& one = *out.add_licences();
    one.set_name(licence.name);
    one.set_count(licence.count);
  }
  set_strings(spec.nodes_wanted, *out.mutable_nodes_wanted());
  set_strings(spec.nodes_avoided, *out.mutable_nodes_avoided());
  if (spec.time_limit) out.set_time_limit_ms(spec.time_limit->count());
  if (spec.grace) out.set_grace_ms(spec.grace->count());
  if (spec.begin) out.set_begin_ms(to_ms(*spec.begin));
  if (spec.deadline) out.set_deadline_ms(to_ms(*spec.deadline));
  if (spec.max_wait) out.set_max_wait_ms(spec.max_wait->count());
  out.set_job_class(spec.job_class);
  out.set_class_priority(spec.class_priority);
  if (spec.preemptible) out.set_preemptible(*spec.preemptible);
  out.set_no_requeue(!spec.requeue);
  out.set_features(spec.features);
  out.set_locality(static_cast<std::uint32_t>(spec.closeness));
  out.mutable_retries()->set_application(spec.retries.application);
  out.mutable_retries()->set_node(spec.retries.node);
  out.mutable_retries()->set_launch(spec.retries.launch);
  set_strings(spec.argv, *out.mutable_argv());
  out.set_working_directory(spec.working_directory);
  out.set_output(spec.output);
  out.set_error(spec.error);
  out.set_attached(spec.attached);
}

Result<JobSpec> from_proto(const v1::JobSpec& in) {
  if (auto checked = check(in); !checked) return fail(checked);
  JobSpec spec;
  spec.name = in.name();
  spec.owner = from_proto(in.owner());
  spec.acting_for = in.acting_for();
  spec.shared_with = strings(in.shared_with());
  spec.team = in.team();
  spec.queue = in.queue();
  spec.project = in.project();
  spec.kind = static_cast<JobKind>(in.kind());
  spec.priority = in.priority();
  spec.held = in.held();
  if (!in.array().empty()) {
    auto array = parse_array(in.array(), kMostArrayTasks);
    if (!array) return refused("array: " + array.error().text);
    spec.array = std::move(*array);
  } else if (in.array_size() > 1) {
    return refused(fmt::format("array_size: {} tasks without `array`, the list of their indexes",
                               in.array_size()));
  }
  for (const auto& component : in.components())
    spec.components.push_back(component_from(component));
  for (const auto& licence : in.licences())
    spec.licences.push_back({licence.name(), licence.count()});
  spec.nodes_wanted = strings(in.nodes_wanted());
  spec.nodes_avoided = strings(in.nodes_avoided());
  if (in.has_time_limit_ms()) spec.time_limit = Duration{in.time_limit_ms()};
  if (in.has_grace_ms()) spec.grace = Duration{in.grace_ms()};
  if (in.has_begin_ms()) spec.begin = time_from_ms(in.begin_ms());
  if (in.has_deadline_ms()) spec.deadline = time_from_ms(in.deadline_ms());
  if (in.has_max_wait_ms()) spec.max_wait = Duration{in.max_wait_ms()};
  spec.job_class = in.job_class();
  spec.class_priority = in.class_priority();
  if (in.has_preemptible()) spec.preemptible = in.preemptible();
  spec.requeue = !in.no_requeue();
  spec.features = in.features();
  spec.closeness = static_cast<Closeness>(in.locality());
  if (in.has_retries())
    spec.retries = {in.retries().application(), in.retries().node(), in.retries().launch()};
  spec.script = in.script();
  spec.argv = strings(in.argv());
  spec.environment = get_environment(in.environment());
  spec.working_directory = in.working_directory();
  spec.output = in.output();
  spec.error = in.error();
  spec.attached = in.attached();
  spec.client_token = in.client_token();
  return spec;
}

std::string encode_spec(const JobSpec& spec) {
  v1::JobSpec message;
  to_proto(spec, message);
  return message.SerializeAsString();
}

Result<JobSpec> decode_spec(std::string_view bytes) {
  v1::JobSpec message;
  if (bytes.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()) ||
      !message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    return refused(fmt::format("the {} bytes are not the record of a job", bytes.size()));
  return from_proto(message);
}

}  // namespace artel::wire
