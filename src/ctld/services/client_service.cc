#include "ctld/services/client_service.h"

#include "ctld/services/call.h"

namespace artel::ctld {

/// Begins a call as its caller, or refuses it.
template <typename Begin>
ClientService::Reactor* ClientService::begin(const Context& context, Begin begin) {
  auto* call = new Call;  // deletes itself when it is done
  const auto caller = parts_.login.caller(context);
  const Result<> begun = caller ? begin(*call, **caller) : fail(caller);
  if (!begun) call->refuse(begun.error());
  return call;
}

ClientService::Reactor* ClientService::Login(Context* context, const v1::LoginRequest* request,
                                             v1::LoginReply* reply) {
  auto* call = new Call;
  if (const auto begun = parts_.login.login(*call, *context, *request, *reply); !begun) {
    call->refuse(begun.error());
  }
  return call;
}

ClientService::Reactor* ClientService::Submit(Context* context, const v1::SubmitRequest* request,
                                              v1::SubmitReply* reply) {
  return begin(*context, [&](Call& call, const Caller& caller) {
    return parts_.commands.submit(call, caller, *request, *reply);
  });
}

ClientService::Reactor* ClientService::Cancel(Context* context, const v1::CancelRequest* request,
                                              v1::JobOutcomes* reply) {
  return begin(*context, [&](Call& call, const Caller& caller) {
    return parts_.commands.cancel(call, caller, *request, *reply);
  });
}

ClientService::Reactor* ClientService::Hold(Context* context, const v1::HoldRequest* request,
                                            v1::JobOutcomes* reply) {
  return begin(*context, [&](Call& call, const Caller& caller) {
    return parts_.commands.hold(call, caller, *request, *reply);
  });
}

ClientService::Reactor* ClientService::Requeue(Context* context, const v1::RequeueRequest* request,
                                               v1::JobOutcomes* reply) {
  return begin(*context, [&](Call& call, const Caller& caller) {
    return parts_.commands.requeue(call, caller, *request, *reply);
  });
}

ClientService::Reactor* ClientService::Update(Context* context, const v1::UpdateRequest* request,
                                              v1::JobOutcomes* reply) {
  return begin(*context, [&](Call& call, const Caller& caller) {
    return parts_.commands.update(call, caller, *request, *reply);
  });
}

ClientService::Reactor* ClientService::Drain(Context* context, const v1::DrainRequest* request,
                                             v1::NodeOutcomes* reply) {
  return begin(*context, [&](Call& call, const Caller& caller) {
    return parts_.commands.drain(call, caller, *request, *reply);
  });
}

ClientService::Reactor* ClientService::Explain(Context* context, const v1::ExplainRequest* request,
                                               v1::ExplainReply* reply) {
  return begin(*context, [&](Call& call, const Caller& caller) {
    return parts_.questions.explain(call, caller, *request, *reply);
  });
}

ClientService::Reactor* ClientService::WhatIf(Context* context, const v1::WhatIfRequest* request,
                                              v1::WhatIfReply* reply) {
  return begin(*context, [&](Call& call, const Caller& caller) {
    return parts_.questions.what_if(call, caller, *request, *reply);
  });
}

ClientService::Reactor* ClientService::Queue(Context* context, const v1::QueueRequest* request,
                                             v1::QueueReply* reply) {
  return begin(*context, [&](Call& call, const Caller& caller) {
    return parts_.views.queue(call, caller, *request, *reply);
  });
}

ClientService::Reactor* ClientService::Show(Context* context, const v1::ShowRequest* request,
                                            v1::ShowReply* reply) {
  return begin(*context, [&](Call& call, const Caller& caller) {
    return parts_.views.show(call, caller, *request, *reply);
  });
}

ClientService::Reactor* ClientService::Wait(Context* context, const v1::WaitRequest* request,
                                            v1::ShowReply* reply) {
  return begin(*context, [&](Call& call, const Caller& caller) {
    return parts_.waiting.wait(call, caller, *request, *reply);
  });
}

ClientService::Reactor* ClientService::Nodes(Context* context, const v1::NodesRequest* /*request*/,
                                             v1::NodesReply* reply) {
  return begin(*context, [&](Call& call, const Caller& caller) {
    return parts_.views.nodes(call, caller, *reply);
  });
}

ClientService::Reactor* ClientService::History(Context* context, const v1::HistoryRequest* request,
                                               v1::HistoryReply* reply) {
  return begin(*context, [&](Call& call, const Caller& caller) {
    return parts_.views.history(call, caller, *request, *reply);
  });
}

ClientService::Reactor* ClientService::Usage(Context* context, const v1::UsageRequest* request,
                                             v1::UsageReply* reply) {
  return begin(*context, [&](Call& call, const Caller& caller) {
    return parts_.views.usage(call, caller, *request, *reply);
  });
}

ClientService::Reactor* ClientService::ReadOutput(Context* context,
                                                  const v1::ReadOutputRequest* request,
                                                  v1::ReadOutputReply* reply) {
  return begin(*context, [&](Call& call, const Caller& caller) {
    return parts_.output.read(call, caller, *request, *reply);
  });
}

ClientService::Reactor* ClientService::LostAndFound(Context* context,
                                                    const v1::LostAndFoundRequest* /*request*/,
                                                    v1::LostAndFoundReply* reply) {
  return begin(*context, [&](Call& call, const Caller& caller) {
    return parts_.views.lost_and_found(call, caller, *reply);
  });
}

}  // namespace artel::ctld
