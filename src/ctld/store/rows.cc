#include "ctld/store/rows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <memory>
#include <utility>

#include "wire/step/types_wire.h"

namespace artel::ctld {
namespace {

std::optional<std::int64_t> ms(const std::optional<Time>& time) {
  if (!time) return std::nullopt;
  return to_ms(*time);
}

std::int64_t signed_of(std::uint64_t value) { return static_cast<std::int64_t>(value); }

}  // namespace

void bind_cause(sql::Statement& statement, const Cause& cause) {
  std::optional<std::int64_t> rank;
  if (cause.rank) rank = *cause.rank;
  statement.bind(static_cast<std::int64_t>(cause.actor))
      .bind(static_cast<std::int64_t>(cause.code))
      .bind_text(cause.actor_name)
      .bind_text(cause.node)
      .bind(rank)
      .bind(cause.exit_code)
      .bind(cause.signal)
      .bind_text(cause.text);
}

Cause read_cause(Fields& fields) {
  Cause cause;
  cause.actor = fields.word<Actor>("cause_actor");
  cause.code = fields.word<CauseCode>("cause_code");
  cause.actor_name = fields.text();
  cause.node = fields.text();
  if (const auto rank = fields.maybe()) {
    if (!std::in_range<std::uint32_t>(*rank)) fields.complain("cause_rank", *rank);
    cause.rank = static_cast<std::uint32_t>(*rank);
  }
  cause.exit_code = fields.number<std::int32_t>("cause_exit_code");
  cause.signal = fields.number<std::int32_t>("cause_signal");
  cause.text = fields.text();
  return cause;
}

namespace {

AttemptKey read_key(Fields& fields) {
  AttemptKey key;
  key.job = JobId{fields.number<std::uint64_t>("job")};
  key.task = TaskIndex{fields.number<std::uint32_t>("task")};
  key.attempt = AttemptNo{fields.number<std::uint32_t>("attempt")};
  return key;
}

/// "0,1,7"
std::vector<std::uint16_t> read_gpus(Fields& fields) {
  const std::string text = fields.text();
  std::vector<std::uint16_t> gpus;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    std::uint16_t gpu = 0;
    const auto parsed = std::from_chars(at, end, gpu);
    if (parsed.ec != std::errc{} || (parsed.ptr != end && *parsed.ptr != ',')) {
      fields.complain("gpus", static_cast<std::int64_t>(at - text.data()));
      break;
    }
    gpus.push_back(gpu);
    at = parsed.ptr == end ? end : parsed.ptr + 1;
  }
  return gpus;
}

}  // namespace

void bind_job(sql::Statement& statement, const Job& job, const NameOf& names) {
  std::string excluded;
  for (const NodeId node : job.excluded) {
    if (!excluded.empty()) excluded += ',';
    excluded += names(node);
  }
  statement.bind(static_cast<std::int64_t>(job.state))
      .bind(is_final(job.state) ? 1 : 0)
      .bind(ms(job.ended_at))
      .bind(static_cast<std::int64_t>(job.wait.code))
      .bind(job.wait.nodes_wanted)
      .bind(job.wait.nodes_free)
      .bind(signed_of(job.wait.behind.value))
      .bind(ms(job.wait.planned_start));
  bind_cause(statement, job.cause);
  statement.bind(job.retries.application)
      .bind(job.retries.node)
      .bind(job.retries.launch)
      .bind(job.last_attempt.value)
      .bind_text(excluded)
      .bind(job.standing.evictions)
      .bind(to_ms(job.standing.backoff_until))
      .bind(ms(job.standing.retry_at));
}

void bind_attempt(sql::Statement& statement, const Attempt& attempt) {
  statement.bind(signed_of(attempt.key.job.value))
      .bind(attempt.key.task.value)
      .bind(attempt.key.attempt.value)
      .bind(to_ms(attempt.allocated_at))
      .bind(ms(attempt.started_at))
      .bind(ms(attempt.ended_at))
      .bind(ms(attempt.limit_end))
      .bind(attempt.start_ordered ? 1 : 0)
      .bind(attempt.master_port)
      .bind_blob(attempt.step_key)
      .bind(static_cast<std::int64_t>(attempt.outcome));
  bind_cause(statement, attempt.cause);
}

