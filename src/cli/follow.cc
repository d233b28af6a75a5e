#include "cli/follow.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "cli/context.h"
#include "cli/interrupts.h"
#include "cli/job_exit.h"
#include "model/job.h"
#include "model/job_state.h"
#include "rpc/client.h"

namespace artel::cli {
namespace {

constexpr Duration kFirstPoll = std::chrono::seconds{1};
constexpr Duration kLongPoll = std::chrono::seconds{20};
constexpr std::uint32_t kPieceBytes = 1U << 20U;
/// After the job's end: how long output may be out of reach before it is given up.
constexpr Duration kLastOutput = std::chrono::seconds{30};

constexpr Duration kBusyPause = std::chrono::seconds{5};
constexpr Duration kTroublePause = std::chrono::seconds{1};

bool may_pass(const Error& error) {
  return error.code == ErrorCode::kUnavailable || error.code == ErrorCode::kTryAgain;
}

/// One round over all readers.
struct Round {
  bool was_news = false;
  std::optional<Error> trouble;  // that may pass
};

Result<Round> read_round(const std::vector<OutputReader*>& readers,
                         const std::function<bool()>& stop) {
  Round round;
  for (OutputReader* reader : readers) {
    if (reader->complete() || stop()) continue;
    const auto advanced = reader->advance();
    if (advanced) {
      round.was_news = round.was_news || *advanced;
    } else if (stop()) {
      break;
    } else if (!may_pass(advanced.error())) {
      return fail(advanced);
    } else {
      round.trouble = advanced.error();
      const auto known = reader->refresh_state();
      if (!known && !may_pass(known.error())) return fail(known);
    }
  }
  return round;
}

}  // namespace

void be_patient(rpc::Client& client) {
  client.set_patience(kFollowPatience);
  client.on_trouble([](bool broken, const std::string& text) {
    complain(broken ? text + "; trying again" : "the controller answers again");
  });
}

Result<v1::JobView> wait_for(rpc::Client& client, Interrupts& interrupts, std::uint64_t job,
                             const Until& until, const StateListener& on_state) {
  v1::WaitRequest request;
  request.set_job(job);
  std::string told_reason;
  Duration timeout{0};  // the first answer comes at once, the next one tells why it waits
  for (;;) {
    request.set_timeout_ms(static_cast<std::uint32_t>(timeout.count()));
    auto reply = client.wait(request);
    if (!reply && reply.error().code == ErrorCode::kTryAgain && !client.interrupted()) {
      interrupts.sleep(kBusyPause);
      continue;
    }
    if (!reply) return fail(reply);
    const v1::JobView& view = reply->job();
    if (view.state() != request.known_state() || view.wait().text() != told_reason) {
      if (on_state) on_state(view);
      request.set_known_state(view.state());
      told_reason = view.wait().text();
    }
    if (until(view.state())) return std::move(*reply->mutable_job());
    timeout = timeout.count() == 0 ? kFirstPoll : kLongPoll;
  }
}

std::string waiting_text(const v1::JobView& job) {
  const bool is_new = job.wait().code() == static_cast<std::uint32_t>(WaitCode::kNotConsidered);
  return is_new ? "" : job.wait().text();
}

bool has_started(const std::string& state) {
  const auto known = parse_job_state(state);
  return known && *known >= JobState::kRunning;
}

Result<bool> OutputReader::advance() {
  v1::ReadOutputRequest request;
  request.set_job(job_);
  request.set_error_stream(error_stream_);
  request.set_offset_bytes(offset_);
  request.set_max_bytes(kPieceBytes);
  const auto reply = client_.read_output(request);
  if (!reply) return fail(reply);
  state_ = reply->state();
  file_size_ = reply->file_size_bytes();
  const bool is_other_file = !path_.empty() && !reply->path().empty() && reply->path() != path_;
  if (!reply->path().empty()) path_ = reply->path();
  if (is_other_file || reply->file_size_bytes() < offset_) {
    offset_ = 0;
    return true;
  }
  if (auto written = sink_(reply->data()); !written) return fail(written);
  offset_ += reply->data().size();
  complete_ = reply->complete();
  return !reply->data().empty();
}

Result<> OutputReader::refresh_state() {
  v1::ShowRequest request;
  request.set_job(job_);
  const auto reply = client_.show(request);
  if (!reply) return fail(reply);
  state_ = reply->job().state();
  return {};
}

Duration Pace::next(bool was_news) {
  pause_ = was_news ? kShortest : std::min(pause_ + pause_ / 2, kLongest);
  return pause_;
}

Result<> follow_output(const std::vector<OutputReader*>& readers, Interrupts& interrupts,
                       const std::function<bool()>& stop) {
  using Clock = std::chrono::steady_clock;
  Pace pace;
  Clock::time_point last_good = Clock::now();
  for (;;) {
    const auto round = read_round(readers, stop);
    if (!round) return fail(round);
    const auto is_complete = [](const OutputReader* reader) { return reader->complete(); };
    if (stop() || std::ranges::all_of(readers, is_complete)) return {};
    if (!round->trouble) {
      last_good = Clock::now();
      interrupts.sleep(pace.next(round->was_news));
      continue;
    }
    const bool has_ended = std::ranges::any_of(
        readers, [](const OutputReader* reader) { return is_final_state(reader->state()); });
    if (has_ended && Clock::now() - last_good > kLastOutput) {
      return std::unexpected(*round->trouble);
    }
    interrupts.sleep(kTroublePause);
  }
}

}  // namespace artel::cli
