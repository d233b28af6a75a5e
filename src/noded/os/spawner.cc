#include "noded/os/spawner.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/close_range.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <boost/asio/post.hpp>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "noded/spawn/process_mark.h"
#include "noded/spawn/spawn_channel.h"
#include "noded/spawn/spawn_server.h"

namespace artel::noded {
namespace {

/// errno of sendmsg; EAGAIN where the channel is full.
int send_packet(int channel, const std::string& bytes, int listener, int log) {
  alignas(cmsghdr) std::array<char, CMSG_SPACE(2 * sizeof(int))> control{};
  std::string copy = bytes;  // iovec wants it writable
  iovec part{.iov_base = copy.data(), .iov_len = copy.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(2 * sizeof(int));
  const std::array<int, 2> numbers{listener, log};
  std::memcpy(CMSG_DATA(header), numbers.data(), sizeof numbers);
  while (::sendmsg(channel, &message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
    if (errno != EINTR) return errno;
  }
  return 0;
}

Error cannot_start(const std::string& argument, std::string_view why) {
  return Error{ErrorCode::kLaunch, fmt::format("cannot start artel-stepd {}: {}", argument, why)};
}

}  // namespace

Result<SpawnServer> fork_spawn_helper(const std::function<int(int channel)>& serve) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return fail(ErrorCode::kLaunch,
                fmt::format("no channel to the spawn helper: {}", std::strerror(errno)));
  }
  Descriptor ours(ends[0]);
  Descriptor theirs(ends[1]);
  // No signal may reach the helper before it has said what it ignores.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  ::sigprocmask(SIG_BLOCK, &all, &before);
  const pid_t pid = ::fork();
  if (pid != 0) ::sigprocmask(SIG_SETMASK, &before, nullptr);
  if (pid < 0) {
    return fail(ErrorCode::kLaunch,
                fmt::format("cannot fork the spawn helper: {}", std::strerror(errno)));
  }
  if (pid == 0) {
    ours = Descriptor();
    ::_exit(serve(theirs.get()));
  }
  return SpawnServer{std::move(ours), pid};
}

int become_step_server(const std::filesystem::path& program, int channel) {
  // All signals are still blocked; the server says which of them it takes.
  if (::dup2(channel, kServerChannel) != kServerChannel) return 1;
  ::fcntl(kServerChannel, F_SETFD, 0);
  ::syscall(SYS_close_range, kServerChannel + 1, ~0U, 0U);
  std::string path = program.string();
  std::string mode(kServeOption);
  std::string argument = reserved_argument();
  std::string variable = reserved_variable();
  const std::array<char*, 4> argv{path.data(), mode.data(), argument.data(), nullptr};
  const std::array<char*, 2> environment{variable.data(), nullptr};
  ::execve(path.c_str(), argv.data(), environment.data());
  return 1;
}

Spawner::Spawner(boost::asio::io_context& loop, SpawnServer helper, Events events)
    : channel_(loop, helper.channel.release()),
      helper_pid_(helper.pid),
      events_(std::move(events)) {
  wait_for_replies();
}

void Spawner::spawn(SpawnRequest request, Done done) {
  const SpawnPacket packet{.id = next_id_++,
                           .argument = request.argument,
                           .environment = std::move(request.environment)};
  std::string bytes = encode_spawn(packet);
  if (lost_ || bytes.size() > kMaxSpawnPacket) {
    const auto* const why = lost_ ? "the spawn helper is gone" : "its arguments are too long";
    boost::asio::post(channel_.get_executor(),
                      [done = std::move(done), error = cannot_start(request.argument, why)] {
                        done(std::unexpected(error));
                      });
    return;
  }
  waiting_.emplace(packet.id, Waiting{std::move(request.argument), std::move(done)});
  outgoing_.push_back({std::move(bytes), std::move(request.listener), std::move(request.log)});
  if (!sending_) send_some();
}

void Spawner::send_some() {
  while (!outgoing_.empty()) {
    const Outgoing& next = outgoing_.front();
    const int error =
        send_packet(channel_.native_handle(), next.bytes, next.listener.get(), next.log.get());
    // ETOOMANYREFS: descriptors in flight; the helper takes them out.
    if (error == EAGAIN || error == ETOOMANYREFS) return wait_to_send();
    if (error != 0) return lost();
    outgoing_.pop_front();
  }
}

void Spawner::wait_to_send() {
  sending_ = true;
  channel_.async_wait(boost::asio::posix::stream_descriptor::wait_write,
                      [this](const boost::system::error_code& error) {
                        if (error) return;
                        sending_ = false;
                        send_some();
                      });
}

void Spawner::wait_for_replies() {
  channel_.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                      [this](const boost::system::error_code& error) {
                        if (error) return;
                        if (!take_replies()) return lost();
                        wait_for_replies();
                      });
}

bool Spawner::take_replies() {
  SpawnReply reply;
  while (true) {
    const ssize_t count = ::recv(channel_.native_handle(), &reply, sizeof reply, MSG_DONTWAIT);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) return true;
    if (count != static_cast<ssize_t>(sizeof reply)) return false;
    if (reply.event == SpawnEvent::kExited) {
      if (events_.exited) events_.exited(reply.pid, reply.detail);
      continue;
    }
    auto waiting = waiting_.extract(reply.id);
    if (waiting.empty()) continue;
    if (reply.event == SpawnEvent::kSpawned) {
      waiting.mapped().done(reply.pid);
    } else {
      waiting.mapped().done(
          std::unexpected(cannot_start(waiting.mapped().argument, std::strerror(reply.detail))));
    }
  }
}

void Spawner::lost() {
  if (std::exchange(lost_, true)) return;
  outgoing_.clear();
  for (auto& [id, waiting] : std::exchange(waiting_, {})) {
    waiting.done(std::unexpected(cannot_start(waiting.argument, "the spawn helper is gone")));
  }
  if (events_.helper_lost) events_.helper_lost();
}

}  // namespace artel::noded
