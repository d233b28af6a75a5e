#include "ctld/services/waiting.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ctld/services/call.h"
#include "ctld/services/control_loop.h"
#include "ctld/services/job_views.h"
#include "ctld/services/reader_pool.h"
#include "ctld/services/rights.h"

namespace artel::ctld {
namespace {

const Error kStopping{ErrorCode::kUnavailable, "the controller is stopping; try again in 10 s"};

/// Whether the client learns something new from this state.
bool is_news(const Job& job, const std::string& known_state) {
  return is_final(job.state) || (!known_state.empty() && known_state != job_state_name(job.state));
}

}  // namespace

Waiting::Waiting(ControlLoop& loop, ReaderPool& readers, std::size_t max_waiting)
    : loop_(loop), readers_(readers), max_waiting_(max_waiting) {}

Result<> Waiting::wait(Call& call, const Caller& caller, const v1::WaitRequest& request,
                       v1::ShowReply& reply) {
  const Role role = caller.is_operator ? Role::kOperator : Role::kOther;
  if (!may(Verb::kWait, role)) {
    return fail(ErrorCode::kPermissionDenied,
                fmt::format("{} may not wait for jobs", caller.owner.user));
  }
  const std::uint64_t id = ++last_id_;
  // Also where it goes before begin() ran: that sees Call::cancelled().
  call.on_cancel([this, id] {
    loop_.post([this, id](Controller&, Time) {
      if (waiters_.contains(id)) remove(id).call->refuse({ErrorCode::kUnavailable, "cancelled"});
    });
  });
  Waiter waiter{&call, &reply, JobId{request.job()}, request.known_state()};
  const Duration timeout = std::min(Duration{request.timeout_ms()}, kMaxWait);
  return loop_.read([this, id, waiter = std::move(waiter),
                     timeout](const std::shared_ptr<const Snapshot>& snapshot) mutable {
    begin(id, std::move(waiter), timeout, *snapshot);
  });
}

void Waiting::begin(std::uint64_t id, Waiter waiter, Duration timeout, const Snapshot& snapshot) {
  if (stopping_ || waiter.call->cancelled()) return waiter.call->refuse(kStopping);
  const auto job = snapshot.find(waiter.job);
  if (!job) return answer_from_store(waiter);
  if (is_news(*job, waiter.known_state) || timeout.count() == 0) return answer(waiter, snapshot);
  if (waiters_.size() >= max_waiting_) {
    return waiter.call->refuse(
        {ErrorCode::kTryAgain,
         fmt::format("{} clients wait for jobs, the most that the controller accepts; try again "
                     "in 10 s",
                     max_waiting_)});
  }
  by_job_.emplace(waiter.job, id);
  waiters_.emplace(id, std::move(waiter));
  loop_.after(timeout, [this, id] { time_over(id); });
}

void Waiting::changed(const std::vector<JobId>& jobs) {
  std::vector<JobId> watched;
  std::ranges::copy_if(jobs, std::back_inserter(watched),
                       [this](JobId job) { return by_job_.contains(job); });
  if (watched.empty()) return;
  loop_.read_again(
      [this, watched = std::move(watched)](const std::shared_ptr<const Snapshot>& snapshot) {
        look_again(watched, *snapshot);
      });
}

void Waiting::look_again(const std::vector<JobId>& jobs, const Snapshot& snapshot) {
  for (const JobId id : jobs) {
    const auto job = snapshot.find(id);
    std::vector<std::uint64_t> told;
    const auto [begin, end] = by_job_.equal_range(id);
    for (auto it = begin; it != end; ++it) {
      if (!job || is_news(*job, waiters_.at(it->second).known_state)) told.push_back(it->second);
    }
    for (const std::uint64_t one : told) {
      const Waiter waiter = remove(one);
      job ? answer(waiter, snapshot) : answer_from_store(waiter);
    }
  }
}

void Waiting::time_over(std::uint64_t id) {
  if (!waiters_.contains(id)) return;
  loop_.read_again([this, id](const std::shared_ptr<const Snapshot>& snapshot) {
    if (!waiters_.contains(id)) return;
    const Waiter waiter = remove(id);
    snapshot->find(waiter.job) ? answer(waiter, *snapshot) : answer_from_store(waiter);
  });
}

void Waiting::answer(const Waiter& waiter, const Snapshot& snapshot) const {
  view(snapshot, *snapshot.find(waiter.job), *waiter.reply->mutable_job());
  waiter.reply->set_now_ms(to_ms(loop_.now()));
  waiter.call->answer();
}

/// The job has been final for a while, or there is none.
void Waiting::answer_from_store(const Waiter& waiter) {
  const auto posted = readers_.post([this, waiter](StoreReader& reader) {
    auto job = reader.show(waiter.job);
    if (!job) return waiter.call->refuse(job.error());
    if (job->attempts.size() > 1) {
      job->attempts.erase(job->attempts.begin(), job->attempts.end() - 1);
    }
    view(*job, false, *waiter.reply->mutable_job());
    waiter.reply->set_now_ms(to_ms(loop_.now()));
    waiter.call->answer();
  });
  if (!posted) waiter.call->refuse(posted.error());
}

Waiting::Waiter Waiting::remove(std::uint64_t id) {
  Waiter waiter = std::move(waiters_.extract(id).mapped());
  const auto [begin, end] = by_job_.equal_range(waiter.job);
  by_job_.erase(std::find_if(begin, end, [id](const auto& entry) { return entry.second == id; }));
  return waiter;
}

void Waiting::stop() {
  loop_.post([this](Controller&, Time) {
    stopping_ = true;
    by_job_.clear();
    for (const auto& [id, waiter] : std::exchange(waiters_, {})) waiter.call->refuse(kStopping);
  });
}

}  // namespace artel::ctld
