// The step daemons of this node: started, found again, spoken to, let go.
//
// Thread: the loop's. Events come from the loop, never out of a call.
#pragma once

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "model/step_protocol.h"
#include "noded/os/account_cache.h"
#include "noded/os/spawner.h"
#include "noded/os/step_folder.h"
#include "noded/os/step_link.h"

namespace artel::noded {

struct StepDaemonsOptions {
  std::string node;
  bool simulated{};
};

class StepDaemons {
 public:
  struct Events {
    std::function<void(const FromStep&)> status;
    /// It could not be started or found, or went without being told to.
    std::function<void(const AttemptKey&, const std::string&)> lost;
    /// It was told to go and does not.
    std::function<void(const AttemptKey&)> stuck;
    /// Nothing can be started any more.
    std::function<void()> helper_lost;
  };

  StepDaemons(boost::asio::io_context& loop, StepDaemonsOptions options, StepFolder folder,
              SpawnServer helper, Events events);

  /// Starts the daemon of the attempt and has it prepare.
  void spawn(const LaunchSpec& spec);
  /// Connects to a daemon that an earlier agent started.
  void adopt(const AttemptKey& key);
  /// Nothing where no daemon is known.
  void send(const AttemptKey& key, const ToStep& message);
  /// The attempt is forgotten: its socket goes at once, its folder after a while.
  void drop(const AttemptKey& key);

  /// Every few seconds: time-outs.
  void tick();

 private:
  using Steady = std::chrono::steady_clock;
  struct Daemon {
    std::shared_ptr<StepLink> link;
    bool heard{};
    bool forgotten{};
    Steady::time_point since;  // of the wait for the first status, or for its going
  };

  std::shared_ptr<StepLink> make_link(const AttemptKey& key);
  void spawned(const AttemptKey& key, const std::weak_ptr<StepLink>& link, Result<pid_t> pid);
  void exited(pid_t pid, int status);
  void lose(const AttemptKey& key, const std::string& why);
  void link_status(const FromStep& status);
  void link_closed(const AttemptKey& key, const std::string& why);

  boost::asio::io_context& loop_;
  StepDaemonsOptions options_;
  StepFolder folder_;
  Events events_;
  Spawner spawner_;
  AccountCache accounts_;
  std::map<AttemptKey, Daemon> daemons_;
  std::map<pid_t, AttemptKey> pids_;
};

}  // namespace artel::noded
