// Kills whatever is left of attempts whose step daemon died, until nothing is left.
//
// Looks at /proc in slices of the loop's time, kills, and looks again; an attempt counts as swept
// after two whole scans in a row that found nothing of it (a process may fork behind one scan's
// back). What cannot be killed at once (a process in an uninterruptible wait) is looked for again,
// ever less often. Thread: that of the loop.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "base/units.h"
#include "model/attempt.h"
#include "noded/os/process_scan.h"

namespace artel::noded {

class Sweeper {
 public:
  using Done = std::function<void(const AttemptKey&)>;

  /// `done` is called from the loop, once for each sweep(). `spared` are never killed.
  Sweeper(boost::asio::io_context& loop, const std::string& node, std::set<pid_t> spared,
          Done done);

  /// One that is under way already is not doubled.
  void sweep(const AttemptKey& key);

 private:
  struct Target {
    bool in_scan{};  // was asked for before the current scan began
    int clean{};     // whole scans in a row that found nothing
  };

  void schedule(Duration delay);
  void slice();
  void end_scan();

  boost::asio::steady_timer timer_;
  ProcessScan scan_;
  Done done_;
  std::map<AttemptKey, Target> targets_;
  bool active_ = false;    // a slice is scheduled
  bool scanning_ = false;  // a scan is begun
  Duration pause_{};
};

}  // namespace artel::noded
