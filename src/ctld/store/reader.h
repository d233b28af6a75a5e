// Reads of the store beside the writer: history, one job, usage. Each call sees one moment.
//
// Thread: one thread at a time; a pool of readers opens one for each thread. Reads never wait for
// the writer and never make it wait.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <vector>

#include "base/result.h"
#include "ctld/store/records.h"

namespace artel::ctld {

class StoreReader {
 public:
  ~StoreReader();
  StoreReader(const StoreReader&) = delete;
  StoreReader& operator=(const StoreReader&) = delete;

  /// Jobs with all their attempts, newest first. Rows that cannot be read are left out. Cost: reads
  /// jobs downwards from the newest until `limit` match.
  Result<std::vector<HistoryJob>> history(const HistoryFilter& filter);
  /// Error: kNotFound where no such job was ever stored.
  Result<HistoryJob> show(JobId job);
  /// Looks at up to `most` jobs with higher numbers than `after`. Rows that cannot be read are left
  /// out.
  Result<EndedJobs> ended_before(Time cut, JobId after, std::size_t most);
  /// Sorted by key. The amounts of all cuts agree to the millisecond.
  Result<std::vector<UsageRow>> usage(const UsageFilter& filter);

 private:
  friend Result<std::unique_ptr<StoreReader>> open_reader(const std::filesystem::path& path);
  class Impl;
  explicit StoreReader(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// Opens a store that a SqliteStore has opened before. Error: kStorage.
Result<std::unique_ptr<StoreReader>> open_reader(const std::filesystem::path& path);

}  // namespace artel::ctld
