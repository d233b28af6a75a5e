// What really happens to processes in the simulated world, and the invariants that only an outside
// observer can see: S2, S3, S4, S5.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "model/agent_protocol.h"

namespace artel::sim {

/// The observer. Every start and end of ranks is reported to it; the first broken invariant is
/// kept.
class Truth {
 public:
  void ready(const LaunchSpec& spec);
  void ranks_started(const LaunchSpec& spec);
  void ranks_gone(const LaunchSpec& spec);
  /// Every node of the attempt has a good end on its disk: the job must never run again.
  void finished(const LaunchSpec& spec) { finished_[spec.key.job] = spec.nodes; }
  /// What this node knows may be lost for good: nobody can tell that its jobs have finished.
  void unreachable(const std::string& node);

  [[nodiscard]] const std::optional<std::string>& broken() const { return broken_; }
  void report(std::string what);
  [[nodiscard]] std::vector<AttemptKey> alive_on(const std::string& node) const;
  /// Ranks are alive somewhere.
  [[nodiscard]] bool anything_alive() const { return !alive_.empty(); }
  [[nodiscard]] std::uint64_t starts() const { return starts_; }

 private:
  using Place = std::pair<AttemptKey, std::string>;

  std::map<AttemptKey, std::set<std::string>> ready_;
  std::map<Place, std::set<std::uint16_t>> alive_;  // devices held
  std::map<JobId, std::vector<std::string>> finished_;
  std::optional<std::string> broken_;
  std::uint64_t starts_ = 0;
};

}  // namespace artel::sim
