#include "ctld/services/output_requests.h"

#include <fmt/format.h>

#include <utility>

namespace artel::ctld {

Result<std::uint64_t> OutputRequests::add(SessionId session, std::string node, SteadyTime deadline,
                                          OnChunk on_chunk) {
  const std::lock_guard lock(mutex_);
  if (waiting_.size() >= max_waiting_) {
    return fail(ErrorCode::kTryAgain,
                fmt::format("{} reads of output wait for agents, the most that the controller "
                            "accepts; try again in 2 s",
                            max_waiting_));
  }
  const std::uint64_t request = ++last_;
  waiting_.emplace(request, Waiting{session, std::move(node), deadline, std::move(on_chunk)});
  return request;
}

void OutputRequests::answer(SessionId session, std::uint64_t request, Result<OutputChunk> chunk) {
  OnChunk on_chunk;
  {
    const std::lock_guard lock(mutex_);
    const auto found = waiting_.find(request);
    if (found == waiting_.end() || found->second.session != session) return;
    on_chunk = std::move(found->second.on_chunk);
    waiting_.erase(found);
  }
  on_chunk(std::move(chunk));
}

template <typename Predicate>
void OutputRequests::refuse_if(Predicate predicate, std::string_view reason) {
  std::vector<Waiting> over;
  {
    const std::lock_guard lock(mutex_);
    for (auto it = waiting_.begin(); it != waiting_.end();) {
      if (predicate(it->second)) {
        over.push_back(std::move(it->second));
        it = waiting_.erase(it);
      } else {
        ++it;
      }
    }
  }
  for (Waiting& one : over) {
    one.on_chunk(fail(ErrorCode::kUnavailable,
                      fmt::format("node '{}', which holds the output, {}", one.node, reason)));
  }
}

void OutputRequests::lost(SessionId session) {
  refuse_if([session](const Waiting& one) { return one.session == session; },
            "lost contact with the controller");
}

void OutputRequests::expire(SteadyTime now) {
  refuse_if([now](const Waiting& one) { return one.deadline <= now; }, "did not answer in time");
}

}  // namespace artel::ctld
