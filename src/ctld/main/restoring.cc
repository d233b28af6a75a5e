#include "ctld/main/restoring.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <chrono>
#include <string>
#include <system_error>

#include "config/config.h"
#include "ctld/store/backup.h"
#include "ctld/store/restore.h"

namespace artel::ctld {
namespace {

/// Names what there is where the file that was asked for is not.
Result<> check_exists(const config::SiteConfig& site, const std::filesystem::path& backup) {
  std::error_code error;
  if (std::filesystem::is_regular_file(backup, error)) return {};
  const auto copies = backups_in(site.backups);
  return fail(
      ErrorCode::kNotFound,
      fmt::format("there is no backup {}; {}", backup.string(),
                  copies.empty() ? fmt::format("{} has none", site.backups.string())
                                 : fmt::format("the latest of {} in {} is {}", copies.size(),
                                               site.backups.string(), copies.back().string())));
}

}  // namespace

Result<> restore_backup(const std::filesystem::path& config, const std::filesystem::path& backup) {
  ::umask(077);
  const auto site = config::load_config(config);
  if (!site) return fail(site);
  if (auto found = check_exists(*site, backup); !found) return found;
  const auto now = std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
  const auto restored = restore_store(backup, site->ctld_state / "state.db", now);
  if (!restored) return fail(restored);
  fmt::print("restored {}\n", backup.string());
  if (!restored->put_aside.empty())
    fmt::print("the store from before is {}\n", restored->put_aside.string());
  if (restored->lost_last != 0)
    fmt::print(
        "jobs {} to {} may have been submitted since; they are not known any more, and their "
        "numbers are not given again\n",
        restored->lost_first, restored->lost_last);
  return {};
}

}  // namespace artel::ctld
