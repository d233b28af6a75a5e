// What a step of the controller core wants done outside, parked until the rows of the same step are
// durable.
#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "ctld/core/store.h"
#include "model/agent_protocol.h"

namespace artel::ctld {

class SchedulingSnapshot;

struct Submitted {
  std::vector<JobId> jobs;  // in the order of the request
};
/// What became of a command for each job, or each node, that it names.
struct JobOutcome {
  JobId job;
  Result<> result;
  std::string tasks = {};  // of array `job`, where the command named some: "3-9"
};
using JobOutcomes = std::vector<JobOutcome>;
struct NodeOutcome {
  std::string node;
  Result<> result;
};
using NodeOutcomes = std::vector<NodeOutcome>;

/// The answer to one command of a client.
struct Reply {
  RequestId request;
  Result<
      std::variant<Submitted, JobOutcomes, NodeOutcomes, std::shared_ptr<const SchedulingSnapshot>>>
      body;
};

struct AgentSend {
  NodeId node;
  SessionId session;  // dropped where the node has another session by then
  ToAgent message;
};

/// Order of use: commit `writes`; then sends, replies and news, in this order.
struct Effects {
  std::vector<StoreWrite> writes;
  std::vector<AgentSend> sends;
  std::vector<Reply> replies;
  std::vector<JobId> changed;  // jobs whose state changed: wakes up waiting clients

  [[nodiscard]] bool empty() const {
    return writes.empty() && sends.empty() && replies.empty() && changed.empty();
  }
};

}  // namespace artel::ctld
