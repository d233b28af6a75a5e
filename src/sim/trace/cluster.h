// The cluster file: nodes in the grammar of cluster.d.
#pragma once

#include <filesystem>
#include <vector>

#include "base/result.h"
#include "model/node.h"
#include "sim/trace/workload.h"

namespace artel::trace {

/// Error: kConfig with one line per mistake, "file:line: key: what"; a file without nodes is one.
Result<std::vector<NodeConfig>> read_cluster_file(const std::filesystem::path& file);

/// What all nodes have together.
Milli capacity_of(const std::vector<NodeConfig>& nodes, Resource resource);

}  // namespace artel::trace
