// Starts step daemons through a helper process that was forked before any thread existed.
//
// fork_spawn_helper() at the very start of main, Spawner once there is a loop. A step daemon gets
// a session of its own, /dev/null as input, `log` as output and error, `listener` as descriptor 3
// and nothing else; it outlives helper and agent. Thread: that of the loop.
#pragma once

#include <sys/types.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <cstdint>
#include <deque>
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

/// Forks the helper. No thread may exist yet, and no descriptor should be open that must not
/// outlive the caller. Error: kLaunch.
Result<SpawnServer> fork_spawn_helper();

struct SpawnRequest {
  std::string program;                   // absolute path
  std::vector<std::string> arguments;    // without the program's name
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

  /// `done` is called later from the loop. Error: kLaunch, naming the program.
  void spawn(SpawnRequest request, Done done);

  [[nodiscard]] pid_t helper_pid() const { return helper_pid_; }

 private:
  struct Outgoing {
    std::string bytes;
    Descriptor listener;
    Descriptor log;
  };
  struct Waiting {
    std::string program;
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
