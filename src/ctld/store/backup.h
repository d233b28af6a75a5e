// Whole copies of a store: made beside its writer, read in full before they count, and taken back.
//
// I1 A file under its final name is a copy that was verified; what is being made has another name.
// Thread: any; a copy has connections of its own, and never makes the writer wait. It keeps the
// write-ahead log from beginning again until it is made.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace artel::ctld {

/// Asked often while a copy is made; true ends it with an error.
using GiveUp = std::function<bool()>;

/// Writes what `store` holds at this moment to `copy`, verifies it and gives it its name, in the
/// place of an earlier file of that name. Error: kStorage; `copy` is as it was then.
Result<> copy_store(const std::filesystem::path& store, const std::filesystem::path& copy,
                    const GiveUp& give_up = {});

/// Reads every page and index of a store of this or an earlier version. Error: kStorage naming the
/// file and what is wrong with it.
Result<> verify_store(const std::filesystem::path& file, const GiveUp& give_up = {});

/// Copies the store into the folder as "state-20261130T120000Z.db", and then removes the oldest
/// such copies beyond `keep`. The folder is made where it is missing. Returns the copy. Error:
/// kStorage; no copy was removed then.
Result<std::filesystem::path> back_up(const std::filesystem::path& store,
                                      const std::filesystem::path& folder, std::size_t keep,
                                      Time now, const GiveUp& give_up = {});
/// The copies of a folder, oldest first.
std::vector<std::filesystem::path> backups_in(const std::filesystem::path& folder);

}  // namespace artel::ctld
