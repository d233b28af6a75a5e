#include "sim/books.h"

#include <fmt/format.h>

#include <map>
#include <utility>
#include <vector>

namespace artel::sim {

void check_books(const ModelStore& store, Truth& truth) {
  struct Hold {
    Time from, to;
    AttemptKey key;
  };
  std::map<std::pair<NodeId, std::uint16_t>, std::vector<Hold>> holds;
  for (const auto& [key, attempt] : store.attempts()) {
    if (!attempt.ended_at || attempt.cause.code == CauseCode::kNone) {
      truth.report(fmt::format("S8: attempt {} was never closed: {}, cause '{}'", format_key(key),
                               job_state_name(attempt.outcome), describe(attempt.cause)));
      continue;
    }
    for (const NodePart& part : attempt.parts) {
      if (!part.end) truth.report("S8: a part of attempt " + format_key(key) + " was never closed");
      const Time to = part.end ? part.end->ended : *attempt.ended_at;
      for (const std::uint16_t gpu : part.share.gpus) {
        auto& list = holds[{part.share.node, gpu}];
        for (const Hold& other : list) {
          if (other.from < to && attempt.allocated_at < other.to) {
            truth.report(fmt::format("S8: {} and {} are both charged for GPU {}", format_key(key),
                                     format_key(other.key), gpu));
          }
        }
        list.push_back({attempt.allocated_at, to, key});
      }
    }
  }
}

void check_given_up(const ModelStore& store, Truth& truth, const std::string& node, Time then) {
  for (const AttemptKey& key : truth.alive_on(node)) {
    const auto attempt = store.attempts().find(key);
    if (attempt == store.attempts().end()) continue;
    if (attempt->second.ended_at && *attempt->second.ended_at < then)
      truth.report(
          fmt::format("{} still runs on {} long after it was given up", format_key(key), node));
  }
}

}  // namespace artel::sim
