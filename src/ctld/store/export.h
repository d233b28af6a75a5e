// Jobs that leave the store, written down first: one JSON object a line, artel-store(5).
//
// Thread: one at a time for a folder.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "ctld/store/records.h"

namespace artel::ctld {

/// One line with its end: the job without its environment, and all its attempts.
std::string export_line(const HistoryJob& job);

/// Appends each job to "jobs-2026-11.jsonl", named for the month (UTC) of its end, durably. The
/// folder is made where it is missing. A job may be written again after a crash. Error: kStorage;
/// no half of a line is left.
Result<> export_jobs(const std::filesystem::path& folder, const std::vector<HistoryJob>& jobs);

}  // namespace artel::ctld
