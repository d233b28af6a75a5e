#include "ctld/store/export.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <map>
#include <nlohmann/json.hpp>
#include <system_error>

#include "base/text.h"
#include "ctld/store/files.h"
#include "model/ending.h"
#include "model/job_state.h"

namespace artel::ctld {
namespace {

using Json = nlohmann::json;

Json maybe_ms(const std::optional<Time>& time) { return time ? Json(to_ms(*time)) : Json(nullptr); }

Json cause_json(const Cause& cause) {
  return {{"actor", actor_name(cause.actor)},
          {"code", cause_name(cause.code)},
          {"actor_name", cause.actor_name},
          {"node", cause.node},
          {"rank", cause.rank ? Json(*cause.rank) : Json(nullptr)},
          {"exit_code", cause.exit_code},
          {"signal", cause.signal},
          {"text", cause.text}};
}

Json part_json(const NodePart& part, const std::string& node) {
  Json out = {{"node", node},
              {"gpus", part.share.gpus},
              {"cpus", part.share.cpus},
              {"memory_bytes", part.share.memory.value},
              {"started_ms", nullptr},
              {"ended_ms", nullptr},
              {"cpu_ms", nullptr},
              {"max_rss_bytes", nullptr}};
  if (!part.end) return out;
  if (part.end->started != Time{}) out["started_ms"] = to_ms(part.end->started);
  out["ended_ms"] = to_ms(part.end->ended);
  out["cpu_ms"] = part.end->cpu_ms;
  out["max_rss_bytes"] = part.end->max_rss.value;
  return out;
}

Json attempt_json(const HistoryAttempt& stored) {
  const Attempt& attempt = stored.attempt;
  Json parts = Json::array();
  for (std::size_t i = 0; i < attempt.parts.size(); ++i)
    parts.push_back(part_json(attempt.parts[i], stored.nodes.at(i)));
  return {
      {"attempt", attempt.key.attempt.value},        {"task", attempt.key.task.value},
      {"allocated_ms", to_ms(attempt.allocated_at)}, {"started_ms", maybe_ms(attempt.started_at)},
      {"ended_ms", maybe_ms(attempt.ended_at)},      {"outcome", job_state_name(attempt.outcome)},
      {"cause", cause_json(attempt.cause)},          {"parts", std::move(parts)}};
}

/// Of an array: how its tasks ended, and those that were no jobs.
Json tasks_json(const Job& array) {
  Json ended = Json::array();
  for (const EndedTasks& some : array.tasks->ended) {
    ended.push_back({{"indexes", some.tasks.text()},
                     {"state", job_state_name(some.state)},
                     {"ended_ms", to_ms(some.ended_at)},
                     {"cause", cause_json(some.cause)}});
  }
  return {{"indexes", array.spec->array->indexes.text()},
          {"completed", array.tasks->completed},
          {"failed", array.tasks->failed},
          {"cancelled", array.tasks->cancelled},
          {"never_started", std::move(ended)}};
}

Json job_json(const HistoryJob& stored) {
  const Job& job = stored.job;
  const JobSpec& spec = *job.spec;
  Json attempts = Json::array();
  for (const HistoryAttempt& attempt : stored.attempts) attempts.push_back(attempt_json(attempt));
  return {{"job", job.id.value},
          {"array", job.task ? Json(job.task->array.value) : Json(nullptr)},
          {"task", job.task ? Json(job.task->index.value) : Json(nullptr)},
          {"tasks", job.tasks ? tasks_json(job) : Json(nullptr)},
          {"state", job_state_name(job.state)},
          {"name", spec.name},
          {"user", spec.owner.user},
          {"uid", spec.owner.uid},
          {"team", spec.team},
          {"queue", spec.queue},
          {"project", spec.project},
          {"kind", job_kind_name(spec.kind)},
          {"class", spec.job_class},
          {"priority", spec.priority},
          {"submitted_ms", to_ms(job.submitted_at)},
          {"ended_ms", maybe_ms(job.ended_at)},
          {"nodes", spec.components.empty() ? 0 : spec.component().nodes},
          {"argv", spec.argv},
          {"script", spec.script},
          {"working_directory", spec.working_directory},
          {"cause", cause_json(job.cause)},
          {"attempts", std::move(attempts)}};
}

/// "jobs-2026-11.jsonl"
std::string file_name(const Job& job) {
  constexpr std::size_t kMonth = 7;
  return fmt::format("jobs-{}.jsonl", format_time(job.ended_at.value_or(Time{})).substr(0, kMonth));
}

bool write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t size = ::write(file, text.data(), text.size());
    if (size < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(size));
  }
  return true;
}

/// Whether the file ends inside a line: a process was killed while it wrote.
bool is_torn(int file, off_t size) {
  char last = '\n';
  return size > 0 && pread(file, &last, 1, size - 1) == 1 && last != '\n';
}

Result<> append(const std::filesystem::path& path, const std::string& lines) {
  constexpr mode_t kOwnerOnly = 0600;
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, kOwnerOnly);
  if (file < 0) return file_failed(path, "cannot open the file of exported jobs");
  struct stat status{};
  const bool is_known = fstat(file, &status) == 0;
  const bool is_done = is_known && write_all(file, is_torn(file, status.st_size) ? "\n" : "") &&
                       write_all(file, lines) && fsync(file) == 0;
  Result<> done;
  if (!is_done) done = file_failed(path, "cannot write exported jobs");
  if (!is_done && is_known) (void)!ftruncate(file, status.st_size);
  close(file);
  return done;
}

}  // namespace

std::string export_line(const HistoryJob& job) {
  return job_json(job).dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<> export_jobs(const std::filesystem::path& folder, const std::vector<HistoryJob>& jobs) {
  if (jobs.empty()) return {};
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    return fail(ErrorCode::kStorage,
                fmt::format("cannot make the folder of exported jobs {}: {}; set "
                            "ctld.history_export in artel.toml",
                            folder.string(), error.message()));
  std::map<std::string, std::string> files;
  for (const HistoryJob& job : jobs) files[file_name(job.job)] += export_line(job);
  for (const auto& [name, lines] : files)
    if (auto done = append(folder / name, lines); !done) return done;
  return sync_folder(folder);
}

}  // namespace artel::ctld
