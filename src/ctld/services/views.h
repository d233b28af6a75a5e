// What clients look at: queue, one job, nodes, history, usage.
//
// Live state comes from a snapshot that is durable, the past from the store's readers. Queries and
// large replies are made on the readers' threads. Thread: any.
#pragma once

#include <functional>

#include "base/result.h"
#include "client.pb.h"
#include "ctld/core/controller.h"
#include "ctld/core/snapshot.h"

namespace artel::ctld {

class AgentHub;
class Call;
class ControlLoop;
class ReaderPool;
class StoreReader;

class Views {
 public:
  Views(ControlLoop& loop, ReaderPool& readers, const AgentHub& agents);

  // All: answer the call, or give the error to refuse it with.
  Result<> queue(Call& call, const Caller& caller, const v1::QueueRequest& request,
                 v1::QueueReply& reply);
  Result<> show(Call& call, const Caller& caller, const v1::ShowRequest& request,
                v1::ShowReply& reply);
  Result<> nodes(Call& call, const Caller& caller, v1::NodesReply& reply);
  Result<> history(Call& call, const Caller& caller, const v1::HistoryRequest& request,
                   v1::HistoryReply& reply);
  Result<> usage(Call& call, const Caller& caller, const v1::UsageRequest& request,
                 v1::UsageReply& reply);

 private:
  Result<> with_snapshot(Call& call,
                         std::move_only_function<void(StoreReader&, const Snapshot&)> work);
  Result<> show_job(StoreReader& reader, const Snapshot& snapshot, const Caller& caller, JobId id,
                    v1::ShowReply& reply) const;

  ControlLoop& loop_;
  ReaderPool& readers_;
  const AgentHub& agents_;
};

}  // namespace artel::ctld
