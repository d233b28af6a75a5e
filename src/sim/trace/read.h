// Readers of workloads: Standard Workload Format and Artel's CSV, each plain or gzip.
//
// Both are described in artel-simulate(1). What cannot be understood is an error with file and
// line, never a guess.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"
#include "sim/trace/workload.h"

namespace artel::trace {

/// Reads by the file's name: *.swf and *.swf.gz, *.csv and *.csv.gz. Error: kIo, kInvalidArgument.
Result<Workload> read_workload(const std::filesystem::path& file);

/// `file` names the text in errors.
Result<Workload> parse_csv(const std::string& file, std::string_view text);
Result<Workload> parse_swf(const std::string& file, std::string_view text);

}  // namespace artel::trace
