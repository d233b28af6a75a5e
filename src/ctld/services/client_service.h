// ClientService of client.proto: identifies the caller of each call and passes it on.
//
// A handler decodes, checks, posts and returns; it never blocks. What it cannot start it refuses at
// once.
#pragma once

#include "client.grpc.pb.h"
#include "ctld/services/commands.h"
#include "ctld/services/job_output.h"
#include "ctld/services/login.h"
#include "ctld/services/questions.h"
#include "ctld/services/views.h"
#include "ctld/services/waiting.h"

namespace artel::ctld {

class ClientService final : public v1::ClientService::CallbackService {
 public:
  struct Parts {
    ctld::Login& login;
    Commands& commands;
    Views& views;
    Waiting& waiting;
    JobOutput& output;
    Questions& questions;
  };

  explicit ClientService(Parts parts) : parts_(parts) {}

  using Context = grpc::CallbackServerContext;
  using Reactor = grpc::ServerUnaryReactor;

  Reactor* Login(Context* context, const v1::LoginRequest* request, v1::LoginReply* reply) override;
  Reactor* Submit(Context* context, const v1::SubmitRequest* request,
                  v1::SubmitReply* reply) override;
  Reactor* Cancel(Context* context, const v1::CancelRequest* request,
                  v1::JobOutcomes* reply) override;
  Reactor* Hold(Context* context, const v1::HoldRequest* request, v1::JobOutcomes* reply) override;
  Reactor* Requeue(Context* context, const v1::RequeueRequest* request,
                   v1::JobOutcomes* reply) override;
  Reactor* Update(Context* context, const v1::UpdateRequest* request,
                  v1::JobOutcomes* reply) override;
  Reactor* Drain(Context* context, const v1::DrainRequest* request,
                 v1::NodeOutcomes* reply) override;
  Reactor* Explain(Context* context, const v1::ExplainRequest* request,
                   v1::ExplainReply* reply) override;
  Reactor* WhatIf(Context* context, const v1::WhatIfRequest* request,
                  v1::WhatIfReply* reply) override;
  Reactor* Queue(Context* context, const v1::QueueRequest* request, v1::QueueReply* reply) override;
  Reactor* Show(Context* context, const v1::ShowRequest* request, v1::ShowReply* reply) override;
  Reactor* Wait(Context* context, const v1::WaitRequest* request, v1::ShowReply* reply) override;
  Reactor* Nodes(Context* context, const v1::NodesRequest* request, v1::NodesReply* reply) override;
  Reactor* History(Context* context, const v1::HistoryRequest* request,
                   v1::HistoryReply* reply) override;
  Reactor* Usage(Context* context, const v1::UsageRequest* request, v1::UsageReply* reply) override;
  Reactor* ReadOutput(Context* context, const v1::ReadOutputRequest* request,
                      v1::ReadOutputReply* reply) override;
  Reactor* LostAndFound(Context* context, const v1::LostAndFoundRequest* request,
                        v1::LostAndFoundReply* reply) override;

 private:
  template <typename Begin>
  Reactor* begin(const Context& context, Begin begin);

  Parts parts_;
};

}  // namespace artel::ctld
