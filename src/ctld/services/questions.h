// Questions about the scheduling: why a job waits, what a change would do.
//
// The control thread gives a copy of the scheduling state; the answer is worked out on a thread of
// its own, one question after the other, so that however many people ask, commands and passes go
// on. Thread: any.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "client.pb.h"
#include "ctld/core/controller.h"
#include "ctld/services/worker_pool.h"

namespace artel::ctld {

class Call;
class ControlLoop;
class SchedulingSnapshot;

class Questions {
 public:
  Questions(ControlLoop& loop, std::string default_output);
  /// Answers what was asked; after the control loop has stopped.
  void stop();

  // Both: answer the call, or give the error to refuse it with.
  Result<> explain(Call& call, const Caller& caller, const v1::ExplainRequest& request,
                   v1::ExplainReply& reply);
  Result<> what_if(Call& call, const Caller& caller, const v1::WhatIfRequest& request,
                   v1::WhatIfReply& reply);

 private:
  using Answer = std::function<Result<>(const SchedulingSnapshot&)>;

  /// Answers the call by `answer`, which fills its reply.
  Result<> ask(Call& call, const Caller& caller, std::optional<JobSpec> candidate, Answer answer);

  ControlLoop& loop_;
  const std::string default_output_;
  std::atomic<int> open_ = 0;
  WorkerPool workers_;
};

}  // namespace artel::ctld
