// The controller's store in one SQLite file: the writer's side of README.md.
//
// I1 A batch is one transaction (BEGIN IMMEDIATE), durable when commit() returns well (WAL,
// synchronous=FULL). I2 One writer: a lock beside the file keeps a second controller out. I3 A job
// that cannot be read does not stop the start: it is set aside, stays in the file and is told by
// name.
//
// Thread: one thread at a time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "ctld/core/store.h"
#include "ctld/store/records.h"
#include "ctld/store/retention.h"

namespace artel::ctld {

class DiskSpace;

struct StoreOptions {
  /// Makes the store where there is none. Without it a missing store is an error: it is more likely
  /// lost than new.
  bool first_start = false;
  /// Pages of the write-ahead log (4 KiB each) above which commit() moves them into the store. The
  /// file keeps this size: a commit that makes it longer takes about twice as long as one that
  /// writes over old pages (measured on ext4), and some hundred commits pay for one move.
  std::uint32_t checkpoint_pages = 2048;
  /// How long before the latest submission the tokens reach that a start reads.
  Duration token_memory{std::chrono::hours{48}};
  /// Adds up at the start what each team has used, for budgets: reads all attempts ever made.
  bool count_used = false;
  /// What a commit does that finds the disk full: it takes the reserve and is tried once more.
  /// Null: it fails. Outlives the store.
  DiskSpace* space = nullptr;
};

class SqliteStore final : public Store {
 public:
  ~SqliteStore() override;

  /// Names of the configured nodes; NodeId is the index. Rows keep names. Call before load().
  void set_node_names(std::vector<std::string> names);

  /// Error: kConfig where an attempt that has not ended holds a node that is not configured. An
  /// ended one on such a node stays in the store only: its job has no `attempt` then.
  Result<StoredState> load() override;
  Result<> commit(const std::vector<StoreWrite>& rows) override;

  /// Removes jobs that are final and a few of the oldest events, durably. Error: as of commit().
  Result<> purge(const Purge& purge);

  /// Moves the write-ahead log into the store if it is worth it. For the writer's idle moments.
  /// Error: kStorage, fatal like that of commit().
  Result<> idle();

  /// What load() could not read.
  [[nodiscard]] const std::vector<SetAside>& set_aside() const;

 private:
  friend Result<std::unique_ptr<SqliteStore>> open_store(const std::filesystem::path& path,
                                                         const StoreOptions& options);
  class Impl;
  explicit SqliteStore(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// Opens the store, checks header and schema (not every page) and locks it against a second writer.
/// Error: kStorage naming the file and the way out.
Result<std::unique_ptr<SqliteStore>> open_store(const std::filesystem::path& path,
                                                const StoreOptions& options);

}  // namespace artel::ctld
