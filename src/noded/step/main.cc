// artel-stepd: one attempt of a job on one node. `artel-stepd KEY` finds a listening local socket
// as descriptor 3; see src/model/step_protocol.h. The agent starts it as a server instead, whose
// forks are step daemons; see src/noded/spawn.
#include <dirent.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <csignal>
#include <cstdio>
#include <string_view>

#include "model/attempt.h"
#include "noded/spawn/process_mark.h"
#include "noded/spawn/spawn_server.h"
#include "noded/step/log.h"
#include "noded/step/step_daemon.h"

namespace {

constexpr int kListener = 3;

bool is_listening_socket(int fd) {
  int value = 0;
  socklen_t size = sizeof value;
  return ::getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &value, &size) == 0 && value == 1;
}

bool has_mlx_device() {
  DIR* const folder = ::opendir("/sys/class/infiniband");
  if (folder == nullptr) return false;
  bool found = false;
  while (const dirent* entry = ::readdir(folder)) {
    found = found || std::string_view(entry->d_name).starts_with("mlx");
  }
  ::closedir(folder);
  return found;
}

/// The daemon has to outlive its ranks when memory runs out. Without the right to it: as good as it
/// goes.
void be_spared_by_oom() {
  const artel::step::Fd file(::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC));
  constexpr std::string_view kScore = "-900";
  if (file.valid()) {
    [[maybe_unused]] const ssize_t written = ::write(file.get(), kScore.data(), kScore.size());
  }
}

/// Pipes and connections of hundreds of ranks and nodes. Ranks get limits of their own.
void open_many_files() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

/// Nothing of the agent's terminal, group, signals or files stays. False where orphans could get
/// away.
bool settle_in() {
  ::setsid();  // fails where the agent did it already
  for (const int signal : {SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGUSR1, SIGUSR2}) {
    ::signal(signal, SIG_IGN);
  }
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::syscall(SYS_close_range, kListener + 1, ~0U, 0U);
  ::fcntl(kListener, F_SETFD, FD_CLOEXEC);
  ::umask(S_IRWXG | S_IRWXO);
  be_spared_by_oom();
  open_many_files();
  return ::chdir("/") == 0 && ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0;
}

int hold_attempt(const char* argument) {
  const auto key = artel::parse_key(argument);
  if (!key || !is_listening_socket(kListener)) {
    std::fputs(
        "usage: artel-stepd JOB.TASK.ATTEMPT\n"
        "Started by artel-noded with a listening local socket as descriptor 3.\n",
        stderr);
    return 2;
  }
  if (!settle_in()) {
    std::perror("artel-stepd: cannot become the parent of orphans");
    return 1;
  }
  artel::step::set_log_name(artel::format_key(*key));
  const long cores = ::sysconf(_SC_NPROCESSORS_ONLN);
  const artel::step::Machine machine{.has_mlx = has_mlx_device(),
                                     .cores = static_cast<std::uint32_t>(std::max(cores, 1L))};
  boost::asio::io_context loop(1);
  artel::step::StepDaemon daemon(loop, *key, artel::step::Fd(kListener), machine);
  daemon.start_serving();
  loop.run();
  daemon.close();
  // Threads of libraries may still run: no destructors.
  ::_exit(0);
}

int serve(artel::noded::ProcessMark& mark) {
  return artel::noded::serve_spawns(
      artel::noded::kServerChannel, [&](const artel::noded::Spawned& mine) {
        if (mark.replace(mine.argument, mine.environment)) {
          return hold_attempt(mine.argument.c_str());
        }
        std::fputs("artel-stepd: the names of node and attempt are too long\n", stderr);
        return 1;
      });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && argv[1] == artel::noded::kServeOption) {
    artel::noded::ProcessMark mark(argc, argv, ::environ);
    return serve(mark);
  }
  return hold_attempt(argc == 2 ? argv[1] : "");
}
