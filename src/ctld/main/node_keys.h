// artel-ctld --make-node-key: the keys with which nodes and controller know each other.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"

namespace artel::ctld {

/// Writes <node_keys>/<name>.key for each configured node of the list that has none, and prints the
/// path of each to standard output. A key that is there is never replaced. Error: kNotFound for a
/// name that is not configured (nothing is written then), kIo.
Result<> make_node_keys(const std::filesystem::path& config, const std::vector<std::string>& names);

}  // namespace artel::ctld
