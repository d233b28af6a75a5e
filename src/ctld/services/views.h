// What clients look at: queue, one job, nodes, history, usage, what the store lost and found.
//
// Live state comes from a snapshot that is durable, the past from the store's readers. Queries and
// large replies are made on the readers' threads. Thread: any.
#pragma once

#include <functional>
#include <vector>

#include "base/result.h"
#include "client.pb.h"
#include "ctld/core/controller.h"
#include "ctld/core/snapshot.h"
#include "ctld/store/records.h"

namespace artel::ctld {

class AgentHub;
class Call;
class ControlLoop;
class ReaderPool;
class StoreReader;

class Views {
 public:
  /// `set_aside`: what the start could not read.
  Views(ControlLoop& loop, ReaderPool& readers, const AgentHub& agents,
        std::vector<SetAside> set_aside);

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
  Result<> lost_and_found(Call& call, const Caller& caller, v1::LostAndFoundReply& reply) const;

 private:
  Result<> with_snapshot(Call& call,
                         std::move_only_function<void(StoreReader&, const Snapshot&)> work);
  Result<> show_job(StoreReader& reader, const Snapshot& snapshot, const Caller& caller, JobId id,
                    v1::ShowReply& reply) const;

  ControlLoop& loop_;
  ReaderPool& readers_;
  const AgentHub& agents_;
  const std::vector<SetAside> set_aside_;
};

}  // namespace artel::ctld
