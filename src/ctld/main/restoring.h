// artel-ctld --restore: back to a backup of the store.
#pragma once

#include <filesystem>

#include "base/result.h"

namespace artel::ctld {

/// Puts a copy of the backup in the place of the configured store, and says on standard output what
/// that means. Error: kConfig; kNotFound; kStorage, also while a controller runs.
Result<> restore_backup(const std::filesystem::path& config, const std::filesystem::path& backup);

}  // namespace artel::ctld
