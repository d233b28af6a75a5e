// Accounts that were looked up a short while ago.
//
// A step daemon that is told the account needs not ask the name service, which would load its
// modules anew in every one of them. Only what was found is kept, for at most kAccountAge: a user
// who has just been added, removed or given a group is seen as such after that time at the latest.
// The name service may block, so a thread asks; until it has, find() gives nothing and the step
// daemon asks by itself. Thread: one at a time.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>

#include "base/result.h"
#include "model/job_spec.h"
#include "model/step_protocol.h"

namespace artel::noded {

inline constexpr std::chrono::seconds kAccountAge{60};

class AccountCache {
 public:
  using Clock = std::chrono::steady_clock;
  /// Called on the thread of the cache; may block.
  using LookUp = std::function<Result<UserAccount>(const Owner&)>;

  explicit AccountCache(LookUp look_up);
  AccountCache(const AccountCache&) = delete;
  AccountCache& operator=(const AccountCache&) = delete;
  /// Does not wait for a question that the name service has not answered.
  ~AccountCache();

  /// What was found no longer ago than kAccountAge. Asks anew where there is nothing, or where it
  /// is half as old.
  std::optional<UserAccount> find(const Owner& owner, Clock::time_point now);

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

}  // namespace artel::noded
