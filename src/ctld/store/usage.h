// Sums of what was held, cut by team, user, queue, node or day. All cuts are sums over the same
// intervals, so they agree.
//
// An attempt's part on one node is held from the allocation until its end there: the time its node
// reported, kept inside the attempt's own time, since clocks of nodes differ. Without a report it
// is the attempt's end; what has not ended counts until now.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "ctld/store/records.h"
#include "model/attempt.h"

namespace artel::ctld {

/// One node's part of an attempt.
struct HeldPart {
  AttemptKey key;
  std::string user;
  std::string team;
  std::string queue;
  std::string node;
  Time allocated;
  std::optional<Time> part_ended;
  std::optional<Time> attempt_ended;
  std::uint64_t gpus{};
  std::uint64_t cpus{};
};

/// The end of the interval in which the part was held; never before its allocation.
Time held_until(const HeldPart& part, Time now);

class UsageSum {
 public:
  explicit UsageSum(const UsageFilter& filter) : filter_(filter) {}
  /// Parts come ordered by attempt.
  void add(const HeldPart& part);
  /// Sorted by key.
  [[nodiscard]] std::vector<UsageRow> rows() const;

 private:
  struct Sum {
    UsageRow row;
    std::optional<AttemptKey> latest;
  };
  void add(const std::string& key, const HeldPart& part, Duration held);
  void add_days(const HeldPart& part, Time begin, Time end);

  UsageFilter filter_;
  std::map<std::string, Sum> sums_;
};

}  // namespace artel::ctld
