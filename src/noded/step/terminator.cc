#include "noded/step/terminator.h"

#include <algorithm>
#include <csignal>

#include "noded/step/process_tree.h"

namespace artel::step {
namespace {

constexpr std::chrono::milliseconds kFirstPause{5};
constexpr std::chrono::milliseconds kLongestPause{250};

}  // namespace

void Terminator::begin(Duration grace) {
  if (stopped_ || killing_since_) return;
  const auto kill_at = Clock::now() + std::max(grace, Duration::zero());
  if (kill_at_ && *kill_at_ <= kill_at) return;
  const bool first = !kill_at_;
  kill_at_ = kill_at;
  if (grace <= Duration::zero()) {
    killing_since_ = Clock::now();
    pause_ = kFirstPause;
    return kill();
  }
  if (first) signal_descendants(SIGTERM);
  wait_to_kill();
}

void Terminator::wait_to_kill() {
  timer_.expires_at(*kill_at_);
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (error || stopped_ || killing_since_) return;
    killing_since_ = Clock::now();
    pause_ = kFirstPause;
    kill();
  });
}

void Terminator::kill() {
  if (stopped_) return;
  if (Clock::now() - *killing_since_ >= kUnkillableAfter) {
    stopped_ = true;
    return gave_up_();
  }
  signal_descendants(SIGKILL);
  timer_.expires_after(pause_);
  pause_ = std::min(pause_ * 2, kLongestPause);
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (!error) kill();
  });
}

void Terminator::stop() {
  stopped_ = true;
  timer_.cancel();
}

}  // namespace artel::step
