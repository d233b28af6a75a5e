// What the ends of processes mean: causes with their sentences. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/units.h"
#include "model/agent_protocol.h"
#include "model/ending.h"

namespace artel::step {

/// Time between TERM and KILL once a rank has failed: the others are of no use any more.
inline constexpr std::chrono::seconds kCrashGrace{2};

/// How a local process ended. `left_early`: an MPI rank that neither finalised nor failed
/// otherwise. nullopt: well.
std::optional<Cause> cause_of_exit(const LaunchSpec& spec, std::uint32_t local, int wait_status,
                                   bool left_early);
Cause cause_of_abort(const LaunchSpec& spec, std::uint32_t rank, std::int32_t status);
Cause cause_of_time_limit(const LaunchSpec& spec);
Cause cause_of_success(const LaunchSpec& spec);
Cause launch_cause(const LaunchSpec& spec, CauseCode code, std::string text);

/// The grace of the job where somebody decided to end it, kCrashGrace where it failed.
Duration grace_for(const Cause& cause, Duration grace);

/// Text that any message can carry: bytes that are not UTF-8 and control characters become '?'.
std::string printable(std::string text);

}  // namespace artel::step
