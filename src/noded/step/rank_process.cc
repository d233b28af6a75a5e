#include "noded/step/rank_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <linux/close_range.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "noded/step/child_signals.h"

namespace artel::step {
namespace {

/// Everything that the child needs, as it needs it.
struct ChildPlan {
  const RankLaunch& launch;
  std::vector<char*> argv;
  std::vector<char*> environment;
  std::vector<const char*> candidates;
  int failure = -1;
  pid_t parent = -1;
};

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> out;
  out.reserve(texts.size() + 1);
  for (const std::string& text : texts) out.push_back(const_cast<char*>(text.c_str()));
  out.push_back(nullptr);
  return out;
}

[[noreturn]] void child_failed(const ChildPlan& plan, ExecFailure::Stage stage) {
  const ExecFailure failure{stage, errno};
  [[maybe_unused]] const ssize_t written = ::write(plan.failure, &failure, sizeof failure);
  ::_exit(127);
}

void raise_limit(int which, rlim_t soft, rlim_t hard) {
  rlimit now{};
  const auto resource = static_cast<__rlimit_resource>(which);
  if (::getrlimit(resource, &now) != 0) return;
  if (now.rlim_max == RLIM_INFINITY || (hard != RLIM_INFINITY && hard < now.rlim_max)) {
    hard = now.rlim_max;
  }
  const rlimit wanted{soft > hard ? hard : soft, hard};
  if (::setrlimit(resource, &wanted) == 0) return;
  now.rlim_cur = soft > now.rlim_max ? now.rlim_max : soft;  // not privileged: the soft limit only
  ::setrlimit(resource, &now);
}

void set_limits(const RankLimits& limits) {
  raise_limit(RLIMIT_MEMLOCK, limits.memlock, limits.memlock);
  raise_limit(RLIMIT_STACK, limits.stack_soft, RLIM_INFINITY);
  raise_limit(RLIMIT_CORE, limits.core_soft, RLIM_INFINITY);
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) == 0) {
    files.rlim_cur = std::min(files.rlim_max, limits.most_files);
    ::setrlimit(RLIMIT_NOFILE, &files);
  }
}

/// The daemon protects itself from the kernel's choice of victims; its ranks are not protected.
void be_ordinary_for_oom() {
  const int file = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (file < 0) return;
  [[maybe_unused]] const ssize_t written = ::write(file, "0", 1);
  ::close(file);
}

/// System calls without the C library, whose versions want to change all threads.
bool become_user(const Account& account) {
  const auto& groups = account.groups;
  return ::syscall(SYS_setgroups, groups.size(), groups.data()) == 0 &&
         ::syscall(SYS_setresgid, account.gid, account.gid, account.gid) == 0 &&
         ::syscall(SYS_setresuid, account.uid, account.uid, account.uid) == 0;
}

void keep_only_standard_streams() {
  constexpr unsigned kFirst = STDERR_FILENO + 1;
  if (::syscall(SYS_close_range, kFirst, ~0U, CLOSE_RANGE_CLOEXEC) == 0) return;
  constexpr int kMost = 4096;
  for (int fd = STDERR_FILENO + 1; fd < kMost; ++fd) ::fcntl(fd, F_SETFD, FD_CLOEXEC);
}

/// The error that says most of several tries: anything but "not found".
[[noreturn]] void execute(const ChildPlan& plan) {
  int error = ENOENT;
  for (const char* candidate : plan.candidates) {
    ::execve(candidate, plan.argv.data(), plan.environment.data());
    if (errno != ENOENT && errno != ENOTDIR) {
      error = errno;
      if (error != EACCES) break;
    }
  }
  errno = error;
  child_failed(plan, ExecFailure::Stage::kExecute);
}

[[noreturn]] void run_child(const ChildPlan& plan) {
  const RankLaunch& launch = plan.launch;
  reset_child_signals();
  ::setsid();
  ::dup2(launch.input, STDIN_FILENO);
  ::dup2(launch.output, STDOUT_FILENO);
  ::dup2(launch.error, STDERR_FILENO);
  be_ordinary_for_oom();
  set_limits(launch.limits);
  ::umask(S_IWGRP | S_IWOTH);
  if (!become_user(*launch.account)) child_failed(plan, ExecFailure::Stage::kIdentity);
  // After the change of identity, which would clear it. The daemon may be gone already.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != plan.parent) ::_exit(127);
  if (::chdir(launch.directory.c_str()) != 0) child_failed(plan, ExecFailure::Stage::kDirectory);
  keep_only_standard_streams();
  execute(plan);
}

}  // namespace

Result<RankProcess> start_rank(const RankLaunch& launch) {
  int pipe[2] = {-1, -1};
  if (::pipe2(pipe, O_CLOEXEC | O_NONBLOCK) != 0) {
    return fail(ErrorCode::kLaunch, fmt::format("cannot make a pipe: {}", std::strerror(errno)));
  }
  RankProcess out{-1, Fd(pipe[0])};
  const Fd theirs(pipe[1]);
  ChildPlan plan{.launch = launch,
                 .argv = pointers(launch.argv),
                 .environment = pointers(launch.environment),
                 .candidates = {},
                 .failure = theirs.get(),
                 .parent = ::getpid()};
  for (const std::string& path : launch.candidates) plan.candidates.push_back(path.c_str());
  const BlockedSignals blocked;
  out.pid = ::fork();
  if (out.pid == 0) run_child(plan);
  if (out.pid < 0) {
    return fail(ErrorCode::kLaunch,
                fmt::format("cannot start a process: {}", std::strerror(errno)));
  }
  return out;
}

std::optional<ExecFailure> read_failure(int failure) {
  ExecFailure out;
  const ssize_t size = ::read(failure, &out, sizeof out);
  if (size == static_cast<ssize_t>(sizeof out)) return out;
  return std::nullopt;
}

std::string describe(const ExecFailure& failure, const RankLaunch& launch,
                     const std::string& node) {
  const char* const why = std::strerror(failure.error);
  switch (failure.stage) {
    case ExecFailure::Stage::kIdentity:
      return fmt::format("cannot become user '{}' on {}: {}", launch.account->name, node, why);
    case ExecFailure::Stage::kDirectory:
      return fmt::format("user '{}' cannot enter working directory '{}' on {}: {}",
                         launch.account->name, launch.directory, node, why);
    case ExecFailure::Stage::kExecute:
      break;
  }
  const std::string& program = launch.argv.front();
  if (failure.error == ENOEXEC) {
    return fmt::format("'{}' on {} is not a program of this machine and has no '#!' line", program,
                       node);
  }
  return fmt::format("cannot execute '{}' on {}: {}", program, node, why);
}

}  // namespace artel::step
