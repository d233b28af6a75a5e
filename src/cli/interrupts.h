// Ctrl-C and its relatives while a command waits: counted, and the call that waits is ended.
//
// Thread: a watcher of its own takes the signals; they are blocked in all other threads. Make it
// before the client, whose threads inherit the mask.
#pragma once

#include <condition_variable>
#include <csignal>
#include <functional>
#include <mutex>
#include <thread>

#include "base/units.h"

namespace artel::cli {

/// Takes INT, TERM and HUP for its lifetime, but for those that the command was started to ignore
/// (nohup, a background job of a script).
class Interrupts {
 public:
  Interrupts();
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  /// Called in the watcher's thread at each signal.
  void on_signal(std::function<void()> callback);
  /// How many came so far.
  [[nodiscard]] int count() const;
  /// The number of the last one, 0 before.
  [[nodiscard]] int last() const;
  /// Waits for `pause`, or until another signal comes.
  void sleep(Duration pause);

 private:
  void watch(int signals, int stop);

  sigset_t old_mask_{};
  int signals_ = -1;
  int stop_ = -1;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void()> callback_;
  int count_ = 0;
  int last_ = 0;
  std::thread watcher_;
};

}  // namespace artel::cli
