// StepDaemon: ends of processes, and the end of the attempt on this node.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <csignal>
#include <utility>

#include "noded/step/causes.h"
#include "noded/step/log.h"
#include "noded/step/step_daemon.h"

namespace artel::step {
namespace {

/// Time for the last messages and the last output once the processes are gone.
constexpr std::chrono::seconds kSettleTime{3};

Time now() { return std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now()); }

}  // namespace

void StepDaemon::wait_for_signals() {
  signals_.async_wait([this](const boost::system::error_code& error, int signal) {
    if (error) return;
    if (signal == SIGCHLD) reap_children();
    if (signal == SIGTERM && !request_) return loop_.stop();
    if (signal == SIGTERM) {
      const LaunchSpec& spec = request_->spec;
      const std::string& node = spec.nodes.at(spec.node_index);
      fail_here({.actor = Actor::kNode,
                 .code = CauseCode::kStepLost,
                 .node = node,
                 .text = fmt::format("the step daemon on {} was told to end (TERM)", node)});
    }
    wait_for_signals();
  });
}

void StepDaemon::reap_children() {
  const bool any_left = reap([this](const Reaped& process) {
    if (process.pid == preparation_.pid()) return preparation_.reaped();
    cpu_ms_ += process.cpu_ms;
    max_rss_ = std::max(max_rss_, process.max_rss);
    if (ranks_) ranks_->took(process);
  });
  if (phase_ < NodePhase::kStarting || phase_ == NodePhase::kEnded) return;
  if (ending_) {
    if (!any_left) all_gone();
  } else if (ranks_ && ranks_->all_well()) {
    ranks_ended_well(any_left);
  }
}

void StepDaemon::ranks_ended_well(bool others_left) {
  // Whoever daemonised is not part of the job any more.
  if (others_left) return terminator_.begin(kCrashGrace);
  if (std::exchange(local_done_, true)) return;
  terminator_.stop();
  pipes_.drain();
  gang_->local_done();
}

void StepDaemon::unkillable() {
  const LaunchSpec& spec = request_->spec;
  const std::string& node = spec.nodes.at(spec.node_index);
  unkillable_ =
      fmt::format("process {} on {} cannot be killed", fmt::join(descendants(), ", "), node);
  log_line(unkillable_);
  fail_here(
      {.actor = Actor::kNode, .code = CauseCode::kNodeLost, .node = node, .text = unkillable_});
  all_gone();
}

// End ---------------------------------------------------------------------------------------

void StepDaemon::refuse(const Cause& cause) {
  preparation_.cancel();
  refused_ = true;
  report_end(cause, true);
}

void StepDaemon::fail_here(const Cause& cause) {
  const Duration grace = request_ ? request_->spec.grace : Duration::zero();
  fail(cause, true, grace_for(cause, grace));
}

void StepDaemon::fail(const Cause& cause, bool here, Duration grace) {
  if (ending_ || gang_done_ || phase_ == NodePhase::kEnded) return;
  ending_ = Ending{cause, here, grace, std::chrono::steady_clock::now()};
  limit_timer_.cancel();
  if (gang_) gang_->abort(cause);
  if (phase_ < NodePhase::kStarting) {
    preparation_.cancel();
    return report_end(cause, here);
  }
  set_phase(NodePhase::kEnding);
  terminator_.begin(grace);
  reap_children();
}

void StepDaemon::all_gone() {
  if (std::exchange(gone_, true)) return;
  terminator_.stop();
  pipes_.drain();
  gang_->local_gone();
  // The first node waits for the output of the others, whose ranks may use all of their grace.
  const auto deadline = request_->spec.node_index == 0
                            ? ending_->since + ending_->grace + kSettleTime
                            : std::chrono::steady_clock::now() + kSettleTime;
  settle_timer_.expires_at(deadline);
  settle_timer_.async_wait([this](const boost::system::error_code& error) {
    if (error) return;
    settle_late_ = true;
    settle();
  });
  settle();
}

void StepDaemon::settle() {
  if (phase_ == NodePhase::kEnded) return;
  const bool written = !writer_ || writer_->queued() == 0;
  if (gang_done_) {
    if (written || settle_late_) report_end(cause_of_success(request_->spec), false);
    return;
  }
  if (!ending_ || !gone_) return;
  if (!settle_late_ && !(gang_->settled() && written)) return;
  Cause cause = gang_cause_.value_or(ending_->cause);
  if (ending_->here && goes_before(ending_->cause, cause)) cause = ending_->cause;
  const bool is_origin = ending_->here && cause == ending_->cause;
  if (!unkillable_.empty() && cause.text != unkillable_) {
    cause.text += fmt::format(" ({})", unkillable_);
  }
  report_end(cause, is_origin);
}

void StepDaemon::report_end(const Cause& cause, bool is_origin) {
  settle_timer_.cancel();
  end_ = NodeEnd{.started = started_.value_or(Time{}),
                 .ended = now(),
                 .cause = cause,
                 .is_origin = is_origin,
                 .cpu_ms = cpu_ms_,
                 .max_rss = max_rss_,
                 .leftovers = !unkillable_.empty()};
  log_line(fmt::format("ended: {}", describe(cause)));
  set_phase(NodePhase::kEnded);
}

void StepDaemon::close() {
  constexpr unsigned kLongestClose = 5;
  ::signal(SIGALRM, SIG_DFL);
  ::alarm(kLongestClose);  // a library that hangs must not keep the daemon
  if (pmix_) pmix_->stop();
}

}  // namespace artel::step
