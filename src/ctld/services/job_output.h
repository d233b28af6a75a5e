// Reads a job's output where it was written: on the first node of its latest attempt, through that
// node's agent.
//
// Thread: any.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "client.pb.h"
#include "ctld/core/controller.h"
#include "ctld/core/snapshot.h"
#include "ctld/store/records.h"
#include "model/attempt.h"
#include "model/job_spec.h"
#include "model/job_state.h"

namespace artel::ctld {

class AgentHub;
class Call;
class ControlLoop;
class ReaderPool;

/// Most bytes of one answer.
inline constexpr std::uint32_t kMaxOutputBytes = 1U << 20U;

/// What must be known of a job to find its output.
struct OutputPlace {
  std::shared_ptr<const JobSpec> spec;
  JobState state = JobState::kPending;
  std::optional<AttemptKey> attempt;  // absent before the first process: there is no output yet
  std::string node;                   // the attempt's first
};

OutputPlace output_place(const Snapshot& snapshot, const Job& job);
OutputPlace output_place(const HistoryJob& job);

/// The file on the node; "" for spooled output.
std::string output_file(const OutputPlace& place, bool error_stream);

class JobOutput {
 public:
  JobOutput(ControlLoop& loop, ReaderPool& readers, AgentHub& agents);

  /// Answers the call, or gives the error to refuse it with.
  Result<> read(Call& call, const Caller& caller, const v1::ReadOutputRequest& request,
                v1::ReadOutputReply& reply);

 private:
  struct Reading {
    Call* call{};
    std::shared_ptr<const Caller> caller;
    const v1::ReadOutputRequest* request{};
    v1::ReadOutputReply* reply{};
  };

  void look_in_store(const Reading& reading);
  void ask(const Reading& reading, const OutputPlace& place);
  Result<> try_ask(const Reading& reading, const OutputPlace& place);

  ControlLoop& loop_;
  ReaderPool& readers_;
  AgentHub& agents_;
};

}  // namespace artel::ctld
