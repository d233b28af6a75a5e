// Starts step daemons through a helper process that was forked before any thread existed.
//
// fork_spawn_helper() at the very start of main, Spawner once there is a loop. The helper becomes
// the program of the step daemons, and each of them is a fork of it (noded/spawn): executing and
// linking the program once for each attempt would be the larger part of what a short job costs. A
// step daemon outlives helper and agent. Thread: that of the loop.
#pragma once

#include <sys/types.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "noded/os/files.h"

namespace artel::noded {

struct SpawnServer {
  Descriptor channel;
  pid_t pid{};
};

/// Forks the helper, which calls `serve` with its end of the channel and exits with the result. No
/// thread may exist yet. Error: kLaunch.
Result<SpawnServer> fork_spawn_helper(const std::function<int(int channel)>& serve);

/// What the agent's helper does: becomes `program` (artel-stepd), which serves the channel. Returns
/// only where it cannot.
int become_step_server(const std::filesystem::path& program, int channel);

struct SpawnRequest {
  std::string argument;                  // of the step daemon: its attempt
  std::vector<std::string> environment;  // "NAME=value", all of it
  Descriptor listener;
  Descriptor log;
};

class Spawner {
 public:
  struct Events {
    /// A started process ended; a wait status.
    std::function<void(pid_t, int)> exited;
    /// The helper is gone; nothing can be started any more.
    std::function<void()> helper_lost;
  };
  using Done = std::function<void(Result<pid_t>)>;

  Spawner(boost::asio::io_context& loop, SpawnServer helper, Events events);

  /// `done` is called later from the loop. Error: kLaunch, naming the attempt.
  void spawn(SpawnRequest request, Done done);

  [[nodiscard]] pid_t helper_pid() const { return helper_pid_; }

 private:
  struct Outgoing {
    std::string bytes;
    Descriptor listener;
    Descriptor log;
  };
  struct Waiting {
    std::string argument;
    Done done;
  };

  void send_some();
  void wait_to_send();
  void wait_for_replies();
  /// False where the helper is gone.
  bool take_replies();
  void lost();

  boost::asio::posix::stream_descriptor channel_;
  pid_t helper_pid_;
  Events events_;
  std::deque<Outgoing> outgoing_;
  std::map<std::uint32_t, Waiting> waiting_;
  std::uint32_t next_id_ = 1;
  bool sending_ = false;
  bool lost_ = false;
};

}  // namespace artel::noded
