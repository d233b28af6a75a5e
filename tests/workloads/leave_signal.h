// The warning that the job must leave soon: SIGUSR1 or SIGTERM.
//
// The handler only sets a flag; ranks agree on it at a step boundary, where the state is whole.

#pragma once

namespace artel::workload {

/// From here on SIGUSR1 and SIGTERM are noted instead of ending the process. Call before MPI
/// starts.
void watch_leave_signals();

/// Whether this process was told to leave.
bool told_to_leave();

}  // namespace artel::workload
