// Jobs of a snapshot or of the store as clients see them.
//
// Thread: pure functions.
#pragma once

#include "client.pb.h"
#include "ctld/core/snapshot.h"
#include "ctld/store/records.h"
#include "model/job.h"

namespace artel::ctld {

/// The name of a node of the snapshot; "" for an id that it has not.
std::string node_name(const Snapshot& snapshot, NodeId id);

/// The job with its latest attempt, without script and environment.
void view(const Snapshot& snapshot, const Job& job, v1::JobView& out);

/// The job with all its attempts; script and environment only with `whole`.
void view(const HistoryJob& job, bool whole, v1::JobView& out);

/// One attempt of the store.
void view(const HistoryAttempt& attempt, v1::AttemptView& out);

}  // namespace artel::ctld
