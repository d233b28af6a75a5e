// The process that starts step daemons for the agent.
//
// Starting a process out of the agent, with its heap and gRPC's threads, is slow and unsafe; this
// small process was forked before either existed. It survives signals meant for the agent's
// terminal and leaves when the agent's end of the channel closes; what it started goes on.
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "noded/os/spawn_channel.h"

namespace artel::noded {
namespace {

constexpr int kListenTarget = 3;
constexpr int kFirstFree = 10;  // received descriptors are moved here, clear of the targets

/// Attributes and file actions of one posix_spawn, released with it.
class SpawnPlan {
 public:
  SpawnPlan() {
    ::posix_spawnattr_init(&attributes);
    ::posix_spawn_file_actions_init(&actions);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;
  ~SpawnPlan() {
    ::posix_spawnattr_destroy(&attributes);
    ::posix_spawn_file_actions_destroy(&actions);
  }

  posix_spawnattr_t attributes{};
  posix_spawn_file_actions_t actions{};
};

/// A session of its own, no signal blocked or ignored, /dev/null in, log out, listener at 3, no
/// other descriptor.
int prepare(SpawnPlan& plan, int listener, int log) {
  sigset_t none;
  sigset_t all;
  sigemptyset(&none);
  sigfillset(&all);
  ::posix_spawnattr_setsigmask(&plan.attributes, &none);
  ::posix_spawnattr_setsigdefault(&plan.attributes, &all);
  int error = ::posix_spawnattr_setflags(
      &plan.attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  const auto then = [&error](int result) {
    if (error == 0) error = result;
  };
  then(::posix_spawn_file_actions_addopen(&plan.actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0));
  then(::posix_spawn_file_actions_adddup2(&plan.actions, log, STDOUT_FILENO));
  then(::posix_spawn_file_actions_adddup2(&plan.actions, log, STDERR_FILENO));
  then(::posix_spawn_file_actions_adddup2(&plan.actions, listener, kListenTarget));
  then(::posix_spawn_file_actions_addclosefrom_np(&plan.actions, kListenTarget + 1));
  return error;
}

std::vector<char*> pointers(std::vector<std::string>& list) {
  std::vector<char*> out;
  out.reserve(list.size() + 1);
  for (std::string& text : list) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

SpawnReply spawn(SpawnPacket& packet, int listener, int log) {
  SpawnPlan plan;
  int error = prepare(plan, listener, log);
  pid_t pid = 0;
  if (error == 0) {
    const auto argv = pointers(packet.argv);
    const auto environment = pointers(packet.environment);
    error = ::posix_spawn(&pid, argv.front(), &plan.actions, &plan.attributes, argv.data(),
                          environment.data());
  }
  if (error != 0) return {SpawnEvent::kFailed, packet.id, 0, error};
  return {SpawnEvent::kSpawned, packet.id, pid, 0};
}

void send_reply(const Descriptor& channel, const SpawnReply& reply) {
  while (::send(channel.get(), &reply, sizeof reply, MSG_NOSIGNAL) < 0 && errno == EINTR) {
  }
}

struct Received {
  std::string bytes;
  Descriptor listener;
  Descriptor log;
};

Descriptor moved_up(int descriptor) {
  const Descriptor received(descriptor);
  return Descriptor(::fcntl(received.get(), F_DUPFD_CLOEXEC, kFirstFree));
}

/// One packet with its two descriptors; nullopt at the end of the channel.
std::optional<Received> receive(const Descriptor& channel) {
  Received out;
  out.bytes.resize(kMaxSpawnPacket);
  alignas(cmsghdr) std::array<char, CMSG_SPACE(2 * sizeof(int))> control{};
  iovec part{.iov_base = out.bytes.data(), .iov_len = out.bytes.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  ssize_t count = 0;
  do {
    count = ::recvmsg(channel.get(), &message, MSG_CMSG_CLOEXEC);
  } while (count < 0 && errno == EINTR);
  if (count <= 0) return std::nullopt;
  out.bytes.resize(static_cast<std::size_t>(count));
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

/// False at the end of the channel. The descriptors outlive the reply, so that the agent learns of
/// a failure before the socket that it may be waiting on closes.
bool serve_one(const Descriptor& channel) {
  const auto received = receive(channel);
  if (!received) return false;
  auto packet = decode_spawn(received->bytes);
  if (!packet) return true;
  if (!received->listener.valid() || !received->log.valid()) {
    send_reply(channel, {SpawnEvent::kFailed, packet->id, 0, EBADF});
    return true;
  }
  send_reply(channel, spawn(*packet, received->listener.get(), received->log.get()));
  return true;
}

void reap(const Descriptor& channel, const Descriptor& signals) {
  signalfd_siginfo ignored{};
  while (::read(signals.get(), &ignored, sizeof ignored) > 0) {
  }
  int status = 0;
  for (pid_t pid = ::waitpid(-1, &status, WNOHANG); pid > 0;
       pid = ::waitpid(-1, &status, WNOHANG)) {
    send_reply(channel, {SpawnEvent::kExited, 0, pid, status});
  }
}

Descriptor watch_children() {
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGQUIT}) ::signal(number, SIG_IGN);
  sigset_t children;
  sigemptyset(&children);
  sigaddset(&children, SIGCHLD);
  ::sigprocmask(SIG_SETMASK, &children, nullptr);
  return Descriptor(::signalfd(-1, &children, SFD_NONBLOCK | SFD_CLOEXEC));
}

}  // namespace

void run_spawn_helper(Descriptor channel) {
  ::prctl(PR_SET_NAME, "artel-spawner");
  if (::chdir("/") != 0) ::_exit(1);
  ::umask(022);
  const Descriptor signals = watch_children();
  std::array<pollfd, 2> watched{pollfd{channel.get(), POLLIN, 0}, pollfd{signals.get(), POLLIN, 0}};
  while (true) {
    if (::poll(watched.data(), watched.size(), -1) < 0 && errno != EINTR) ::_exit(1);
    if ((watched[1].revents & POLLIN) != 0) reap(channel, signals);
    if (watched[0].revents != 0 && !serve_one(channel)) ::_exit(0);
  }
}

}  // namespace artel::noded
