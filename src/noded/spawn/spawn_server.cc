#include "noded/spawn/spawn_server.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <optional>
#include <utility>

#include "noded/spawn/spawn_channel.h"

namespace artel::noded {
namespace {

constexpr int kListenTarget = 3;
constexpr int kFirstFree = 10;  // received descriptors are moved here, clear of the targets

void send_reply(int channel, const SpawnReply& reply) {
  while (::send(channel, &reply, sizeof reply, MSG_NOSIGNAL) < 0 && errno == EINTR) {
  }
}

struct Received {
  std::string bytes;
  int listener = -1;
  int log = -1;

  Received() = default;
  Received(Received&& other) noexcept
      : bytes(std::move(other.bytes)),
        listener(std::exchange(other.listener, -1)),
        log(std::exchange(other.log, -1)) {}
  Received& operator=(Received&&) = delete;
  ~Received() {
    if (listener >= 0) ::close(listener);
    if (log >= 0) ::close(log);
  }
};

int moved_up(int descriptor) {
  const int moved = ::fcntl(descriptor, F_DUPFD_CLOEXEC, kFirstFree);
  ::close(descriptor);
  return moved;
}

/// One packet with its two descriptors; nullopt at the end of the channel.
std::optional<Received> receive(int channel, std::string& buffer) {
  alignas(cmsghdr) std::array<char, CMSG_SPACE(2 * sizeof(int))> control{};
  iovec part{.iov_base = buffer.data(), .iov_len = buffer.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  ssize_t count = 0;
  do {
    count = ::recvmsg(channel, &message, MSG_CMSG_CLOEXEC);
  } while (count < 0 && errno == EINTR);
  if (count <= 0) return std::nullopt;
  Received out;
  out.bytes = buffer.substr(0, static_cast<std::size_t>(count));
  const cmsghdr* header = CMSG_FIRSTHDR(&message);
  if (header != nullptr && header->cmsg_type == SCM_RIGHTS &&
      header->cmsg_len == CMSG_LEN(2 * sizeof(int))) {
    std::array<int, 2> numbers{};
    std::memcpy(numbers.data(), CMSG_DATA(header), sizeof numbers);
    out.listener = moved_up(numbers[0]);
    out.log = moved_up(numbers[1]);
  }
  return out;
}

constexpr std::array kIgnored{SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGQUIT};

/// Every signal at its default but those that end a terminal's programs; SIGCHLD by descriptor.
int watch_children() {
  for (int number = 1; number < NSIG; ++number) ::signal(number, SIG_DFL);
  for (const int number : kIgnored) ::signal(number, SIG_IGN);
  sigset_t children;
  sigemptyset(&children);
  sigaddset(&children, SIGCHLD);
  ::sigprocmask(SIG_SETMASK, &children, nullptr);
  return ::signalfd(-1, &children, SFD_NONBLOCK | SFD_CLOEXEC);
}

/// In the child. The channel is closed with all else, or a child could speak for the server.
bool settle_child(const Received& received) {
  for (const int number : kIgnored) ::signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::setsid();
  const int null = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  return ::dup2(null, STDIN_FILENO) == STDIN_FILENO &&
         ::dup2(received.log, STDOUT_FILENO) == STDOUT_FILENO &&
         ::dup2(received.log, STDERR_FILENO) == STDERR_FILENO &&
         ::dup2(received.listener, kListenTarget) == kListenTarget &&
         ::syscall(SYS_close_range, kListenTarget + 1, ~0U, 0U) == 0;
}

void reap(int channel, int signals) {
  signalfd_siginfo ignored{};
  while (::read(signals, &ignored, sizeof ignored) > 0) {
  }
  int status = 0;
  for (pid_t pid = ::waitpid(-1, &status, WNOHANG); pid > 0;
       pid = ::waitpid(-1, &status, WNOHANG)) {
    send_reply(channel, {SpawnEvent::kExited, 0, pid, status});
  }
}

enum class Served { kGoOn, kEnd, kIsChild };

/// The descriptors outlive the reply, so that the agent learns of a failure before the socket that
/// it may be waiting on closes. `mine`: what the child is to do.
Served serve_one(int channel, std::string& buffer, Spawned& mine) {
  const auto received = receive(channel, buffer);
  if (!received) return Served::kEnd;
  auto packet = decode_spawn(received->bytes);
  if (!packet) return Served::kGoOn;
  SpawnReply reply{SpawnEvent::kFailed, packet->id, 0, EBADF};
  if (received->listener >= 0 && received->log >= 0) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      if (!settle_child(*received)) ::_exit(1);
      mine = {std::move(packet->argument), std::move(packet->environment)};
      return Served::kIsChild;
    }
    reply = pid > 0 ? SpawnReply{SpawnEvent::kSpawned, packet->id, pid, 0}
                    : SpawnReply{SpawnEvent::kFailed, packet->id, 0, errno};
  }
  send_reply(channel, reply);
  return Served::kGoOn;
}

}  // namespace

int serve_spawns(int channel, const std::function<int(Spawned)>& child) {
  if (::chdir("/") != 0) return 1;
  ::umask(S_IWGRP | S_IWOTH);
  const int signals = watch_children();
  std::string buffer(kMaxSpawnPacket, '\0');
  std::array<pollfd, 2> watched{pollfd{channel, POLLIN, 0}, pollfd{signals, POLLIN, 0}};
  Spawned mine;
  while (true) {
    if (::poll(watched.data(), watched.size(), -1) < 0 && errno != EINTR) return 1;
    if ((watched[1].revents & POLLIN) != 0) reap(channel, signals);
    if (watched[0].revents == 0) continue;
    const Served served = serve_one(channel, buffer, mine);
    if (served == Served::kEnd) return 0;
    if (served == Served::kIsChild) return child(std::move(mine));
  }
}

}  // namespace artel::noded
