// What the controller does for its store beside serving: it looks at the disk, makes backups, and
// lets go what is too old.
//
// Thread: one of its own, between start() and stop().
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "base/result.h"
#include "base/units.h"
#include "ctld/store/disk_space.h"
#include "ctld/store/retention.h"
#include "ctld/store/sqlite_store.h"

namespace artel::ctld {

struct HousekeepingOptions {
  std::filesystem::path store;
  std::filesystem::path backups;
  Duration backup_every{};  // 0: never
  std::size_t backup_keep = 1;
  std::filesystem::path exports;  // of jobs that leave
  Duration history{};             // how long after their end; 0: they stay
};

struct HousekeepingParts {
  SqliteStore* store{};  // outlives it, as does
  DiskSpace* space{};
  std::unique_ptr<StoreReader> reader;
  /// Runs work on the thread that writes the store; its error is fatal.
  std::function<void(std::move_only_function<Result<>()>)> on_writer;
  std::function<void(bool)> pause_starts;
};

class Housekeeping {
 public:
  Housekeeping(HousekeepingOptions options, HousekeepingParts parts);
  Housekeeping(const Housekeeping&) = delete;
  Housekeeping& operator=(const Housekeeping&) = delete;
  ~Housekeeping() { stop(); }

  void start();
  /// Gives up what it is at, and returns soon.
  void stop();

 private:
  void run();
  /// Waits; false: it is over.
  bool pause(Duration pause);
  [[nodiscard]] bool stopping();
  /// It is over, or the disk has become full.
  [[nodiscard]] bool must_stop();
  [[nodiscard]] Time first_backup() const;
  void look_at_disk();
  void back_up_if_due();
  void let_go_if_due();
  /// False: there is nothing more to do in this round.
  bool let_go_some();

  const HousekeepingOptions options_;
  const HousekeepingParts parts_;
  Retention retention_;
  bool was_low_ = false;
  std::chrono::steady_clock::time_point next_round_{};
  Time next_backup_ = Time::max();
  std::chrono::steady_clock::time_point next_look_{};

  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace artel::ctld
