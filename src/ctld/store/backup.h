// Whole copies of a store: made beside its writer, read in full before they count, and taken back.
//
// I1 A file under its final name is a copy that was verified; what is being made has another name.
// Thread: any; a copy has connections of its own, and never makes the writer wait. It keeps the
// write-ahead log from beginning again until it is made.
#pragma once

#include <filesystem>

#include "base/result.h"

namespace artel::ctld {

/// Writes what `store` holds at this moment to `copy`, verifies it and gives it its name, in the
/// place of an earlier file of that name. Error: kStorage; `copy` is as it was then.
Result<> copy_store(const std::filesystem::path& store, const std::filesystem::path& copy);

/// Reads every page and index of a store of this or an earlier version. Error: kStorage naming the
/// file and what is wrong with it.
Result<> verify_store(const std::filesystem::path& file);

}  // namespace artel::ctld