void bind_part(sql::Statement& statement, const AttemptKey& key, std::size_t index,
               const NodePart& part, const NameOf& names) {
  std::optional<Time> started;
  std::optional<Time> ended;
  const NodeEnd end = part.end.value_or(NodeEnd{});
  if (part.end) {
    started = end.started;
    ended = end.ended;
  }
  statement.bind(signed_of(key.job.value))
      .bind(key.task.value)
      .bind(key.attempt.value)
      .bind(signed_of(index))
      .bind_text(names(part.share.node))
      .bind_text(fmt::format("{}", fmt::join(part.share.gpus, ",")))
      .bind(signed_of(part.share.gpus.size()))
      .bind(part.share.cpus)
      .bind(signed_of(part.share.memory.value))
      .bind(part.share.whole_node ? 1 : 0)
      .bind(static_cast<std::int64_t>(part.phase))
      .bind(part.port)
      .bind(ms(started))
      .bind(ms(ended));
  bind_cause(statement, end.cause);
  statement.bind(end.is_origin ? 1 : 0)
      .bind(signed_of(end.cpu_ms))
      .bind(signed_of(end.max_rss.value));
}

std::optional<std::int64_t> Fields::maybe() {
  if (!statement_.is_null(next_)) return integer();
  ++next_;
  return std::nullopt;
}

std::optional<Time> Fields::maybe_time() {
  if (const auto value = maybe()) return time_from_ms(*value);
  return std::nullopt;
}

void Fields::complain(std::string_view column, std::int64_t value) {
  if (complaint_.empty()) complaint_ = fmt::format("column {} has the value {}", column, value);
}

void read_job(Fields& fields, Job& job, std::vector<std::string>& excluded) {
  job.state = fields.word<JobState>("state");
  const bool final = fields.flag();
  if (fields.complaint().empty() && final != is_final(job.state))
    fields.complain("final", final ? 1 : 0);
  job.ended_at = fields.maybe_time();
  job.wait.code = fields.word<WaitCode>("wait_code");
  job.wait.nodes_wanted = fields.number<std::uint32_t>("wait_nodes_wanted");
  job.wait.nodes_free = fields.number<std::uint32_t>("wait_nodes_free");
  job.wait.behind = JobId{fields.number<std::uint64_t>("wait_behind")};
  job.wait.planned_start = fields.maybe_time();
  job.cause = read_cause(fields);
  job.retries.application = fields.number<std::uint32_t>("retries_application");
  job.retries.node = fields.number<std::uint32_t>("retries_node");
  job.retries.launch = fields.number<std::uint32_t>("retries_launch");
  job.last_attempt = AttemptNo{fields.number<std::uint32_t>("last_attempt")};
  const std::string names = fields.text();
  for (std::size_t at = 0; at < names.size();) {
    const std::size_t end = std::min(names.find(',', at), names.size());
    excluded.push_back(names.substr(at, end - at));
    at = end + 1;
  }
  job.standing.evictions = fields.number<std::uint32_t>("evictions");
  job.standing.backoff_until = fields.time();
  job.standing.retry_at = fields.maybe_time();
}

std::string read_whole_job(const sql::Statement& row, Job& job,
                           std::vector<std::string>& excluded) {
  auto spec = wire::decode_spec(row.text(0));
  const std::string complaint = spec ? std::string() : spec.error().text;
  if (spec) job.spec = std::make_shared<const JobSpec>(std::move(*spec));
  Fields fields(row, 1);
  job.id = JobId{fields.number<std::uint64_t>("id")};
  job.submitted_at = fields.time();
  const TaskOf task{JobId{fields.number<std::uint64_t>("array")},
                    TaskIndex{fields.number<std::uint32_t>("task")}};
  if (task.array.value != 0) job.task = task;
  read_job(fields, job, excluded);
  if (!complaint.empty()) return complaint;
  if (!fields.complaint().empty()) return fields.complaint();
  const auto number = task.array.value == 0 || !job.spec->array
                          ? std::optional<JobId>{}
                          : task_number(task.array, *job.spec->array, task.index);
  if (task.array.value != 0 && number != job.id)
    return fmt::format("array {} has no task {} with this number", task.array.value,
                       task.index.value);
  return {};
}

