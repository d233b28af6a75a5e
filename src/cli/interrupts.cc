#include "cli/interrupts.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <utility>

#include "base/assert.h"

namespace artel::cli {

namespace {

bool is_ignored(int signal) {
  struct sigaction now{};
  return ::sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

}  // namespace

Interrupts::Interrupts() {
  sigset_t taken;
  sigemptyset(&taken);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    if (!is_ignored(signal)) sigaddset(&taken, signal);
  }
  ARTEL_ASSERT(::pthread_sigmask(SIG_BLOCK, &taken, &old_mask_) == 0);
  signals_ = ::signalfd(-1, &taken, SFD_CLOEXEC);
  stop_ = ::eventfd(0, EFD_CLOEXEC);
  ARTEL_ASSERT(signals_ >= 0 && stop_ >= 0);
  watcher_ = std::thread([this] { watch(signals_, stop_); });
}

Interrupts::~Interrupts() {
  const std::uint64_t one = 1;
  ARTEL_ASSERT(::write(stop_, &one, sizeof one) == sizeof one);
  watcher_.join();
  ::close(signals_);
  ::close(stop_);
  ::pthread_sigmask(SIG_SETMASK, &old_mask_, nullptr);
}

void Interrupts::watch(int signals, int stop) {
  std::array<pollfd, 2> wanted = {{{signals, POLLIN, 0}, {stop, POLLIN, 0}}};
  for (;;) {
    if (::poll(wanted.data(), wanted.size(), -1) < 0) continue;
    if (wanted[1].revents != 0) return;
    signalfd_siginfo info{};
    if (::read(signals, &info, sizeof info) != sizeof info) continue;
    const std::lock_guard lock(mutex_);
    ++count_;
    last_ = static_cast<int>(info.ssi_signo);
    changed_.notify_all();
    if (callback_) callback_();
  }
}

void Interrupts::on_signal(std::function<void()> callback) {
  const std::lock_guard lock(mutex_);
  callback_ = std::move(callback);
}

int Interrupts::count() const {
  const std::lock_guard lock(mutex_);
  return count_;
}

int Interrupts::last() const {
  const std::lock_guard lock(mutex_);
  return last_;
}

void Interrupts::sleep(Duration pause) {
  std::unique_lock lock(mutex_);
  const int before = count_;
  changed_.wait_for(lock, pause, [&] { return count_ != before; });
}

}  // namespace artel::cli
