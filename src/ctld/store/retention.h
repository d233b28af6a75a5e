// What is too old leaves the store, in small steps: read and written down beside the writer, then
// removed by it.
//
// I1 Only jobs that ended before the cut leave, after their line in the export is durable. I2 A
// number is never given again: the highest is remembered. I3 What a removed job used of its team's
// budget still counts. I4 A step is bounded, whatever there is to do.
// Room that rows leave is used again by later ones; the file is never compacted while it serves.
//
// Thread: next() on one thread of its own, SqliteStore::purge() on the writer's.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/units.h"
#include "ctld/store/reader.h"

namespace artel::ctld {

/// Work of one step for the writer.
struct Purge {
  std::vector<JobId> jobs;  // final, exported
  Time events_before;       // some of the events older than this go too
};

class Retention {
 public:
  /// `exports`: folder for export_jobs().
  Retention(std::unique_ptr<StoreReader> reader, std::filesystem::path exports)
      : reader_(std::move(reader)), exports_(std::move(exports)) {}

  struct Step {
    Purge purge;
    bool is_last = false;  // of this round: the next one begins from the oldest job again
  };
  /// Looks at the next few jobs and exports those that ended before `cut`. Error: kStorage; nothing
  /// may be removed then, and the next step is the same one.
  Result<Step> next(Time cut);

 private:
  std::unique_ptr<StoreReader> reader_;
  const std::filesystem::path exports_;
  JobId after_;  // the last one looked at
};

}  // namespace artel::ctld