Attempt read_attempt(Fields& fields) {
  Attempt attempt;
  attempt.key = read_key(fields);
  attempt.allocated_at = fields.time();
  attempt.started_at = fields.maybe_time();
  attempt.ended_at = fields.maybe_time();
  attempt.limit_end = fields.maybe_time();
  attempt.start_ordered = fields.flag();
  attempt.master_port = fields.number<std::uint16_t>("master_port");
  attempt.step_key = fields.text();
  attempt.outcome = fields.word<JobState>("outcome");
  attempt.cause = read_cause(fields);
  return attempt;
}

StoredPart read_part(Fields& fields) {
  StoredPart stored;
  stored.key = read_key(fields);
  stored.index = fields.number<std::uint32_t>("node_index");
  stored.node = fields.text();
  NodeShare& share = stored.part.share;
  share.gpus = read_gpus(fields);
  const std::int64_t gpu_count = fields.integer();
  if (gpu_count != signed_of(share.gpus.size())) fields.complain("gpu_count", gpu_count);
  share.cpus = fields.number<std::uint32_t>("cpus");
  share.memory = Bytes{fields.number<std::uint64_t>("memory_bytes")};
  share.whole_node = fields.flag();
  stored.part.phase = fields.word<NodePhase>("phase");
  stored.part.port = fields.number<std::uint16_t>("port");
  const auto started = fields.maybe_time();
  const auto ended = fields.maybe_time();
  NodeEnd end;
  end.cause = read_cause(fields);
  end.is_origin = fields.flag();
  end.cpu_ms = fields.number<std::uint64_t>("cpu_ms");
  end.max_rss = Bytes{fields.number<std::uint64_t>("max_rss_bytes")};
  if (ended) {
    end.started = started.value_or(Time{});
    end.ended = *ended;
    stored.part.end = std::move(end);
  }
  return stored;
}

// The switches name every enumerator, so that the compiler asks for new ones.

bool is_known(JobState state) {
  switch (state) {
    case JobState::kHeld:
    case JobState::kStaging:
    case JobState::kPending:
    case JobState::kAllocated:
    case JobState::kPreparing:
    case JobState::kRunning:
    case JobState::kCompleting:
    case JobState::kCompleted:
    case JobState::kFailed:
    case JobState::kCancelled:
    case JobState::kTimeout:
    case JobState::kOutOfMemory:
    case JobState::kNodeFail:
    case JobState::kPreempted:
    case JobState::kBootFail:
    case JobState::kDeadline:
      return true;
  }
  return false;
}

bool is_known(NodePhase phase) {
  switch (phase) {
    case NodePhase::kPreparing:
    case NodePhase::kReady:
    case NodePhase::kStarting:
    case NodePhase::kRunning:
    case NodePhase::kEnding:
    case NodePhase::kEnded:
      return true;
  }
  return false;
}

bool is_known(WaitCode code) { return code <= kLastWaitCode; }

bool is_known(Actor actor) {
  switch (actor) {
    case Actor::kNone:
    case Actor::kApplication:
    case Actor::kUser:
    case Actor::kLimit:
    case Actor::kPreemption:
    case Actor::kNode:
    case Actor::kHealth:
    case Actor::kLaunch:
    case Actor::kSystem:
      return true;
  }
  return false;
}

bool is_known(CauseCode code) {
  switch (code) {
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
      return true;
  }
  return false;
}

bool is_known(DrainSource source) {
  switch (source) {
    case DrainSource::kOperator:
    case DrainSource::kReboot:
    case DrainSource::kInventory:
    case DrainSource::kLeftovers:
    case DrainSource::kStrikes:
    case DrainSource::kRecord:
      return true;
  }
  return false;
}

bool is_known(ReasonClass reason_class) {
  switch (reason_class) {
    case ReasonClass::kNode:
    case ReasonClass::kHardware:
    case ReasonClass::kSoftware:
    case ReasonClass::kUser:
    case ReasonClass::kMaintenance:
      return true;
  }
  return false;
}

}  // namespace artel::ctld
