// Commands of clients: submit and cancel. Each is one step of the core, answered when its rows are
// durable.
//
// Thread: any; decoding happens on the calling thread, the step on the control thread.
#pragma once

#include <string>

#include "base/result.h"
#include "client.pb.h"
#include "ctld/core/controller.h"

namespace artel::ctld {

class Call;
class ControlLoop;

/// Most jobs that one call may submit or cancel.
inline constexpr int kMaxJobsPerCall = 10'000;

class Commands {
 public:
  /// `default_output`: the pattern of jobs that name no output.
  Commands(ControlLoop& loop, std::string default_output);

  // All: answer the call, or give the error to refuse it with.
  Result<> submit(Call& call, const Caller& caller, const v1::SubmitRequest& request,
                  v1::SubmitReply& reply);
  Result<> cancel(Call& call, const Caller& caller, const v1::CancelRequest& request,
                  v1::CancelReply& reply);

 private:
  [[nodiscard]] Result<JobSpec> read_spec(const Caller& caller, const v1::JobSpec& in) const;

  ControlLoop& loop_;
  const std::string default_output_;
};

}  // namespace artel::ctld
