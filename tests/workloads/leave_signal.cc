// Signal handler; see leave_signal.h.

#include "leave_signal.h"

#include <csignal>

namespace artel::workload {
namespace {

volatile std::sig_atomic_t told = 0;

extern "C" void note_signal(int) { told = 1; }

}  // namespace

void watch_leave_signals() {
  struct sigaction action = {};
  action.sa_handler = note_signal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGUSR1, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool told_to_leave() { return told != 0; }

}  // namespace artel::workload
