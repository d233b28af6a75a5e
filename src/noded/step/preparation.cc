#include "noded/step/preparation.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <variant>

#include "noded/step/child_signals.h"
#include "noded/step/preparation_packet.h"
#include "noded/step/program.h"
#include "noded/users/user_lookup.h"

namespace artel::step {
namespace {

/// A step on the way: nothing, or why it stops here.
using Check = std::optional<Refusal>;

Refusal prepare_refusal(std::string text) { return {CauseCode::kPrepareRefused, std::move(text)}; }

/// The program of the step as the rank will call it.
std::string script_path(const StepPrepare& request) { return request.directory + "/script"; }

Check write_script(const StepPrepare& request, const Account& account) {
  const LaunchSpec& spec = request.spec;
  const std::string& node = spec.nodes.at(spec.node_index);
  const std::string path = script_path(request);
  ::unlink(path.c_str());
  const Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                       S_IRUSR | S_IXUSR));
  std::string_view rest = spec.script;
  while (file.valid() && !rest.empty()) {
    const ssize_t written = ::write(file.get(), rest.data(), rest.size());
    if (written <= 0) break;
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  if (!file.valid() || !rest.empty() || ::fchown(file.get(), account.uid, account.gid) != 0) {
    return prepare_refusal(
        fmt::format("cannot write the script '{}' on {}: {}", path, node, std::strerror(errno)));
  }
  return std::nullopt;
}

/// Lets the user through to the script or to the folder of MPI, but not look around.
Check open_directory(const StepPrepare& request) {
  if (::chmod(request.directory.c_str(), S_IRWXU | S_IXGRP | S_IXOTH) == 0) return std::nullopt;
  const LaunchSpec& spec = request.spec;
  return prepare_refusal(fmt::format("cannot open folder '{}' on {} for the user: {}",
                                     request.directory, spec.nodes.at(spec.node_index),
                                     std::strerror(errno)));
}

Check enter_working_directory(const LaunchSpec& spec, const Account& account) {
  const std::string& folder = spec.working_directory;
  if (!folder.starts_with('/')) {
    return prepare_refusal(fmt::format("working directory '{}' is not absolute", folder));
  }
  if (::chdir(folder.c_str()) == 0) return std::nullopt;
  return prepare_refusal(fmt::format("user '{}' cannot enter working directory '{}' on {}: {}",
                                     account.name, folder, spec.nodes.at(spec.node_index),
                                     std::strerror(errno)));
}

std::string open_error(const std::string& path, const LaunchSpec& spec, int error) {
  const std::string& node = spec.nodes.at(spec.node_index);
  switch (error) {
    case EISDIR:
      return fmt::format("output '{}' on {} is a folder; name a file in it", path, node);
    case ENOENT:
      return fmt::format("the folder of output '{}' does not exist on {}; create it first", path,
                         node);
    case ELOOP:
      return fmt::format("output '{}' on {} is a symbolic link; name the file itself", path, node);
    case ENXIO:
      return fmt::format("output '{}' on {} is not a file", path, node);
    default:
      return fmt::format("user '{}' cannot write output '{}' on {}: {}", spec.owner.user, path,
                         node, std::strerror(error));
  }
}

/// As the user. O_NONBLOCK, so that a pipe without a reader is an error instead of a wait.
Check open_output(const std::string& path, const LaunchSpec& spec, Fd& out) {
  constexpr int kFlags =
      O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK | O_CLOEXEC;
  out.reset(::open(path.c_str(), kFlags, 0666));
  if (!out.valid()) return Refusal{CauseCode::kOutputFailed, open_error(path, spec, errno)};
  struct stat status{};
  if (::fstat(out.get(), &status) != 0 || !(S_ISREG(status.st_mode) || S_ISCHR(status.st_mode))) {
    return Refusal{CauseCode::kOutputFailed, open_error(path, spec, ENXIO)};
  }
  ::fcntl(out.get(), F_SETFL, O_APPEND);
  return std::nullopt;
}

/// As root: the client that waits gets it through the agent. The account's, so that ranks may open
/// it by /dev/stdout.
Check open_spool(const StepPrepare& request, const char* name, const Account& account, Fd& out) {
  const std::string path = fmt::format("{}/{}", request.directory, name);
  out.reset(::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC,
                   S_IRUSR | S_IWUSR));
  if (out.valid() && ::fchown(out.get(), account.uid, account.gid) == 0) return std::nullopt;
  return Refusal{CauseCode::kOutputFailed,
                 fmt::format("cannot open spool file '{}': {}", path, std::strerror(errno))};
}

