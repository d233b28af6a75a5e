// The ranks of one node: started together, watched one by one.
//
// Thread: the loop's. Events are raised from launch(), from took(), and from the loop.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "model/ending.h"
#include "model/step_protocol.h"
#include "noded/step/environment.h"
#include "noded/step/pmix_server.h"
#include "noded/step/preparation.h"
#include "noded/step/process_tree.h"
#include "noded/step/rank_pipes.h"
#include "noded/step/rank_process.h"

namespace artel::step {

/// What all ranks of a node have in common. Lives as long as the set.
struct LaunchContext {
  const StepPrepare& request;
  const Prepared& prepared;
  const std::vector<StepPeer>& peers;
  Machine machine;
  PmixServer* pmix = nullptr;  // where the launch kind needs one
  RankPipes* pipes = nullptr;  // takes the output; null on the first node
};

class RankSet {
 public:
  struct Events {
    /// All ranks run the user's program. Also where there are none here.
    std::function<void()> executed;
    /// A rank could not be started, or ended badly.
    std::function<void(const Cause&)> failed;
  };

  RankSet(boost::asio::io_context& loop, LaunchContext context, Events events);

  void launch();
  /// Whether the process was a rank. Ends of ranks after the first failure are told, too.
  bool took(const Reaped& process);
  /// All ranks have ended, each of them well.
  [[nodiscard]] bool all_well() const;

 private:
  struct Rank {
    explicit Rank(boost::asio::io_context& loop) : failure(loop) {}
    std::uint32_t local{};
    pid_t pid = -1;
    boost::asio::posix::stream_descriptor failure;
    bool well = false;
  };

  [[nodiscard]] RankLaunch common_launch() const;
  Result<> launch_one(std::uint32_t local, RankLaunch& launch);
  void watch(Rank& rank);
  /// False, after failed(), where execve() did not come to be.
  bool confirm(Rank& rank);
  void fail(CauseCode code, std::string text, std::uint32_t local);

  boost::asio::io_context& loop_;
  LaunchContext context_;
  Events events_;
  Fd input_;
  RankLaunch launch_;
  std::list<Rank> ranks_;
  std::size_t unconfirmed_ = 0;
  bool launched_ = false;
};

}  // namespace artel::step
