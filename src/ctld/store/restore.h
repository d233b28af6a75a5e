// Back to a copy of the store: artel-ctld --restore.
//
// I1 The present store is put aside, never removed. I2 Whatever moment it ends at, the next start
// finds the present store, no store, or the restored one: never one with the log of another.
#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"
#include "base/units.h"

namespace artel::ctld {

struct Restored {
  std::filesystem::path put_aside;  // empty: there was no store
  /// The first and last number of jobs that were given out after the copy was made, for all that is
  /// known; the copy does not know these jobs. 0: none.
  std::uint64_t lost_first{};
  std::uint64_t lost_last{};
};

/// Puts a copy of `backup` in the place of the store, which no controller may be using. Numbers of
/// jobs and starts go on above those of the store that is put aside; where it cannot be read, far
/// above those of the copy. Error: kStorage; the store is as it was, or put aside as the text says.
Result<Restored> restore_store(const std::filesystem::path& backup,
                               const std::filesystem::path& store, Time now);

}  // namespace artel::ctld
