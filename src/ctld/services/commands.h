// Commands of clients that change something. Each is one step of the core, answered when its rows
// are durable.
//
// Thread: any; decoding happens on the calling thread, the step on the control thread.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "client.pb.h"
#include "ctld/core/controller.h"
#include "ctld/services/rights.h"

namespace artel::ctld {

class Call;
class ControlLoop;

/// Most jobs that one call may submit, cancel or hold.
inline constexpr int kMaxJobsPerCall = 10'000;
/// Most nodes that one call may drain.
inline constexpr int kMaxNodesPerCall = 10'000;

/// The job as the caller asks for it; `default_output` where it names no output.
Result<JobSpec> read_spec(const Caller& caller, const v1::JobSpec& in,
                          const std::string& default_output);
/// Whether the caller may do it at all; whose jobs are meant is decided by the core.
Result<> check_right(Verb verb, const Caller& caller);

class Commands {
 public:
  /// `default_output`: the pattern of jobs that name no output. `room`: whether something new can
  /// be stored; empty: yes.
  Commands(ControlLoop& loop, std::string default_output, std::function<Result<>()> room);

  // All: answer the call, or give the error to refuse it with.
  Result<> submit(Call& call, const Caller& caller, const v1::SubmitRequest& request,
                  v1::SubmitReply& reply);
  Result<> cancel(Call& call, const Caller& caller, const v1::CancelRequest& request,
                  v1::JobOutcomes& reply);
  Result<> hold(Call& call, const Caller& caller, const v1::HoldRequest& request,
                v1::JobOutcomes& reply);
  Result<> requeue(Call& call, const Caller& caller, const v1::RequeueRequest& request,
                   v1::JobOutcomes& reply);
  Result<> update(Call& call, const Caller& caller, const v1::UpdateRequest& request,
                  v1::JobOutcomes& reply);
  Result<> drain(Call& call, const Caller& caller, const v1::DrainRequest& request,
                 v1::NodeOutcomes& reply);

 private:
  ControlLoop& loop_;
  const std::string default_output_;
  const std::function<Result<>()> room_;
};

}  // namespace artel::ctld
