#include "noded/step/rank_set.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "noded/step/causes.h"
#include "noded/step/program.h"

namespace artel::step {
namespace {

/// Both ends of a pipe; the daemon's end never blocks, the rank's does. It is the account's, which
/// may open it by /dev/stdout.
Result<std::pair<Fd, Fd>> output_pipe(const Account& account) {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    return fail(ErrorCode::kLaunch,
                fmt::format("cannot make a pipe for output: {}", std::strerror(errno)));
  }
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  if (::fchown(ends[1], account.uid, account.gid) != 0) {
    ::close(ends[0]);
    ::close(ends[1]);
    return fail(ErrorCode::kLaunch,
                fmt::format("cannot give a pipe to the user: {}", std::strerror(errno)));
  }
  constexpr int kPipeSize = 256 << 10;
  ::fcntl(ends[0], F_SETPIPE_SZ, kPipeSize);
  return std::make_pair(Fd(ends[0]), Fd(ends[1]));
}

}  // namespace

RankSet::RankSet(boost::asio::io_context& loop, LaunchContext context, Events events)
    : loop_(loop),
      context_(context),
      events_(std::move(events)),
      input_(::open("/dev/null", O_RDONLY | O_CLOEXEC)),
      launch_(common_launch()) {}

RankLaunch RankSet::common_launch() const {
  const StepPrepare& request = context_.request;
  const LaunchSpec& spec = request.spec;
  RankLaunch out;
  if (spec.script.empty()) {
    out.candidates = program_candidates(spec.argv.front(), search_path(spec.environment));
  } else {
    out.argv.push_back(request.directory + "/script");
    out.candidates = out.argv;
  }
  out.argv.insert(out.argv.end(), spec.argv.begin(), spec.argv.end());
  out.directory = spec.working_directory;
  out.account = &context_.prepared.account;
  out.input = input_.get();
  return out;
}

void RankSet::launch() {
  const LaunchSpec& spec = context_.request.spec;
  const std::uint32_t count = local_ranks(spec);
  unconfirmed_ = count;
  for (std::uint32_t local = 0; local < count; ++local) {
    if (Result<> started = launch_one(local, launch_); !started) {
      return fail(CauseCode::kExecFailed, started.error().text, local);
    }
  }
  launched_ = true;
  if (count == 0) return events_.executed();
  for (Rank& rank : ranks_) watch(rank);
}

Result<> RankSet::launch_one(std::uint32_t local, RankLaunch& launch) {
  Environment pmix;
  if (context_.pmix != nullptr) {
    Result<Environment> variables = context_.pmix->rank_environment(local);
    if (!variables) return artel::fail(variables);
    pmix = std::move(*variables);
  }
  const StepPrepare& request = context_.request;
  launch.environment = rank_environment({.spec = request.spec,
                                         .account = context_.prepared.account,
                                         .peers = context_.peers,
                                         .machine = context_.machine,
                                         .simulated_node = request.simulated_node},
                                        local, pmix);
  Fd output;
  Fd error;
  launch.output = context_.prepared.output.get();
  launch.error = context_.prepared.error.valid() ? context_.prepared.error.get() : launch.output;
  if (context_.pipes != nullptr) {
    const bool separate = request.spec.attached || !request.spec.error.empty();
    for (Fd* end : {&output, &error}) {
      if (end == &error && !separate) break;
      Result<std::pair<Fd, Fd>> pipe = output_pipe(context_.prepared.account);
      if (!pipe) return artel::fail(pipe);
      context_.pipes->add(std::move(pipe->first), end == &error);
      *end = std::move(pipe->second);
    }
    launch.output = output.get();
    launch.error = separate ? error.get() : output.get();
  }
  Result<RankProcess> process = start_rank(launch);
  if (!process) return artel::fail(process);
  Rank& rank = ranks_.emplace_back(loop_);
  rank.local = local;
  rank.pid = process->pid;
  rank.failure.assign(process->failure.release());
  return {};
}

void RankSet::watch(Rank& rank) {
  rank.failure.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                          [this, &rank](const boost::system::error_code& error) {
                            if (!error) confirm(rank);
                          });
}

bool RankSet::confirm(Rank& rank) {
  if (!rank.failure.is_open()) return true;
  const std::optional<ExecFailure> failure = read_failure(rank.failure.native_handle());
  boost::system::error_code ignored;
  rank.failure.close(ignored);
  if (failure) {
    const LaunchSpec& spec = context_.request.spec;
    fail(CauseCode::kExecFailed, describe(*failure, launch_, spec.nodes.at(spec.node_index)),
         rank.local);
    return false;
  }
  if (--unconfirmed_ == 0) events_.executed();
  return true;
}

void RankSet::fail(CauseCode code, std::string text, std::uint32_t local) {
  const LaunchSpec& spec = context_.request.spec;
  Cause cause = launch_cause(spec, code, std::move(text));
  if (spec.launch != LaunchKind::kScript) cause.rank = rank_number(spec, local);
  events_.failed(cause);
}

bool RankSet::took(const Reaped& process) {
  const auto found = std::find_if(ranks_.begin(), ranks_.end(),
                                  [&](const Rank& rank) { return rank.pid == process.pid; });
  if (found == ranks_.end()) return false;
  found->pid = -1;
  if (!confirm(*found)) return true;
  const bool connected = context_.pmix != nullptr && context_.pmix->is_connected(found->local);
  const auto cause = cause_of_exit(context_.request.spec, found->local, process.status, connected);
  found->well = !cause;
  if (cause) events_.failed(*cause);
  return true;
}

bool RankSet::all_well() const {
  return launched_ && unconfirmed_ == 0 &&
         std::all_of(ranks_.begin(), ranks_.end(), [](const Rank& rank) { return rank.well; });
}

}  // namespace artel::step
