// What clients see: jobs and nodes to client.proto.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "client.pb.h"
#include "model/job.h"
#include "model/node.h"

namespace artel::wire {

/// Gives a node's name for its id.
using NodeNames = std::function<std::string(NodeId)>;

void to_proto(const WaitReason& wait, v1::WaitReason& out);
/// The job without attempts; script and environment only with `whole`.
void to_proto(const Job& job, bool whole, v1::JobView& out);
void to_proto(const Attempt& attempt, const NodeNames& names, v1::AttemptView& out);
void to_proto(const Node& node, v1::NodeView& out);

}  // namespace artel::wire
