// The exit code of commands that wait for a job.
#pragma once

#include <string_view>

namespace artel::v1 {
class JobView;
}

namespace artel::cli {

// Ends that are not the program's own. Above the codes of error_codes.def, below those that shells
// use.
inline constexpr int kExitDeadline = 120;
inline constexpr int kExitPreempted = 122;
inline constexpr int kExitNodeFail = 123;
inline constexpr int kExitTimeout = 124;  // as timeout(1)
inline constexpr int kExitCancelled = 125;
inline constexpr int kExitLaunch = 126;      // prepared or started nowhere
inline constexpr int kExitNoProgram = 127;   // as shells: the program could not be executed
inline constexpr int kExitSignalBase = 128;  // plus the signal's number, as shells

/// 0 for COMPLETED, the program's own code, 128 + signal, or one of the codes above. 1 where a
/// final state says no more.
int job_exit_code(const v1::JobView& job);

/// Whether nothing follows the state; a state that this version does not know is not final.
bool is_final_state(std::string_view state);

}  // namespace artel::cli
