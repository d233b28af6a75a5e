// The gangs' own wire between their step daemons, as far as ends are concerned.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sim/fake_node.h"

namespace artel::sim {

class Gangs {
 public:
  /// Keeps references. `is_reachable`: whether what the node knows gets to others.
  Gangs(const std::vector<std::unique_ptr<FakeNode>>& nodes, Events& events, Random& random,
        Truth& truth, std::function<bool(const std::string& node)> is_reachable)
      : nodes_(nodes),
        events_(events),
        random_(random),
        truth_(truth),
        is_reachable_(std::move(is_reachable)) {}

  /// All ranks of the node have ended well.
  void local_done(const std::string& node, const LaunchSpec& spec);
  /// A good end of the attempt is on the node's disk.
  void recorded_well(const std::string& node, const LaunchSpec& spec);
  /// All of it ends, for what happened on one node.
  void abort(const std::string& origin, const AttemptKey& key, const Cause& cause);

 private:
  struct Gang {
    std::set<std::string> done;
    std::set<std::string> recorded;
    bool aborted = false;
  };

  const std::vector<std::unique_ptr<FakeNode>>& nodes_;
  Events& events_;
  Random& random_;
  Truth& truth_;
  std::function<bool(const std::string& node)> is_reachable_;
  std::map<AttemptKey, Gang> gangs_;
};

}  // namespace artel::sim
