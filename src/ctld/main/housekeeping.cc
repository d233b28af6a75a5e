#include "ctld/main/housekeeping.h"

#include <pthread.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>

#include <future>
#include <system_error>
#include <utility>

#include "base/text.h"
#include "ctld/store/backup.h"

namespace artel::ctld {
namespace {

/// How often it looks for something to do.
constexpr Duration kRound{std::chrono::seconds{1}};

/// Between two steps of what is let go: commits go first.
constexpr Duration kBetweenSteps{100};
/// Between two rounds over what may be too old.
constexpr std::chrono::minutes kBetweenRounds{10};

/// Also where the folder is not there yet.
bool is_on_disk_of(std::filesystem::path folder, const std::filesystem::path& file) {
  struct stat of_file{};
  struct stat of_folder{};
  if (stat(file.c_str(), &of_file) != 0) return false;
  while (stat(folder.c_str(), &of_folder) != 0) {
    if (!folder.has_parent_path() || folder == folder.root_path()) return false;
    folder = folder.parent_path();
  }
  return of_file.st_dev == of_folder.st_dev;
}

Time wall_now() { return std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now()); }

}  // namespace

Housekeeping::Housekeeping(HousekeepingOptions options, HousekeepingParts parts)
    : options_(std::move(options)),
      parts_(HousekeepingParts{parts.store, parts.space, nullptr, std::move(parts.on_writer),
                               std::move(parts.pause_starts)}),
      retention_(std::move(parts.reader), options_.exports) {}

void Housekeeping::start() {
  look_at_disk();
  next_backup_ = first_backup();
  thread_ = std::thread([this] { run(); });
}

void Housekeeping::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    wake_.notify_one();
  }
  if (thread_.joinable()) thread_.join();
}

bool Housekeeping::stopping() {
  const std::lock_guard lock(mutex_);
  return stopping_;
}

bool Housekeeping::pause(Duration pause) {
  std::unique_lock lock(mutex_);
  return !wake_.wait_for(lock, pause, [this] { return stopping_; });
}

void Housekeeping::run() {
  pthread_setname_np(pthread_self(), "housekeeping");
  do {
    look_at_disk();
    // A full disk is no place for copies.
    if (was_low_) continue;
    back_up_if_due();
    let_go_if_due();
  } while (pause(kRound));
}

/// Long work asks this often.
bool Housekeeping::must_stop() {
  if (std::chrono::steady_clock::now() >= next_look_) look_at_disk();
  return was_low_ || stopping();
}

void Housekeeping::look_at_disk() {
  next_look_ = std::chrono::steady_clock::now() + kRound;
  parts_.space->look();
  const bool is_low = parts_.space->is_low();
  if (is_low == was_low_) return;
  was_low_ = is_low;
  parts_.pause_starts(is_low);
  if (const auto room = parts_.space->check(); !room) {
    spdlog::error("{}", room.error().text);
  } else {
    spdlog::info("there is room on the disk of the store again: jobs are taken and started");
  }
}

void Housekeeping::let_go_if_due() {
  if (options_.history == Duration::zero()) return;
  if (std::chrono::steady_clock::now() < next_round_) return;
  while (!must_stop() && let_go_some())
    if (!pause(kBetweenSteps)) return;
  next_round_ = std::chrono::steady_clock::now() + kBetweenRounds;
}

bool Housekeeping::let_go_some() {
  auto step = retention_.next(wall_now() - options_.history);
  if (!step) {
    spdlog::error("jobs that are older than ctld.history stay: {}", step.error().text);
    return false;
  }
  if (!step->purge.jobs.empty())
    spdlog::info("{} jobs that ended before ctld.history are exported and leave the store",
                 step->purge.jobs.size());
  const bool is_last = step->is_last;
  auto done = std::make_shared<std::promise<void>>();
  auto future = done->get_future();
  parts_.on_writer([store = parts_.store, purge = std::move(step->purge), done]() -> Result<> {
    auto purged = store->purge(purge);
    done->set_value();
    return purged;
  });
  while (future.wait_for(kBetweenSteps) != std::future_status::ready)
    if (stopping()) return false;
  return !is_last;
}

/// A controller that is started often does not make a backup at each start.
Time Housekeeping::first_backup() const {
  if (options_.backup_every == Duration::zero()) return Time::max();
  const auto copies = backups_in(options_.backups);
  if (copies.empty()) return wall_now();
  std::error_code error;
  const auto written = std::filesystem::last_write_time(copies.back(), error);
  if (error) return wall_now();
  const auto latest = std::chrono::file_clock::to_sys(written);
  return std::chrono::time_point_cast<Duration>(latest) + options_.backup_every;
}

void Housekeeping::back_up_if_due() {
  // A clock that was set back makes no gap of more than one period.
  const Time now = wall_now();
  if (next_backup_ > now && next_backup_ - now <= options_.backup_every) return;
  if (options_.backup_every == Duration::zero()) return;
  next_backup_ = now + options_.backup_every;
  std::error_code error;
  const Bytes size{std::filesystem::file_size(options_.store, error)};
  if (!error && is_on_disk_of(options_.backups, options_.store) && !parts_.space->has_room(size)) {
    return spdlog::error(
        "no backup is made: {} is on the disk of the store, which has no room for {} besides "
        "ctld.min_free; free space there, or set ctld.backups to another disk",
        options_.backups.string(), format_bytes(size));
  }
  const auto copy = back_up(options_.store, options_.backups, options_.backup_keep, now,
                            [this] { return must_stop(); });
  if (copy) {
    spdlog::info("backup {} is made and was read in full", copy->string());
  } else if (!stopping()) {
    spdlog::error("no backup could be made, the earlier ones are kept: {}", copy.error().text);
  }
}

}  // namespace artel::ctld
