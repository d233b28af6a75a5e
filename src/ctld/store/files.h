// Files that must survive a power cut and hold what only their owner may read: the few calls that
// the store and its copies share.
//
// Thread: any.
#pragma once

#include <filesystem>
#include <string_view>

#include "base/result.h"

namespace artel::ctld {

/// kStorage: the file, what could not be done, and errno's words.
std::unexpected<Error> file_failed(const std::filesystem::path& path, std::string_view what);

std::filesystem::path folder_of(const std::filesystem::path& path);

/// Makes an empty file that only its owner may use. Error: kStorage, also where it exists.
Result<> create_private_file(const std::filesystem::path& path);
/// What is in the file survives a power cut. Never called again after an error.
Result<> sync_file(const std::filesystem::path& path);
/// Names in the folder survive a power cut.
Result<> sync_folder(const std::filesystem::path& folder);
/// For root, who works in a folder of somebody else: the file is that account's, as if it had made
/// it.
Result<> give_to_owner_of_folder(const std::filesystem::path& path);
/// Gives the file its name at once and durably, in the place of what has it.
Result<> move_into_place(const std::filesystem::path& from, const std::filesystem::path& to);

}  // namespace artel::ctld
