// Nodes for people: the table of `nodes`.
#pragma once

#include <cstdint>
#include <string>

#include "cli/table.h"

namespace artel::v1 {
class NodesReply;
}

namespace artel::cli {

std::string node_table(const v1::NodesReply& reply, const Terminal& terminal);

/// For tables, rounded down: "2048G", "512M", "0".
std::string short_bytes(std::uint64_t bytes);

}  // namespace artel::cli
