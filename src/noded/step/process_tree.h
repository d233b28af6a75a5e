// All processes that come from this one. The daemon is their subreaper: whoever daemonises comes
// back to it as a child, so an empty list of children means that nothing is left.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "base/units.h"

namespace artel::step {

/// Processes below this one at some moment of the walk, in no order. Cost: one small file for each
/// process of the machine.
std::vector<pid_t> descendants();

/// Sends `signal` to each descendant (and CONT after TERM, so that a stopped one can act on it).
void signal_descendants(int signal);

struct Reaped {
  pid_t pid{};
  int status{};            // as of waitpid
  std::uint64_t cpu_ms{};  // of it and of those it reaped
  Bytes max_rss;
};

/// Takes all ended children; never waits. Returns whether any child is left.
bool reap(const std::function<void(const Reaped&)>& each);

}  // namespace artel::step
