// Long polls: clients that wait until a job's state changes or it is final.
//
// An answer is made from a snapshot that is durable, after the commit that made the news true.
// Threads: wait() from any; changed() and everything inside on the control thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/units.h"
#include "client.pb.h"
#include "ctld/core/controller.h"
#include "ctld/core/snapshot.h"

namespace artel::ctld {

class Call;
class ControlLoop;
class ReaderPool;

/// Longest wait of one call; clients that want more ask again.
inline constexpr Duration kMaxWait{std::chrono::seconds{60}};

class Waiting {
 public:
  Waiting(ControlLoop& loop, ReaderPool& readers, std::size_t max_waiting = 10'000);

  /// Answers the call when the job is final, differs from the known state, or the time is over; or
  /// gives the error to refuse it with.
  Result<> wait(Call& call, const Caller& caller, const v1::WaitRequest& request,
                v1::ShowReply& reply);

  /// These jobs changed.
  void changed(const std::vector<JobId>& jobs);
  /// Any thread: sends all waiting clients away and takes no new ones.
  void stop();

 private:
  struct Waiter {
    Call* call{};
    v1::ShowReply* reply{};
    JobId job;
    std::string known_state;
  };

  void begin(std::uint64_t id, Waiter waiter, Duration timeout, const Snapshot& snapshot);
  void look_again(const std::vector<JobId>& jobs, const Snapshot& snapshot);
  void time_over(std::uint64_t id);
  void answer(const Waiter& waiter, const Snapshot& snapshot) const;
  void answer_from_store(const Waiter& waiter);
  Waiter remove(std::uint64_t id);

  ControlLoop& loop_;
  ReaderPool& readers_;
  const std::size_t max_waiting_;
  std::atomic<std::uint64_t> last_id_ = 0;
  bool stopping_ = false;
  std::unordered_map<std::uint64_t, Waiter> waiters_;
  std::unordered_multimap<JobId, std::uint64_t> by_job_;
};

}  // namespace artel::ctld
