#include "ctld/services/job_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ctld/services/agent_hub.h"
#include "ctld/services/call.h"
#include "ctld/services/control_loop.h"
#include "ctld/services/job_views.h"
#include "ctld/services/reader_pool.h"
#include "ctld/services/rights.h"
#include "model/output_path.h"

namespace artel::ctld {
namespace {

constexpr std::uint32_t kUsualBytes = 256U << 10U;

/// Before its first process an attempt has no output; one that ended without any may have: why it
/// could not start.
bool may_have_output(const Attempt& attempt) {
  return !attempt.parts.empty() && (attempt.started_at || attempt.ended_at);
}

Error name_a_task(const Job& array) {
  return {
      ErrorCode::kInvalidArgument,
      fmt::format("job {} is an array, whose tasks have outputs of their own; name a task: {}_{}",
                  array.id.value, array.id.value, array.spec->array->indexes.front())};
}

}  // namespace

OutputPlace output_place(const Snapshot& snapshot, const Job& job) {
  OutputPlace place{job.spec, job.state, {}, {}};
  if (!job.attempt || !may_have_output(*job.attempt)) return place;
  place.attempt = job.attempt->key;
  place.node = node_name(snapshot, job.attempt->parts.front().share.node);
  return place;
}

OutputPlace output_place(const HistoryJob& job) {
  OutputPlace place{job.job.spec, job.job.state, {}, {}};
  if (job.attempts.empty()) return place;
  const HistoryAttempt& latest = job.attempts.back();
  if (!may_have_output(latest.attempt) || latest.nodes.empty()) return place;
  place.attempt = latest.attempt.key;
  place.node = latest.nodes.front();
  return place;
}

std::string output_file(const OutputPlace& place, bool error_stream) {
  const JobSpec& spec = *place.spec;
  if (spec.attached || !place.attempt) return {};
  const std::string& pattern = error_stream && !spec.error.empty() ? spec.error : spec.output;
  return expand_pattern(pattern, spec, *place.attempt);
}

JobOutput::JobOutput(ControlLoop& loop, ReaderPool& readers, AgentHub& agents)
    : loop_(loop), readers_(readers), agents_(agents) {}

Result<> JobOutput::read(Call& call, const Caller& caller, const v1::ReadOutputRequest& request,
                         v1::ReadOutputReply& reply) {
  if (request.max_bytes() > kMaxOutputBytes) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{} bytes of output asked for; one call gives at most {}",
                            request.max_bytes(), kMaxOutputBytes));
  }
  Reading reading{&call, std::make_shared<const Caller>(caller), &request, &reply};
  return loop_.read(
      [this, reading = std::move(reading)](const std::shared_ptr<const Snapshot>& snapshot) {
        if (const auto job = snapshot->find(JobId{reading.request->job()})) {
          if (job->tasks) return reading.call->refuse(name_a_task(*job));
          return ask(reading, output_place(*snapshot, *job));
        }
        look_in_store(reading);
      });
}

void JobOutput::look_in_store(const Reading& reading) {
  const auto posted = readers_.post([this, reading](StoreReader& reader) {
    const auto job = reader.show(JobId{reading.request->job()});
    if (!job) return reading.call->refuse(job.error());
    if (job->job.tasks) return reading.call->refuse(name_a_task(job->job));
    ask(reading, output_place(*job));
  });
  if (!posted) reading.call->refuse(posted.error());
}

void JobOutput::ask(const Reading& reading, const OutputPlace& place) {
  if (const auto asked = try_ask(reading, place); !asked) reading.call->refuse(asked.error());
}

Result<> JobOutput::try_ask(const Reading& reading, const OutputPlace& place) {
  const Owner& owner = place.spec->owner;
  if (!may(Verb::kReadOutput, role_of(*reading.caller, owner))) {
    return fail(ErrorCode::kPermissionDenied,
                fmt::format("job {} belongs to {}; its output is for {} and operators",
                            reading.request->job(), owner.user, owner.user));
  }
  v1::ReadOutputReply& reply = *reading.reply;
  const bool over = is_final(place.state);
  reply.set_state(std::string(job_state_name(place.state)));
  if (!place.attempt) {
    reply.set_complete(over);
    reading.call->answer();
    return {};
  }
  const v1::ReadOutputRequest& request = *reading.request;
  OutputQuery query{place.node,
                    *place.attempt,
                    owner,
                    output_file(place, request.error_stream()),
                    request.error_stream(),
                    request.offset_bytes(),
                    request.max_bytes() == 0 ? kUsualBytes : request.max_bytes()};
  reply.set_path(query.path);
  return agents_.read_output(query, [reading, over](Result<OutputChunk> chunk) {
    if (!chunk) return reading.call->refuse(chunk.error());
    const std::uint64_t end = reading.request->offset_bytes() + chunk->data.size();
    reading.reply->set_complete(over && end >= chunk->file_size);
    reading.reply->set_file_size_bytes(chunk->file_size);
    reading.reply->set_data(std::move(chunk->data));
    reading.call->answer();
  });
}

}  // namespace artel::ctld
