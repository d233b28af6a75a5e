// StepDaemon: what comes from the gang and from the PMIx library.
#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <utility>

#include "noded/step/causes.h"
#include "noded/step/log.h"
#include "noded/step/step_daemon.h"

namespace artel::step {
namespace {

/// As Slurm's PMIxTimeout.
constexpr std::chrono::seconds kModexTime{300};
/// As a PMIx status.
constexpr std::int32_t kPmixTimeout = -24;

}  // namespace

void StepDaemon::gang_done() {
  if (ending_ || phase_ == NodePhase::kEnded || std::exchange(gang_done_, true)) return;
  limit_timer_.cancel();
  constexpr std::chrono::seconds kWriteTime{30};
  settle_timer_.expires_after(kWriteTime);
  settle_timer_.async_wait([this](const boost::system::error_code& error) {
    if (error) return;
    log_line("the output could not be written in time");
    settle_late_ = true;
    settle();
  });
  settle();
}

void StepDaemon::gang_aborted(const Cause& cause) {
  if (!gang_cause_) gang_cause_ = cause;
  if (ending_) return settle();
  const Duration grace = request_->spec.grace;
  fail(cause, false, grace_for(cause, grace));
}

void StepDaemon::gang_lost(const Cause& cause) {
  if (ending_ || gang_done_) return settle();
  fail(cause, false, grace_for(cause, request_->spec.grace));
}

void StepDaemon::fence_complete(const FencePart& result) {
  if (pmix_) pmix_->fence_result(result);
}

void StepDaemon::modex_wanted(const ModexRequest& request) {
  if (!pmix_) return;
  served_.push_back(request);
  pmix_->serve_modex(served_.size() - 1, request.rank);
}

void StepDaemon::modex_answered(const ModexReply& reply) {
  const auto found = std::find(asked_.begin(), asked_.end(), reply.request);
  if (found == asked_.end() || !pmix_) return;
  asked_.erase(found);
  pmix_->modex_result(reply.request, reply.status, reply.blob);
}

void StepDaemon::output_came(std::uint32_t from, OutputLines lines) {
  if (writer_) writer_->write(from, std::move(lines));
}

void StepDaemon::output_written(std::uint32_t from, std::size_t bytes) {
  gang_->output_taken(from, bytes);
  settle();
}

void StepDaemon::gang_changed() {
  if (gang_->untaken() < output_window() / 2 && !gone_ && !local_done_) pipes_.resume();
  settle();
}

// PMIx, on the library's thread -------------------------------------------------------------

void StepDaemon::pmix_fence(FencePart part) {
  boost::asio::post(loop_, [this, moved = std::move(part)]() mutable {
    if (gang_) gang_->fence(std::move(moved));
  });
}

void StepDaemon::pmix_modex(std::uint64_t request, std::uint32_t rank) {
  boost::asio::post(loop_, [this, request, rank] {
    if (!gang_) return;
    asked_.push_back(request);
    gang_->modex_request({.request = request, .rank = rank});
    watch_modex(request);
  });
}

void StepDaemon::watch_modex(std::uint64_t request) {
  auto timer = std::make_shared<boost::asio::steady_timer>(loop_, kModexTime);
  timer->async_wait([this, request, timer](const boost::system::error_code& error) {
    if (!error) modex_answered({.request = request, .status = kPmixTimeout});
  });
}

void StepDaemon::pmix_served(std::uint64_t token, std::int32_t status, std::string blob) {
  boost::asio::post(loop_, [this, token, status, moved = std::move(blob)]() mutable {
    const ModexRequest& request = served_.at(token);
    gang_->modex_reply({.request = request.request,
                        .to_node = request.from_node,
                        .status = status,
                        .blob = std::move(moved)});
  });
}

void StepDaemon::pmix_abort(std::uint64_t token, std::uint32_t rank, std::int32_t status,
                            std::string message) {
  boost::asio::post(loop_, [this, token, rank, status, moved = std::move(message)] {
    log_line(fmt::format("rank {} aborts with code {}: {}", rank, status, printable(moved)));
    fail_here(cause_of_abort(request_->spec, rank, status));
    pmix_->finish_abort(token);
  });
}

}  // namespace artel::step
