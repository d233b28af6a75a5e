// Floors: what the machine can do at this moment without any scheduler. Figures are given as ratios
// of them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace artel::bench {

/// Transactions of one row per second: SQLite, WAL, synchronous=FULL, one connection. The file is
/// made in `folder`.
double sqlite_commits_per_second(const std::filesystem::path& folder, double seconds);

/// Appends of 4 KiB with fdatasync per second.
double synced_appends_per_second(const std::filesystem::path& folder, double seconds);

/// posix_spawn and wait of /bin/true per second.
double spawns_per_second(double seconds);

/// Median wall time in milliseconds of running the command `times` times, output discarded.
double command_ms(const std::vector<std::string>& command, int times);

}  // namespace artel::bench