Check root_part(const StepPrepare& request, Prepared& out) {
  const LaunchSpec& spec = request.spec;
  // A script that runs once is needed on the first node only.
  const bool writes_script =
      !spec.script.empty() && (spec.launch != LaunchKind::kScript || spec.node_index == 0);
  if (writes_script || spec.launch == LaunchKind::kPmix) {
    if (Check failed = open_directory(request)) return failed;
  }
  if (writes_script) {
    if (Check failed = write_script(request, out.account)) return failed;
  }
  if (!spec.attached || spec.node_index != 0) return std::nullopt;
  if (Check failed = open_spool(request, "out", out.account, out.output)) return failed;
  return open_spool(request, "err", out.account, out.error);
}

Check check_start(const StepPrepare& request) {
  const LaunchSpec& spec = request.spec;
  const std::string& node = spec.nodes.at(spec.node_index);
  if (spec.launch == LaunchKind::kScript && spec.node_index != 0) return std::nullopt;
  if (!spec.script.empty()) {
    if (Result<> checked = check_script(spec.script, node); !checked) {
      return Refusal{CauseCode::kExecFailed, checked.error().text};
    }
    const std::string path = script_path(request);
    if (::access(path.c_str(), X_OK) == 0) return std::nullopt;
    return prepare_refusal(fmt::format(
        "user '{}' cannot execute '{}' on {}: {}; the folders above it must be passable and not "
        "mounted noexec",
        spec.owner.user, path, node, std::strerror(errno)));
  }
  const std::string name = spec.argv.empty() ? "" : spec.argv.front();
  Result<> checked = check_program(name, search_path(spec.environment), node);
  if (checked) return std::nullopt;
  return Refusal{CauseCode::kExecFailed, checked.error().text};
}

Check user_part(const StepPrepare& request, Prepared& out) {
  const LaunchSpec& spec = request.spec;
  if (Result<> became = become(out.account); !became) return prepare_refusal(became.error().text);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // the change of identity cleared it
  if (Check failed = enter_working_directory(spec, out.account)) return failed;
  if (Check failed = check_start(request)) return failed;
  if (spec.attached || spec.node_index != 0) return std::nullopt;
  const std::string output = spec.output.empty() ? "/dev/null" : spec.output;
  if (Check failed = open_output(output, spec, out.output)) return failed;
  if (spec.error.empty() || spec.error == output) return std::nullopt;
  return open_output(spec.error, spec, out.error);
}

[[noreturn]] void run_child(const StepPrepare& request, int channel) {
  reset_child_signals();
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::umask(S_IWGRP | S_IWOTH);
  // Nothing of the daemon's sockets may stay open in a child that hangs in a file system.
  constexpr int kChannel = STDERR_FILENO + 1;
  ::dup2(channel, kChannel);
  ::syscall(SYS_close_range, kChannel + 1, ~0U, 0U);
  const PreparationOutcome outcome = prepare_files(request);
  send_outcome(kChannel, outcome);
  ::_exit(0);
}

}  // namespace

PreparationOutcome prepare_files(const StepPrepare& request) {
  const LaunchSpec& spec = request.spec;
  Result<UserAccount> known = request.account
                                  ? *request.account
                                  : noded::look_up(spec.owner, spec.nodes.at(spec.node_index));
  if (!known) return prepare_refusal(known.error().text);
  Prepared out;
  out.account = {.name = spec.owner.user,
                 .home = std::move(known->home),
                 .shell = std::move(known->shell),
                 .uid = spec.owner.uid,
                 .gid = spec.owner.gid,
                 .groups = {known->groups.begin(), known->groups.end()}};
  if (Check failed = root_part(request, out)) return *failed;
  if (Check failed = user_part(request, out)) return *failed;
  return out;
}

Result<> Preparation::start(const StepPrepare& request, Done done) {
  int pair[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) {
    return fail(ErrorCode::kLaunch, fmt::format("cannot make a socket: {}", std::strerror(errno)));
  }
  Fd ours(pair[0]);
  const Fd theirs(pair[1]);
  const BlockedSignals blocked;
  pid_ = ::fork();
  if (pid_ < 0) {
    return fail(ErrorCode::kLaunch,
                fmt::format("cannot start a process: {}", std::strerror(errno)));
  }
  if (pid_ == 0) run_child(request, theirs.get());
  done_ = std::move(done);
  channel_.assign(ours.release());
  channel_.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                      [this](const boost::system::error_code& error) {
                        if (!error && done_) receive();
                      });
  return {};
}

void Preparation::cancel() {
  done_ = nullptr;
  boost::system::error_code ignored;
  channel_.close(ignored);
  if (pid_ > 0) ::kill(pid_, SIGKILL);
}

void Preparation::receive() {
  PreparationOutcome outcome = receive_outcome(channel_.native_handle());
  boost::system::error_code ignored;
  channel_.close(ignored);
  const Done done = std::exchange(done_, nullptr);
  done(std::move(outcome));
}

}  // namespace artel::step
