// Starts step daemons by forking: the process that serves the agent's channel.
//
// It is small, has no threads and has done what every step daemon needs at its start, so that a
// child costs a fraction of executing the program anew. It survives signals meant for the agent's
// terminal and leaves when the agent's end of the channel closes; what it started goes on.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace artel::noded {

/// How the agent starts the server: this option, and the channel as this descriptor.
inline constexpr std::string_view kServeOption = "--serve";
inline constexpr int kServerChannel = 3;

/// What a child finds: a session of its own, /dev/null as input, the log as output and error, the
/// listener as descriptor 3, no other descriptor, all signals at their defaults.
struct Spawned {
  std::string argument;
  std::vector<std::string> environment;  // "NAME=value"
};

/// Serves `channel` until the other end is closed; then 0, or 1 after an error. In a child: what
/// `child` returns, to be the exit status of the process.
int serve_spawns(int channel, const std::function<int(Spawned)>& child);

}  // namespace artel::noded
