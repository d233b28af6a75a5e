// Ends all processes of the attempt on this node: TERM, a grace time, then KILL again and again
// until none is left.
//
// Whoever reaps the processes tells by stop() that none is left. Thread: the loop's.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <optional>

#include "base/units.h"

namespace artel::step {

/// Longest time of KILL before the end is reported although something is left (a process in the
/// kernel).
inline constexpr std::chrono::seconds kUnkillableAfter{60};

class Terminator {
 public:
  /// `gave_up`: processes are left that KILL does not end.
  Terminator(boost::asio::io_context& loop, std::function<void()> gave_up)
      : timer_(loop), gave_up_(std::move(gave_up)) {}

  /// TERM now, KILL after `grace`; KILL now where it is zero. Called again it can only shorten the
  /// grace.
  void begin(Duration grace);
  void stop();

 private:
  using Clock = std::chrono::steady_clock;

  void kill();
  void wait_to_kill();

  boost::asio::steady_timer timer_;
  std::function<void()> gave_up_;
  std::optional<Clock::time_point> kill_at_;  // set: TERM was sent
  std::optional<Clock::time_point> killing_since_;
  std::chrono::milliseconds pause_{};
  bool stopped_ = false;
};

}  // namespace artel::step
