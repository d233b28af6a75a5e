// Reads of output files that wait for the answer of an agent.
//
// Thread: any; takes a short lock, never held while a callback runs.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/ids.h"
#include "base/result.h"

namespace artel::ctld {

struct OutputChunk {
  std::string data;
  std::uint64_t file_size{};
};

class OutputRequests {
 public:
  using OnChunk = std::move_only_function<void(Result<OutputChunk>)>;
  using SteadyTime = std::chrono::steady_clock::time_point;

  explicit OutputRequests(std::size_t max_waiting) : max_waiting_(max_waiting) {}

  /// The number that the answer will carry. Error: kTryAgain where too many wait; `on_chunk` is not
  /// called then.
  Result<std::uint64_t> add(SessionId session, std::string node, SteadyTime deadline,
                            OnChunk on_chunk);
  /// Only an answer of the session that was asked counts.
  void answer(SessionId session, std::uint64_t request, Result<OutputChunk> chunk);
  /// The session is over: whoever waits for it gets kUnavailable.
  void lost(SessionId session);
  /// Whoever waits for longer than its deadline gets kUnavailable.
  void expire(SteadyTime now);

 private:
  struct Waiting {
    SessionId session;
    std::string node;
    SteadyTime deadline;
    OnChunk on_chunk;
  };

  template <typename Predicate>
  void refuse_if(Predicate predicate, std::string_view reason);

  const std::size_t max_waiting_;
  std::mutex mutex_;
  std::uint64_t last_ = 0;
  std::unordered_map<std::uint64_t, Waiting> waiting_;
};

}  // namespace artel::ctld
