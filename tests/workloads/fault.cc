// Failing on purpose; see fault.h.

#include "fault.h"

#include <unistd.h>

#include <csignal>
#include <cstdio>

namespace artel::workload {
namespace {

constexpr int kAbortCode = 70;  // EX_SOFTWARE of sysexits.h: none of the program's own codes

}  // namespace

void fail_on_purpose(const PlannedFault& fault, const World& world) {
  if (world.rank() != fault.rank) return;
  std::fprintf(stderr, "rank %d fails on purpose after epoch %llu\n", world.rank(),
               static_cast<unsigned long long>(fault.epoch));
  std::fflush(stdout);
  switch (fault.kind) {
    case PlannedFault::Kind::kAbort:
      world.abort(kAbortCode);
    case PlannedFault::Kind::kKill:
      ::raise(SIGKILL);
      break;
    case PlannedFault::Kind::kExit:
      ::_exit(fault.exit_code);
    case PlannedFault::Kind::kWarn:
      ::raise(SIGUSR1);
      break;
  }
}

}  // namespace artel::workload
