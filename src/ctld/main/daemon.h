// The controller's daemon: reads the configuration, plugs store, core and services together, serves
// until it is told to stop.
#pragma once

#include <filesystem>

#include "base/result.h"

namespace artel::ctld {

struct DaemonOptions {
  std::filesystem::path config;  // folder
  bool first_start = false;      // make the store where there is none
};

/// Serves until SIGTERM or SIGINT; jobs go on. Call it before any other thread runs. Error: what
/// kept it from serving.
Result<> run_daemon(const DaemonOptions& options);

}  // namespace artel::ctld
